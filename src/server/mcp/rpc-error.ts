import { redactText } from '../../app/app.ts';
import type { MemoryError } from '../../core/values/error.ts';
import type { JsonValue } from '../../core/values/json.ts';

export const methodNotFound = -32601;
export const invalidParams = -32602;
export const internalError = -32603;
/** Unknown resources in revision 2025-11-25 and earlier. */
const resourceNotFound = -32002;

/** An error of the protocol itself, with its JSON-RPC code. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: JsonValue | undefined;

  constructor(code: number, message: string, data?: JsonValue) {
    super(redactText(message));
    this.code = code;
    this.data = data;
  }
}

/** Converts an error of a call that is not a tool call. */
export function toRpcError(error: MemoryError, notFound = resourceNotFound): RpcError {
  const code =
    error.code === 'not_found'
      ? notFound
      : error.code === 'invalid_input'
        ? invalidParams
        : internalError;
  return new RpcError(code, error.text, { ...error.data });
}
