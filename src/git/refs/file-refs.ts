import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { type Files, lookThrough, type Stat, sameStat } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { isOid } from '../objects/object-format.ts';
import { filesBelow, isRefName } from './loose-refs.ts';
import { folderOf, type RefPlaces } from './ref-places.ts';
import { idsIn, maxLogLines, type RefStore, type ValueOf, withHead } from './ref-store.ts';
import { type StrayRef, strayRefs } from './stray-refs.ts';

/** Limit of a reflog that is read, in bytes. */
const maxLog = 16 * 1024 * 1024;

/** Limit of the file of a ref that is read at once, in bytes. */
const maxRef = 64 * 1024;

const noNames: ReadonlySet<string> = new Set();

/** Refs in files, one for each, over those of `packed-refs`; reflogs in files as well. */
export class FileRefs implements RefStore {
  readonly files: Files;
  readonly places: RefPlaces;
  #packed = new Map<string, Oid>();
  #packedStat: Stat | undefined;

  constructor(files: Files, places: RefPlaces) {
    [this.files, this.places] = [files, places];
  }

  value(ref: string): string | undefined {
    // An empty file is a ref that was lost, perhaps in a power cut. With an older packed value, or
    // none, the next commit would get the wrong parent.
    const loose = this.#loose(ref);
    return loose === undefined && ref.startsWith('refs/') ? this.#packedRefs().get(ref) : loose;
  }

  look<T>(see: (value: ValueOf) => T): T {
    return see((ref) => this.value(ref));
  }

  values(prefix: string): ReadonlyMap<string, string> {
    // Loose refs first: "git pack-refs" packs a ref before it removes its file.
    const loose = filesBelow(this.files, this.places.commonDir, prefix.replace(/\/$/, ''));
    const found = new Map<string, string>();
    for (const [ref, oid] of this.#packedRefs()) if (ref.startsWith(prefix)) found.set(ref, oid);
    for (const ref of loose.filter(isRefName)) {
      const value = this.value(ref);
      if (value !== undefined) found.set(ref, value);
      else found.delete(ref);
    }
    return found;
  }

  lost(ref: string): MemoryError {
    const folder = folderOf(this.places, ref);
    const path = join(folder, ref);
    return new MemoryError('damaged', `The ref ${ref} cannot be read: ${path} has no commit id.`, {
      hint: `Delete that file, then set the ref with "git update-ref ${ref} <commit>". Its last commits are in ${join(folder, 'logs', ref)}.`,
      data: { ref, path },
    });
  }

  pseudoRefs(): ReadonlySet<string> {
    return noNames;
  }

  lastChange(refs: readonly string[]): number {
    const paths = refs.map((ref) => this.path(ref));
    paths.push(join(this.places.gitDir, 'logs/HEAD'));
    // A rename into place changes only the ctime.
    return Math.max(...paths.map((path) => this.files.lstat(path)?.ctimeMs ?? 0));
  }

  earlierValues(ref: string): Oid[] {
    const path = join(folderOf(this.places, ref), 'logs', ref);
    const stat = this.files.lstat(path);
    if (stat?.kind !== 'file' || stat.size > maxLog) return [];
    const lines = this.files.read(path)?.toString('latin1').trimEnd().split('\n') ?? [];
    const ids = lines.slice(-maxLogLines).map((line) => line.split(' ', 2).reverse());
    return idsIn(ids.reverse()).filter(isOid);
  }

  lockedFiles(branch: string | undefined): string[] {
    return withHead(branch).map((ref) => this.path(ref));
  }

  /** The file of a ref that is not packed. */
  path(ref: string): string {
    return join(folderOf(this.places, ref), ref);
  }

  /** Whether `packed-refs` has a ref. */
  isPacked(ref: string): boolean {
    return this.#packedRefs().has(ref);
  }

  strays(): StrayRef[] {
    return strayRefs(this.files, this.places.commonDir, (ref) => this.value(ref));
  }

  #loose(ref: string): string | undefined {
    const path = this.path(ref);
    try {
      return this.#textAt(path);
    } catch (error) {
      if (lookThrough(this.files, path)?.kind === 'directory') return undefined;
      throw error;
    }
  }

  /** The text of a ref. Of old, git stored a symbolic ref as a link to the name of its target. */
  #textAt(path: string): string | undefined {
    const loaded = this.files.load(path, maxRef);
    if (loaded === undefined || loaded.bytes) return loaded?.bytes?.toString('utf8').trim();
    const target = this.files.readlink(path);
    if (target !== undefined && isRefName(target)) return `ref: ${target}`;
    return this.files.read(path)?.toString('utf8').trim();
  }

  #packedRefs(): ReadonlyMap<string, Oid> {
    const path = join(this.places.commonDir, 'packed-refs');
    const stat = lookThrough(this.files, path);
    if (sameStat(stat, this.#packedStat)) return this.#packed;
    const refs = new Map<string, Oid>();
    for (const line of (this.files.read(path)?.toString('utf8') ?? '').split('\n')) {
      const end = line.indexOf(' ');
      const oid = line.slice(0, Math.max(end, 0));
      if (isOid(oid)) refs.set(line.slice(end + 1), oid);
    }
    this.#packed = refs;
    this.#packedStat = stat;
    return refs;
  }
}
