import type { z } from 'zod';
import type { Context } from './context.ts';
import { parseInput } from './input.ts';
import type { JsonObject } from './json.ts';

/**
 * What calling a tool can do to the memory: `read` changes nothing, `write` adds or changes, `destroy`
 * can remove. It becomes the MCP annotations and decides whether a commit may happen.
 */
export type Effect = 'read' | 'write' | 'destroy';

export interface ToolDeclaration<I extends z.ZodObject> {
  /** Wire name, as the seed prints it. */
  readonly name: string;
  readonly title: string;
  /** Short; says when to use the tool. */
  readonly description: string;
  readonly effect: Effect;
  /** Whether a second, equal call changes nothing more. Default: true for `read`. */
  readonly idempotent?: boolean;
  /** Whether it reaches beyond this machine. Default: false. */
  readonly openWorld?: boolean;
  readonly input: I;
  /** False for an operation of the REST API that the seed's list of tools does not have. Default: true. */
  readonly listed?: boolean;
  /** Guidance for clients that read it, published as the tool's `_meta`. */
  readonly meta?: JsonObject;
  /**
   * Does the work and returns the toolset's success value, or throws a MemoryError.
   * It never builds a protocol result.
   */
  handle(context: Context, args: z.output<I>): Promise<JsonObject> | JsonObject;
}

/** One operation offered to agents. */
export interface Tool extends Omit<ToolDeclaration<z.ZodObject>, 'handle'> {
  /** Validates the arguments in our own words, then does the work. */
  call(context: Context, args: unknown): Promise<JsonObject>;
}

/** Declares a tool: once, in one place. */
export function defineTool<I extends z.ZodObject>(declaration: ToolDeclaration<I>): Tool {
  const { handle, ...rest } = declaration;
  return {
    ...rest,
    async call(context, args) {
      return handle(context, parseInput(declaration.input, args));
    },
  };
}
