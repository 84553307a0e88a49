import type { Context } from './context.ts';
import type { MemoryError } from './error.ts';
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

/** The tools and record types of one seed, and that seed's wire format for success and failure. */
export interface Toolset {
  /** The name that `--toolsets` takes. */
  readonly name: string;
  /** One line for people: what the toolset is for. */
  readonly title: string;
  readonly tools: readonly Tool[];
  readonly records: readonly AnyRecordType[];
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
