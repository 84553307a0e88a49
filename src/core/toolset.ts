import type { Context } from './context.ts';
import type { MemoryError } from './error.ts';
import type { ExchangeFormat } from './exchange-format.ts';
import type { JsonObject } from './json.ts';
import type { AnyRecordType } from './record-type.ts';
import type { Tool } from './tool.ts';

/** A failure in a toolset's own wire format. */
export interface Failure {
  /** What the seed prints; the whole of the first text block. */
  readonly body: JsonObject;
  /** A sentence for the model, as a second text block, where the body has no room for it. */
  readonly note?: string;
}

/** A text that a person can pick in the client to start some work with: an MCP prompt. */
export interface Prompt {
  /** Wire name, kebab-case. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What the client hands to the model, written for the session's mode and the records as they are now. */
  text(context: Context): Promise<string>;
}

/** Records that are offered as MCP resources too: `<scheme>://<key>`, the text of the file as it is. */
export interface Resources {
  readonly scheme: string;
  readonly type: AnyRecordType;
}

/** The tools and record types of one seed, and that seed's wire format for success and failure. */
export interface Toolset {
  /** The name that `--toolsets` takes. */
  readonly name: string;
  /** One line for people: what the toolset is for. */
  readonly title: string;
  readonly tools: readonly Tool[];
  readonly records: readonly AnyRecordType[];
  readonly resources?: Resources;
  readonly prompts?: readonly Prompt[];
  /** How other programs keep the same, for import and export; loaded when they are needed. */
  readonly formats?: () => Promise<readonly ExchangeFormat[]>;
  /** Runs before the arguments are validated; throws a MemoryError to refuse the call. */
  before?(context: Context, tool: Tool): void | Promise<void>;
  /** The answer to a call that succeeded. */
  success(tool: Tool, value: JsonObject): JsonObject;
  /** The answer to a call that failed. */
  failure(tool: Tool, error: MemoryError): Failure;
}

/** `{ success: true, … }`: the answer of seeds 002 and 004, and of toolsets that no seed describes. */
export function plainSuccess(_tool: Tool, value: JsonObject): JsonObject {
  return { success: true, ...value };
}

/**
 * `{ success: false, error, message }`: the failure of seed 004, and of toolsets that no seed describes.
 *
 * `error` is the error's own code; `requires_confirmation` is there, and true, when `confirm: true` is
 * all that the call lacks.
 */
export function plainFailure(_tool: Tool, error: MemoryError): Failure {
  const confirmation = error.code === 'confirmation_required' && { requires_confirmation: true };
  return { body: { success: false, error: error.code, ...confirmation, message: error.text } };
}
