/** A project path as it is stored, or the reason why it is not valid. */
export type NormalisedPath = { readonly path: string } | { readonly problem: string };

/**
 * Normalises a path inside the project: relative, without `.`, `..` and doubled slashes.
 *
 * A backslash stays, because file names may contain it. One letter and a colon at the beginning
 * count as a drive: on Windows `C:a` is a path on another drive as well.
 */
export function normalisePath(given: string): NormalisedPath {
  if (given.includes('\0')) return { problem: 'must not contain a NUL character' };
  const segments: string[] = [];
  for (const segment of given.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) {
      return { problem: 'must be inside the project; ".." leads out of it' };
    }
  }
  const [first] = segments;
  if (first === undefined) return { problem: 'must name a file or directory of the project' };
  if (/^[A-Za-z]:/.test(first)) {
    return { problem: 'must be relative to the project, without a drive letter' };
  }
  return { path: segments.join('/') };
}
