import type { AnyRecordType } from '../record/record-type.ts';
import type { MemoryError } from '../values/error.ts';
import type { JsonObject } from '../values/json.ts';
import type { Context } from './context.ts';
import type { ExchangeFormat } from './exchange-format.ts';
import type { Tool } from './tool.ts';

/** A failure in a toolset's own wire format. */
export interface Failure {
  /** The first text block, in the format of the seed. */
  readonly body: JsonObject;
  /** A second text block with a message for the model, if the body has no field for it. */
  readonly note?: string;
}

/** An MCP prompt: a text that the user picks in the client to start some work. */
export interface Prompt {
  /** Wire name, kebab-case. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Returns the text for the model, based on the session's mode and the present records. */
  text(context: Context): Promise<string>;
}

/** Records that are also MCP resources: `<scheme>://<key>` returns the text of the file. */
export interface Resources {
  readonly scheme: string;
  readonly type: AnyRecordType;
}

/** A text made from the records that is also an MCP resource. */
export interface TextResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** Returns markdown; empty if there is nothing to say. */
  text(context: Context): Promise<string>;
}

/** The tools and record types of one seed, and that seed's wire format for success and failure. */
export interface Toolset {
  /** The name that `--toolsets` takes. */
  readonly name: string;
  /** One line for people that says what the toolset is for. */
  readonly title: string;
  /** Toolsets that had these tools once: who selects one of them by name gets this one also. */
  readonly comesWith?: readonly string[];
  readonly tools: readonly Tool[];
  readonly records: readonly AnyRecordType[];
  readonly resources?: Resources;
  readonly texts?: readonly TextResource[];
  readonly prompts?: readonly Prompt[];
  /** Formats of other programs, for import and export; loaded when they are needed. */
  readonly formats?: () => Promise<readonly ExchangeFormat[]>;
  /** Runs before the arguments are validated; throws a MemoryError to refuse the call. */
  before?(context: Context, tool: Tool): void | Promise<void>;
  /** Formats the answer to a call that succeeded. */
  success(tool: Tool, value: JsonObject): JsonObject;
  /** Formats the answer to a call that failed. */
  failure(tool: Tool, error: MemoryError): Failure;
}

/** Makes `{ success: true, … }`, the answer of seeds 002 and 004 and of toolsets without a seed. */
export function plainSuccess(_tool: Tool, value: JsonObject): JsonObject {
  return { success: true, ...value };
}

/**
 * Makes `{ success: false, error, message }`, the failure of seed 004 and of toolsets without a seed.
 *
 * `error` is the code of the memory error. If the call only lacks `confirm: true`, the answer also has
 * `requires_confirmation: true`.
 */
export function plainFailure(_tool: Tool, error: MemoryError): Failure {
  const confirmation = error.code === 'confirmation_required' && { requires_confirmation: true };
  return { body: { success: false, error: error.code, ...confirmation, message: error.text } };
}
