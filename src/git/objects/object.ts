import { deflateSync } from 'node:zlib';
import { formatOf, type ObjectFormat } from './object-format.ts';

/** An object id in hexadecimal. */
export type Oid = string;

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

/** An object ready to be stored, and its id. */
export interface EncodedObject {
  readonly oid: Oid;
  readonly type: ObjectType;
  readonly content: Uint8Array;
}

/** The object id of these bytes. */
export function objectId(type: ObjectType, content: Uint8Array, format: ObjectFormat): Oid {
  return format.hash().update(header(type, content)).update(content).digest('hex');
}

/** Whether these bytes are the blob with this id. */
export function isBlob(content: Uint8Array, oid: Oid): boolean {
  return objectId('blob', content, formatOf(oid)) === oid;
}

export function encodeObject(
  type: ObjectType,
  content: Uint8Array,
  format: ObjectFormat,
): EncodedObject {
  return { oid: objectId(type, content, format), type, content };
}

/** The bytes of an object as a loose one (gitformat-loose). */
export function deflateObject({ type, content }: EncodedObject): Buffer {
  return compress(Buffer.concat([header(type, content), content]));
}

/** Smallest size of a file on disk, in bytes. */
const block = 4096;

/**
 * Compresses at git's default level. An object that fits into one disk block is stored uncompressed,
 * as with `core.looseCompression=0`: compressed it would take as much space, until gc packs it.
 */
function compress(bytes: Buffer): Buffer {
  const stream = 11 + bytes.length;
  if (stream > block) return deflateSync(bytes, { level: 1 });
  // One stored block (RFC 1951, 3.2.4) in a zlib stream (RFC 1950).
  const stored = Buffer.allocUnsafe(stream);
  stored.writeUInt16BE(0x7801, 0);
  stored.writeUInt8(1, 2);
  stored.writeUInt16LE(bytes.length, 3);
  stored.writeUInt16LE(~bytes.length & 0xffff, 5);
  bytes.copy(stored, 7);
  stored.writeUInt32BE(adler32(bytes), stream - 4);
  return stored;
}

/** The checksum of at most 5552 bytes, for which no sum overflows (RFC 1950, 9). */
function adler32(bytes: Buffer): number {
  let a = 1;
  let b = 0;
  for (let i = 0; i < bytes.length; i++) {
    a += bytes[i] ?? 0;
    b += a;
  }
  return ((b % 65_521) * 65_536 + (a % 65_521)) >>> 0;
}

function header(type: ObjectType, content: Uint8Array): Buffer {
  return Buffer.from(`${type} ${content.length}\0`, 'latin1');
}

/** Name, email address and time of a commit's author or committer. */
export interface Signature {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970. */
  readonly seconds: number;
  /** Minutes east of UTC. */
  readonly offset: number;
}

export interface Commit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

/** Formats a commit object (gitformat-commit); the message ends in exactly one line feed. */
export function formatCommit(commit: Commit): Buffer {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(commit.author)}`,
    `committer ${formatSignature(commit.committer)}`,
    '',
    `${commit.message.trimEnd()}\n`,
  ];
  return Buffer.from(lines.join('\n'), 'utf8');
}

/** Formats a signature as in commits and reflogs. */
export function formatSignature(signature: Signature): string {
  const sign = signature.offset < 0 ? '-' : '+';
  const minutes = Math.abs(signature.offset);
  const zone = `${pad(Math.floor(minutes / 60))}${pad(minutes % 60)}`;
  return `${formatName(signature)} ${signature.seconds} ${sign}${zone}`;
}

/** Name and address without the time. */
export function formatName({ name, email }: Signature): string {
  return `${name} <${email}>`;
}

/** Parses a commit object; an invalid signature gets the year 1970. */
export function parseCommit(bytes: Buffer): Commit {
  const text = bytes.toString('utf8');
  const end = text.indexOf('\n\n');
  const head = end < 0 ? text : text.slice(0, end);
  const fields = new Map<string, string>();
  const parents: Oid[] = [];
  for (const line of head.split('\n')) {
    const space = line.indexOf(' ');
    const name = line.slice(0, space);
    const value = line.slice(space + 1);
    if (name === 'parent') parents.push(value);
    else if (name !== '' && !fields.has(name)) fields.set(name, value);
  }
  return {
    tree: fields.get('tree') ?? '',
    parents,
    author: parseSignature(fields.get('author') ?? ''),
    committer: parseSignature(fields.get('committer') ?? ''),
    message: end < 0 ? '' : text.slice(end + 2),
  };
}

/** The object to which an annotated tag points (gitformat-tag). */
export function taggedBy(tag: Buffer): Oid {
  const end = tag.indexOf('\n');
  return tag.toString('latin1', 'object '.length, end < 0 ? tag.length : end);
}

function parseSignature(text: string): Signature {
  const match = /^([^<]*?) ?<([^<>]*)> (\d+) ([+-])(\d\d)(\d\d)$/.exec(text);
  if (!match) return { name: text, email: '', seconds: 0, offset: 0 };
  const [, name = '', email = '', seconds, sign, hours, minutes] = match;
  const offset = Number(hours) * 60 + Number(minutes);
  return { name, email, seconds: Number(seconds), offset: sign === '-' ? -offset : offset };
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

export interface RawObject {
  readonly type: ObjectType;
  readonly content: Buffer;
}
