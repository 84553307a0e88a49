import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { MemoryError } from '../../core/values/error.ts';
import { errno, type Files } from '../disk/file-layer.ts';
import type { ObjectType, Oid, RawObject } from './object.ts';
import type { ObjectFormat } from './object-format.ts';
import { inflateStart, maxObjectSize, Pack } from './pack.ts';

/** Retries of a look-up while new packs appear. */
export const maxLookUps = 5;
/** The type and the size of a loose object are in its first bytes. */
const looseStart = 256;

/** An object that exists and is not read yet. */
export interface FoundObject {
  read(): RawObject;
  /** Its size in bytes. */
  size(): number;
}

/** One `objects` folder with its packs. */
export class ObjectFolder {
  readonly #files: Files;
  readonly #path: string;
  readonly #format: () => ObjectFormat;
  #packs = new Map<string, Pack>();
  /** The packs at the last listing; undefined before the first one. */
  #names: ReadonlySet<string> | undefined;

  constructor(files: Files, path: string, format: () => ObjectFormat) {
    this.#files = files;
    this.#path = path;
    this.#format = format;
  }

  /** Looks in the packs of the last listing, and in the loose objects. */
  lookUp(oid: Oid, resolve: (oid: Oid) => RawObject): FoundObject | undefined {
    if (!this.#names) this.list();
    for (const pack of this.#packs.values()) {
      const offset = pack.offsetOf(oid);
      if (offset === undefined) continue;
      return { read: () => pack.read(offset, resolve), size: () => pack.sizeAt(offset) };
    }
    const path = loosePath(this.#path, oid);
    const loose = this.#files.load(path, maxObjectSize);
    if (!loose) return undefined;
    const start = () => loose.bytes ?? this.#startOf(path);
    return { read: () => parseLoose(oid, loose.bytes), size: () => sizeOfLoose(oid, start()) };
  }

  /** The first bytes of a file that is too large to read. */
  #startOf(path: string): Buffer {
    const fd = this.#files.open(path, 'r');
    try {
      return this.#files.pread(fd, looseStart, 0);
    } finally {
      this.#files.close(fd);
    }
  }

  startingWith(prefix: string, limit: number): Oid[] {
    const found: Oid[] = [];
    for (const { name } of this.#files.list(join(this.#path, prefix.slice(0, 2))) ?? []) {
      const oid = prefix.slice(0, 2) + name;
      if (oid.length === this.#format().digits && oid.startsWith(prefix)) found.push(oid);
    }
    for (let attempt = 0; attempt < maxLookUps && this.list(); attempt++);
    for (const pack of this.#packs.values()) found.push(...pack.startingWith(prefix, limit));
    return found;
  }

  close(): void {
    for (const pack of this.#packs.values()) pack.close();
    this.#packs.clear();
    this.#names = undefined;
  }

  /** Lists the packs again; returns whether the list changed. */
  list(): boolean {
    const folder = join(this.#path, 'pack');
    const names = new Set<string>();
    for (const { name } of this.#files.list(folder) ?? []) {
      if (name.endsWith('.idx')) names.add(name.slice(0, -4));
    }
    const packs = new Map<string, Pack>();
    for (const name of names) {
      const pack = this.#packs.get(name) ?? this.#open(folder, name);
      if (pack) packs.set(name, pack);
    }
    for (const [name, pack] of this.#packs) if (!packs.has(name)) pack.close();
    this.#packs = packs;
    const known = this.#names;
    this.#names = names;
    return known?.size !== names.size || [...names].some((name) => !known.has(name));
  }

  #open(folder: string, name: string): Pack | undefined {
    try {
      return Pack.open(this.#files, folder, name, this.#format());
    } catch (error) {
      // A repack may have removed it since the listing: the next listing has another pack.
      if (errno(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

/** @param folder the `objects` folder. */
export function loosePath(folder: string, oid: Oid): string {
  return join(folder, oid.slice(0, 2), oid.slice(2));
}

/** @param bytes undefined for a file over the limit. */
function parseLoose(oid: Oid, bytes: Buffer | undefined): RawObject {
  if (!bytes) throw damaged(oid, 'too large to read');
  try {
    const raw = inflateSync(bytes, { maxOutputLength: maxObjectSize + looseStart });
    const nul = raw.indexOf(0);
    const [type, size] = raw.toString('latin1', 0, nul).split(' ');
    const content = raw.subarray(nul + 1);
    if (isType(type) && Number(size) === content.length) return { type, content };
  } catch {
    // The message below covers every kind of damage.
  }
  throw damaged(oid, 'damaged');
}

/** @param bytes the file, or its first bytes. */
function sizeOfLoose(oid: Oid, bytes: Buffer): number {
  const start = inflateStart(bytes.subarray(0, looseStart)).toString('latin1', 0, looseStart);
  const [, size] = /^[a-z]+ (\d{1,15})\0/.exec(start) ?? [];
  if (size === undefined) throw damaged(oid, 'damaged');
  return Number(size);
}

function damaged(oid: Oid, what: string): MemoryError {
  return new MemoryError('damaged', `The git object ${oid} is ${what}.`, {
    hint: 'Run "git fsck" to list all damage.',
    data: { oid },
  });
}

function isType(text: string | undefined): text is ObjectType {
  return text === 'blob' || text === 'tree' || text === 'commit' || text === 'tag';
}
