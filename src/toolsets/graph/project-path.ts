/** A project path as it is stored, or why it cannot be one. */
export type NormalisedPath = { readonly path: string } | { readonly problem: string };

/**
 * The one spelling of a path inside the project: relative, without `.`, `..` and doubled slashes.
 *
 * A backslash stays, for it is a legal character of a file name; one letter and a colon at the
 * beginning are a drive, whatever follows (RESOLUTIONS 0.11).
 */
export function normalisePath(given: string): NormalisedPath {
  if (given.includes('\0')) return { problem: 'must not contain a NUL character' };
  const segments: string[] = [];
  for (const segment of given.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) {
      return { problem: 'must lie inside the project, ".." leads out of it' };
    }
  }
  const [first] = segments;
  if (first === undefined) return { problem: 'must name a file or a directory of the project' };
  if (/^[A-Za-z]:/.test(first)) {
    return { problem: 'must be relative to the project, without a drive letter' };
  }
  return { path: segments.join('/') };
}
