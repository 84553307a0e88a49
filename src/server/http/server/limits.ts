/** The limits of requests of one caller. */
export interface Limits {
  readonly minute: number;
  readonly hour: number;
  /** Of the body of a request, in bytes. */
  readonly body?: number;
}

/**
 * The limit of a body in bytes, which settings can only lower.
 *
 * A file of 1 MiB fits even if JSON escapes every character.
 */
export const maxBodyBytes = 8 * 1024 * 1024;

/** Returns the limits of the requests to a project. */
export function limitsOf(
  project: { readonly limits?: Partial<Limits> } | undefined,
  limits: Limits,
): Required<Limits> {
  return { body: maxBodyBytes, ...limits, ...project?.limits };
}
