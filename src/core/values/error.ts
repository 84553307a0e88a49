import type { JsonValue } from './json.ts';

/**
 * The closed list of error codes.
 *
 * The wire format of a toolset, the HTTP status and the exit status are tables with an entry for every
 * code: a new code does not compile until each table has one.
 */
export const errorCodes = [
  /** An argument is missing, null, of the wrong type or out of range; `issues` says which. */
  'invalid_input',
  /** The record, file, mode, revision or bank does not exist. */
  'not_found',
  /** Another record already has this slug, path, key or name. */
  'already_exists',
  /** The session's mode does not allow this read or write. */
  'forbidden',
  /** The call needs `confirm: true`. */
  'confirmation_required',
  /** The session has to call `activate_project` first. */
  'not_activated',
  /** A file on disk is not valid; it was left as it is. */
  'damaged',
  /** More bytes, items or levels than the documented limits allow. */
  'too_large',
  /** The text contains a credential; nothing was written. */
  'secret',
  /** A merge left conflict markers, or two sides changed the same thing. */
  'conflict',
  /** A lock is held by another program, or a merge, rebase, cherry-pick, revert or bisect is under way. */
  'busy',
  /** The repository has a format or state in which it cannot be written safely. */
  'unsupported',
  /** The user's ignore rules cover the memory folder. */
  'ignored',
  /** The root is not a project: it is `/`, the home directory or not a directory. */
  'no_project',
  /** The folder that should hold the memory cannot be created. */
  'cannot_create',
  /** The file system refused or failed: permission, full disk, broken medium. */
  'storage',
  /** The remote repository cannot be reached, or refuses. */
  'remote',
  /** The caller cancelled the call before it was done; nothing was written. */
  'cancelled',
  /** No valid key or session. */
  'unauthorized',
  /** Too many requests. */
  'rate_limited',
  /** A bug in this program; the details are on stderr. */
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** A problem with one argument. */
export interface Issue {
  /** Path in the arguments: `['features', 0, 'slug']`; empty for the arguments as a whole. */
  readonly path: readonly (string | number)[];
  /**
   * `missing`: the key is absent. `null`: the value is null. `type`: another JSON type was expected.
   * `value`: the type is right, the value is not. `size`: too long, too many, too deep.
   */
  readonly kind: 'missing' | 'null' | 'type' | 'value' | 'size';
  /** One sentence without the path, for example `expected string, received number`. */
  readonly message: string;
}

export interface ErrorDetails {
  /** The remedy for the caller, in full sentences. */
  readonly hint?: string;
  /** Facts for programs: the path of a damaged file, the lock that is held. Never a credential. */
  readonly data?: { readonly [key: string]: JsonValue };
  /** With `invalid_input`: the problem of each argument. */
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
}

/** The only error that a handler throws; every transport translates it to its own format. */
export class MemoryError extends Error {
  override readonly name = 'MemoryError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: { readonly [key: string]: JsonValue };
  readonly issues: readonly Issue[];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.data = details.data ?? {};
    this.issues = details.issues ?? [];
  }

  /** Message and hint as one text. */
  get text(): string {
    if (this.hint === undefined) return this.message;
    return `${this.message}${/[.!?]$/.test(this.message) ? '' : '.'} ${this.hint}`;
  }
}

/** Makes an `invalid_input` error about one argument. */
export function invalid(
  path: Issue['path'],
  message: string,
  kind: Issue['kind'] = 'value',
): MemoryError {
  return new MemoryError('invalid_input', describeIssue({ path, kind, message }), {
    issues: [{ path, kind, message }],
  });
}

/** Makes the error about a text that cannot be kept in a file, because UTF-8 has no half of a pair. */
export function halfSurrogate(): MemoryError {
  return new MemoryError('invalid_input', 'The text contains half of a surrogate pair.', {
    hint: 'It cannot be kept as UTF-8: send whole characters.',
  });
}

/** Runs work on the text of a file, and adds the path of the file to its errors. */
export function inFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof MemoryError)) throw cause;
    throw new MemoryError(cause.code, `${path}: ${cause.message}`, {
      ...(cause.hint !== undefined && { hint: cause.hint }),
      data: { ...cause.data, path },
      issues: cause.issues,
      cause,
    });
  }
}

/** Describes an issue with its argument: `features[0].slug: must be lower-case`. */
export function describeIssue(issue: Issue): string {
  const where = pathText(issue.path);
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}

/** Returns the place of an argument as people write it: `features[0].slug`. */
export function pathText(path: Issue['path']): string {
  return path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('');
}

/**
 * Returns a thrown value as a MemoryError; any other value becomes the cause of an `internal` one.
 *
 * A missing module is `storage`: the program loads its own files only, so an upgrade has replaced them.
 */
export function toMemoryError(thrown: unknown): MemoryError {
  if (thrown instanceof MemoryError) return thrown;
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'MODULE_NOT_FOUND') {
    return new MemoryError('storage', 'The program was replaced while this server ran.', {
      hint: 'Restart the client, so that it starts the new one.',
      cause: thrown,
    });
  }
  return new MemoryError('internal', 'An internal error occurred.', {
    hint: 'The details are in the log of the server (stderr).',
    cause: thrown,
  });
}
