import { randomBytes } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { MemoryError } from '../../core/values/error.ts';
import { type Disk, inWaves } from '../disk/disk.ts';
import { errno, type Files } from '../disk/file-layer.ts';
import { isomorphicGit } from './isomorphic-git.ts';
import {
  deflateObject,
  type EncodedObject,
  encodeObject,
  type ObjectType,
  type Oid,
  type RawObject,
} from './object.ts';
import { ObjectCache } from './object-cache.ts';
import type { ObjectFormat } from './object-format.ts';
import { inflateStart, maxObjectSize, Pack } from './pack.ts';
import { storeAsPack } from './pack-file.ts';

/** Cache limit: bytes of trees and commits kept in memory. */
const cacheSize = 16 * 1024 * 1024;
const maxAlternateDepth = 5;
/** Retries of a look-up while new packs appear. */
const maxLookUps = 5;
/** The type and the size of a loose object are in its first bytes. */
const looseStart = 256;
/** Number of objects from which one write stores them as a pack. */
const packFrom = 64;
/** Size from which objects are stored one by one, in bytes before compression. */
const maxPackBytes = 1024 * 1024 * 1024;
/** Answers of our file layer to isomorphic-git, created once: it asks several times per object. */
const absent = rejected(Object.assign(new Error('absent'), { code: 'ENOENT' }));
const notAllowed = rejected(new Error('isomorphic-git may only write objects'));

/**
 * The object database of a repository: loose objects, packs, and those of its alternates.
 *
 * Objects never change, so they can be cached. The list of packs is read again when an object is
 * missing, because gc and repack run at any time.
 */
export class ObjectDatabase {
  readonly #files: Files;
  readonly #disk: Disk;
  /** The repository's own folder first, then its alternates'. */
  readonly #folders: readonly ObjectFolder[];
  readonly #gitDir: string;
  readonly #readFormat: () => ObjectFormat;
  #format: ObjectFormat | undefined;
  readonly #cache = new ObjectCache<Oid>(cacheSize, cacheSize / 4);
  /** Objects that are computed from others when they are read, and never stored. */
  readonly #derived = new Map<Oid, Derived>();
  /** Makes the names of temporary files unique to this process. */
  #run: string | undefined;
  #written = 0;
  /** Fan-out folders that existed when this process last wrote to them. */
  readonly #fanOut = new Set<string>();

  /**
   * @param gitDir the common git directory.
   * @param format called once, at the first use of an object: the repository may not exist before.
   */
  constructor(disk: Disk, gitDir: string, format: () => ObjectFormat) {
    this.#disk = disk;
    this.#files = disk.files;
    this.#gitDir = gitDir;
    this.#readFormat = format;
    const paths = [join(gitDir, 'objects')];
    collectAlternates(disk.files, join(gitDir, 'objects'), paths, maxAlternateDepth);
    this.#folders = paths.map((path) => new ObjectFolder(disk.files, path, () => this.format));
  }

  get format(): ObjectFormat {
    this.#format ??= this.#readFormat();
    return this.#format;
  }

  /** The object of these bytes, to be stored. */
  encode(type: ObjectType, content: Uint8Array): EncodedObject {
    return encodeObject(type, content, this.format);
  }

  /**
   * Reads an object's type and content.
   *
   * @throws MemoryError `damaged` when the object is missing, as in a partial clone or after a prune.
   */
  read(oid: Oid): RawObject {
    const cached = this.#cache.get(oid);
    if (cached) return cached;
    const derived = this.#derived.get(oid);
    if (derived) return { type: derived.type, content: derived.content() };
    const object = this.#found(oid).read();
    return object.type === 'blob' ? object : this.#cache.keep(oid, object);
  }

  /** Reads the content of an object that must have this type. */
  content(oid: Oid, type: ObjectType): Buffer {
    const object = this.read(oid);
    if (object.type !== type) {
      throw new MemoryError('damaged', `The object ${oid} is a ${object.type}, not a ${type}.`);
    }
    return object.content;
  }

  /**
   * The size of an object in bytes, without unpacking it.
   *
   * @throws MemoryError `damaged` when the object is missing.
   */
  size(oid: Oid): number {
    return this.#derived.get(oid)?.content().length ?? this.#found(oid).size();
  }

  /**
   * Makes an object readable that is not stored. No write takes it for a stored one.
   *
   * @param content returns the bytes of which `oid` is the id.
   */
  derive(oid: Oid, type: ObjectType, content: () => Buffer): void {
    this.#derived.set(oid, { type, content });
  }

  /** Whether an object can be read. */
  has(oid: Oid): boolean {
    return this.#cache.has(oid) || this.#derived.has(oid) || this.#lookUp(oid) !== undefined;
  }

  /** Full ids with this prefix in packs and loose objects, at most `limit`. */
  startingWith(prefix: string, limit: number): Oid[] {
    const found = new Set<Oid>();
    for (const folder of this.#folders) {
      for (const oid of folder.startingWith(prefix, limit)) found.add(oid);
    }
    return [...found].slice(0, limit);
  }

  /**
   * Stores objects; with full durability their content is on the medium afterwards.
   *
   * An object that exists is written again: a file of another program may be truncated, not yet on the
   * medium, or in a pack that a running gc is about to drop.
   */
  async write(objects: readonly EncodedObject[]): Promise<Iterable<string>> {
    const folder = join(this.#gitDir, 'objects');
    const changed = new Set<string>();
    if (isForPack(objects))
      await storeAsPack(this.#disk, join(folder, 'pack'), objects, this.format);
    else await this.#writeEach(objects, folder, changed);
    // The next mutation reads these.
    for (const { oid, type, content } of objects) {
      if (type !== 'blob') this.#cache.keep(oid, { type, content: Buffer.from(content) });
    }
    return changed;
  }

  async #writeEach(
    objects: readonly EncodedObject[],
    folder: string,
    changed: Set<string>,
  ): Promise<void> {
    const store = await this.#looseWriter(folder, changed);
    await inWaves(objects, (one) => store(one.oid, deflateObject(one)));
    for (const { oid } of objects) changed.add(join(folder, oid.slice(0, 2)));
  }

  close(): void {
    for (const folder of this.#folders) folder.close();
  }

  /** The function that stores a loose object; isomorphic-git knows only SHA-1. */
  async #looseWriter(
    folder: string,
    changed: Set<string>,
  ): Promise<(oid: Oid, object: Buffer) => Promise<unknown>> {
    if (this.format.name !== 'sha1') {
      return (oid, object) => this.#writeLoose(loosePath(folder, oid), object, changed);
    }
    const git = await isomorphicGit();
    const fs = this.#objectWriter(changed);
    const gitdir = this.#gitDir;
    return (oid, object) => git.writeObject({ fs, gitdir, oid, object, format: 'deflated' });
  }

  /**
   * The file layer through which isomorphic-git writes objects: a temporary name that gc removes, then
   * a rename. Every `stat` answers "absent", so that isomorphic-git neither trusts an existing file nor
   * looks for a git directory.
   */
  #objectWriter(changed: Set<string>) {
    const refuse = () => notAllowed;
    const isAbsent = () => absent;
    const promises = {
      readFile: refuse,
      readdir: refuse,
      unlink: refuse,
      rmdir: refuse,
      readlink: refuse,
      symlink: refuse,
      stat: isAbsent,
      lstat: isAbsent,
      mkdir: async (path: string) => {
        for (const directory of this.#disk.makeDirectories(path)) changed.add(directory);
      },
      writeFile: (path: string, bytes: Uint8Array) => this.#writeLoose(path, bytes, changed),
    };
    return { promises };
  }

  async #writeLoose(path: string, bytes: Uint8Array, changed: Set<string>): Promise<void> {
    const folder = dirname(path);
    for (let attempt = 1; ; attempt++) {
      this.#run ??= randomBytes(6).toString('hex');
      const temporary = join(folder, `tmp_obj_${this.#run}${++this.#written}`);
      try {
        if (!this.#fanOut.has(folder)) {
          for (const directory of this.#disk.makeDirectories(folder)) changed.add(directory);
          this.#fanOut.add(folder);
        }
        await this.#disk.create(temporary, [bytes], 0o444);
        try {
          this.#files.rename(temporary, path);
        } catch (error) {
          this.#disk.discard(temporary);
          throw error;
        }
        return;
      } catch (error) {
        // gc removes an empty fan-out folder at any time, even before a new object is renamed into it.
        if (errno(error) !== 'ENOENT' || attempt === 5) throw error;
        this.#fanOut.delete(folder);
      }
    }
  }

  #found(oid: Oid): Found {
    const found = this.#lookUp(oid);
    if (!found) {
      throw new MemoryError('damaged', `The git object ${oid} is not in this repository.`, {
        hint: 'A partial or shallow clone may have left it on the server: run "git fetch --unshallow" or "git fetch --refetch".',
        data: { oid },
      });
    }
    return found;
  }

  #lookUp(oid: Oid): Found | undefined {
    const resolve = (base: Oid) => this.#found(base).read();
    // A repack moves objects to another pack during a look-up. An object is missing only if it was not
    // found and the list of packs has not changed.
    for (let attempt = 0; attempt < maxLookUps; attempt++) {
      for (const folder of this.#folders) {
        const found = folder.lookUp(oid, resolve);
        if (found) return found;
      }
      if (this.#folders.filter((folder) => folder.list()).length === 0) break;
    }
    return undefined;
  }
}

/** An object that is computed when it is read. */
interface Derived {
  readonly type: ObjectType;
  content(): Buffer;
}

/** An object that exists and is not read yet. */
interface Found {
  read(): RawObject;
  /** Its size in bytes. */
  size(): number;
}

/**
 * Whether these objects are stored as one pack, as git does with a fetch: each loose object takes a
 * file, a disk block and an fsync. The index format of our packs ends at 2 GiB.
 */
function isForPack(objects: readonly EncodedObject[]): boolean {
  if (objects.length < packFrom) return false;
  return objects.reduce((sum, { content }) => sum + content.length, 0) < maxPackBytes;
}

/** One `objects` folder with its packs. */
class ObjectFolder {
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
  lookUp(oid: Oid, resolve: (oid: Oid) => RawObject): Found | undefined {
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
function loosePath(folder: string, oid: Oid): string {
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

/** Marks the rejection of a promise as handled; its caller awaits it later. */
function rejected(reason: Error): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => undefined);
  return promise;
}

function isType(text: string | undefined): text is ObjectType {
  return text === 'blob' || text === 'tree' || text === 'commit' || text === 'tag';
}

function collectAlternates(files: Files, folder: string, found: string[], depth: number): void {
  const text = files.read(join(folder, 'info', 'alternates'))?.toString('utf8') ?? '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || depth === 0) continue;
    const path = isAbsolute(line) ? line : join(files.realpath(folder) ?? folder, line);
    if (found.includes(path)) continue;
    found.push(path);
    collectAlternates(files, path, found, depth - 1);
  }
}

/** The root tree of a commit. */
export function treeOf(odb: ObjectDatabase, commit: Oid): Oid {
  return odb.content(commit, 'commit').toString('latin1', 5, 5 + odb.format.digits);
}
