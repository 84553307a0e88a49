import type { z } from 'zod';
import type { GrowingLists } from '../answers/answer-limit.ts';
import type { Painter } from '../answers/painter.ts';
import type { ErrorCode } from '../values/error.ts';
import { parseInput } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import type { Context } from './context.ts';

/**
 * The effect of a call on the memory.
 *
 * `read` changes nothing, `write` adds or changes, `destroy` can remove. It becomes the MCP annotations
 * and decides whether a call may commit.
 */
type Effect = 'read' | 'write' | 'destroy';

export interface ToolDeclaration<I extends z.ZodObject> {
  /** Wire name, as in the seed. */
  readonly name: string;
  readonly title: string;
  /** Short; says when to use the tool. */
  readonly description: string;
  readonly effect: Effect;
  /** Whether a second, equal call changes nothing more. Default: true for `read`. */
  readonly idempotent?: boolean;
  /** Whether it reaches beyond this machine. Default: false. */
  readonly openWorld?: boolean;
  /** Whether it sets the project, the mode or the active bank of the session. Default: false. */
  readonly setsSession?: boolean;
  readonly input: I;
  /** The lists of its answer that can grow beyond what a client accepts. Default: none. */
  readonly growing?: GrowingLists;
  /** The members of its answer that its seed promises whole, however long they are. Default: none. */
  readonly complete?: readonly string[];
  /** False for an operation that the seed has in its REST API, but not in its list of tools. Default: true. */
  readonly listed?: boolean;
  /** Guidance for clients that read it, published as the tool's `_meta`. */
  readonly meta?: JsonObject;
  /**
   * Does the work and returns the toolset's success value, or throws a MemoryError.
   * It never builds a protocol result.
   */
  handle(context: Context, args: z.output<I>): Promise<JsonObject> | JsonObject;
}

/** How people call an operation on the command line, and how they read its result. */
interface CommandForm<P extends z.ZodObject, R> {
  /** The name of the command; the tool's own name is a command as well. */
  readonly name: string;
  /** One line for the help. */
  readonly about: string;
  /** The arguments that follow the name without an option; `path?` may be left out. */
  readonly operands?: readonly `${keyof P['shape'] & string}${'' | '?'}`[];
  /** Names of options that differ from those of their arguments. */
  readonly options?: { readonly [argument in keyof P['shape'] & string]?: string };
  /** The arguments as people give them: with other defaults, limits and descriptions than for agents. */
  readonly input: P;
  /** The result as lines of text. */
  show(result: R, painter: Painter): readonly string[];
  /** Returns the sentence for stderr where a result has nothing to show. */
  nothing?(result: R): string | undefined;
  /** Returns the error code whose exit status the command gets for a result. Default: success. */
  failure?(result: R): ErrorCode | undefined;
}

/** An operation whose result agents get as JSON and people get as text. */
export interface OperationDeclaration<
  A,
  R,
  I extends z.ZodObject & z.ZodType<A>,
  P extends z.ZodObject & z.ZodType<A>,
> extends Omit<ToolDeclaration<I>, 'handle'> {
  /** Does the work, or throws a MemoryError. */
  run(context: Context, request: A): Promise<R>;
  /** The toolset's success value for a result. */
  answer(result: R, request: A): JsonObject;
  readonly command: CommandForm<P, R>;
}

/** The result of a command before its format is known. */
interface CommandResult {
  readonly failure: ErrorCode | undefined;
  readonly nothing: string | undefined;
  answer(): JsonObject;
  show(painter: Painter): readonly string[];
}

/** A command form without the types of its arguments and its result. */
export interface ToolCommand {
  readonly name: string;
  readonly about: string;
  readonly operands: readonly string[];
  readonly options: { readonly [argument: string]: string | undefined };
  readonly input: z.ZodObject;
  /** Validates the arguments, then does the work. */
  run(context: Context, args: unknown): Promise<CommandResult>;
}

/** One operation offered to agents, and to people as a command. */
export interface Tool extends Omit<ToolDeclaration<z.ZodObject>, 'handle'> {
  /** The form for people; undefined if the command is made from the arguments alone. */
  readonly command?: ToolCommand;
  /** Validates the arguments, then does the work. */
  call(context: Context, args: unknown): Promise<JsonObject>;
}

/** Declares a tool. */
export function defineTool<I extends z.ZodObject>(declaration: ToolDeclaration<I>): Tool {
  const { handle, ...rest } = declaration;
  return {
    ...rest,
    async call(context, args) {
      return handle(context, parseInput(declaration.input, args));
    },
  };
}

/** Declares a tool that people call by a short name and read as text. */
export function defineOperation<
  A,
  R,
  I extends z.ZodObject & z.ZodType<A>,
  P extends z.ZodObject & z.ZodType<A>,
>(declaration: OperationDeclaration<A, R, I, P>): Tool {
  const { run, answer, command, ...rest } = declaration;
  const { name, about, operands = [], options = {}, input } = command;
  return {
    ...rest,
    async call(context, given) {
      const args = parseInput(declaration.input, given);
      return answer(await run(context, args), args);
    },
    command: {
      name,
      about,
      operands,
      options,
      input,
      async run(context, given) {
        const request = parseInput(input, given);
        const result = await run(context, request);
        return {
          answer: () => answer(result, request),
          failure: command.failure?.(result),
          nothing: command.nothing?.(result),
          show: (painter) => command.show(result, painter),
        };
      },
    },
  };
}
