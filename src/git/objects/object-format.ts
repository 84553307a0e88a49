import { createHash, type Hash } from 'node:crypto';

/** How a repository names its objects (git's hash-function-transition). */
export interface ObjectFormat {
  /** As in the setting `extensions.objectFormat`. */
  readonly name: 'sha1' | 'sha256';
  /** The length of an object id, in bytes. */
  readonly size: number;
  /** The length of an object id, in hexadecimal digits. */
  readonly digits: number;
  hash(): Hash;
}

function toFormat(name: ObjectFormat['name'], size: number): ObjectFormat {
  return { name, size, digits: size * 2, hash: () => createHash(name) };
}

export const sha1 = toFormat('sha1', 20);
const sha256 = toFormat('sha256', 32);

/** All formats that git knows, by their names. */
export const objectFormats: ReadonlyMap<string, ObjectFormat> = new Map(
  [sha1, sha256].map((format) => [format.name, format]),
);

/** The format of the repository that has an object. */
export function formatOf(oid: string): ObjectFormat {
  return oid.length === sha256.digits ? sha256 : sha1;
}

/** The id of zeros, which stands for no object next to an id. */
export function noObject({ digits }: ObjectFormat): string {
  return '0'.repeat(digits);
}

/** The source of a regular expression for a full object id in either format. */
export const oidPattern = `(?:[0-9a-f]{${sha256.digits}}|[0-9a-f]{${sha1.digits}})`;

/** A full object id and nothing else. */
export const wholeOid = new RegExp(`^${oidPattern}$`);

/** Whether a text is a full object id. */
export function isOid(text: string): boolean {
  return wholeOid.test(text);
}
