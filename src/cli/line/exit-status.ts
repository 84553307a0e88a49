import type { ErrorCode } from '../../core/values/error.ts';

/** The exit status of a failed command by its error code; 0 is success. */
export const exitStatus: Record<ErrorCode, number> = {
  internal: 1,
  invalid_input: 2,
  not_found: 3,
  already_exists: 4,
  conflict: 4,
  forbidden: 5,
  confirmation_required: 5,
  not_activated: 5,
  secret: 5,
  unauthorized: 5,
  damaged: 6,
  too_large: 7,
  busy: 8,
  rate_limited: 8,
  unsupported: 9,
  ignored: 9,
  no_project: 9,
  cannot_create: 9,
  storage: 10,
  remote: 11,
  // The status that a shell reports for an interrupted program.
  cancelled: 130,
};
