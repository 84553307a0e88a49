import { randomBytes } from 'node:crypto';
import { dirname, isAbsolute, join } from 'node:path';
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
import { type FoundObject, loosePath, maxLookUps, ObjectFolder } from './object-folder.ts';
import type { ObjectFormat } from './object-format.ts';
import { storeAsPack } from './pack-file.ts';

/** Cache limit: bytes of trees and commits kept in memory. */
const cacheSize = 16 * 1024 * 1024;
const maxAlternateDepth = 5;
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
   * @param alternates more folders of objects, which the repository does not name.
   */
  constructor(
    disk: Disk,
    gitDir: string,
    format: () => ObjectFormat,
    alternates: readonly string[] = [],
  ) {
    this.#disk = disk;
    this.#files = disk.files;
    this.#gitDir = gitDir;
    this.#readFormat = format;
    const own = join(gitDir, 'objects');
    const paths = [...new Set([own, ...alternates])];
    for (const path of [...paths]) collectAlternates(disk.files, path, paths, maxAlternateDepth);
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

  #found(oid: Oid): FoundObject {
    const found = this.#lookUp(oid);
    if (!found) {
      throw new MemoryError('damaged', `The git object ${oid} is not in this repository.`, {
        hint: 'A partial or shallow clone may have left it on the server: run "git fetch --unshallow" or "git fetch --refetch".',
        data: { oid },
      });
    }
    return found;
  }

  #lookUp(oid: Oid): FoundObject | undefined {
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

/**
 * Whether these objects are stored as one pack, as git does with a fetch: each loose object takes a
 * file, a disk block and an fsync. The index format of our packs ends at 2 GiB.
 */
function isForPack(objects: readonly EncodedObject[]): boolean {
  if (objects.length < packFrom) return false;
  return objects.reduce((sum, { content }) => sum + content.length, 0) < maxPackBytes;
}

/** Marks the rejection of a promise as handled; its caller awaits it later. */
function rejected(reason: Error): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => undefined);
  return promise;
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
