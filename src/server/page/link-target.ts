/** A record that a link in a markdown text leads to. */
export interface LinkTarget {
  readonly path: string;
  /** The anchor of a section in it, as the link has it; empty for the whole record. */
  readonly anchor: string;
}

/** A relative link to a file of the memory. */
const toFile = /^(?<file>[\w./ %-]+\.(?:md|yaml))?(?:#(?<anchor>.*))?$/s;

/**
 * Returns the record that a link leads to; undefined for a link that leads elsewhere.
 *
 * @param link the link as the HTML of the record has it.
 * @param path the record with the link.
 */
export function targetOf(link: string, path: string): LinkTarget | undefined {
  const { file, anchor = '' } = toFile.exec(link)?.groups ?? {};
  if (file === undefined) return anchor === '' ? undefined : { path, anchor: decodePart(anchor) };
  if (file.startsWith('/')) return undefined;
  const folder = new URL(encodePath(path), 'http://memory/');
  const { pathname } = new URL(file, folder);
  return { path: decodePath(pathname.slice(1)), anchor: decodePart(anchor) };
}

/** Encodes the parts of a path for an address. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Decodes the parts of a path of an address. */
export function decodePath(path: string): string {
  return path.split('/').map(decodePart).join('/');
}

/** Decodes a part of an address; a part that is not UTF-8 stays as it is. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
