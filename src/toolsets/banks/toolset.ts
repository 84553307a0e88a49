import type { Toolset } from '../../core/declarations/toolset.ts';
import type { ErrorCode, MemoryError } from '../../core/values/error.ts';
import { activate } from './activate.ts';
import { bankDocument } from './bank-document.ts';
import { list } from './list.ts';
import { swap } from './swap.ts';
import { update } from './update-bank.ts';

/**
 * Error codes of seed 001, and codes of seed 003 for errors that seed 001 does not name.
 *
 * The shape of the answer is that of seed 003, since seed 001 does not define one.
 */
const codes: Record<ErrorCode, string> = {
  invalid_input: 'invalid_request',
  not_found: 'bank_not_found',
  forbidden: 'unauthorized',
  unauthorized: 'unauthorized',
  damaged: 'invalid_format',
  too_large: 'invalid_request',
  secret: 'invalid_request',
  already_exists: 'invalid_request',
  confirmation_required: 'invalid_request',
  rate_limited: 'rate_limit_exceeded',
  no_project: 'no_project',
  not_activated: 'invalid_request',
  conflict: 'conflict',
  busy: 'busy',
  unsupported: 'unsupported',
  ignored: 'ignored',
  cancelled: 'cancelled',
  cannot_create: 'server_error',
  storage: 'server_error',
  remote: 'server_error',
  internal: 'server_error',
};

/** Arguments with an error code of their own. */
const argumentCodes = new Map<unknown, string>([
  ['bank_type', 'invalid_bank_type'],
  ['bank_id', 'invalid_bank_id'],
  ['operation', 'invalid_operation'],
]);

/** Memory banks for conversations, projects and code (seed 001). */
export const banks: Toolset = {
  name: 'banks',
  title: 'Memory banks for conversations, projects and code',
  tools: [activate, list, swap, update],
  records: [bankDocument],
  formats: async () => (await import('./banks-formats.ts')).formats,
  success: (_tool, value) => value,
  failure: (_tool, error) => ({
    body: { status: 'error', error: { code: codeOf(error), message: error.text } },
  }),
};

function codeOf(error: MemoryError): string {
  return argumentCodes.get(error.issues[0]?.path[0]) ?? codes[error.code];
}
