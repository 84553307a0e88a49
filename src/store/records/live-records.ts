import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../core/error.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import type { ListOptions } from '../../core/store.ts';
import { type LoadedFile, type Stat, sameStat } from '../../git/disk/file-layer.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';
import { fanOutPath } from './fan-out.ts';
import { NameIndex } from './name-index.ts';
import { OwnedPaths, placeIn } from './owned-paths.ts';
import {
  failed,
  isSettled,
  maxFileBytes,
  type RecordFile,
  readRecord,
  unopened,
} from './record-file.ts';
import { folderOf, join, nameOf } from './record-path.ts';
import { allAtOnce, type Steps } from './slices.ts';

/** How much of the disk a refresh looks at again. */
export type Depth = 'names' | 'files';

/** How much text the decoded records that stay in memory may come from. */
const maxKeptBytes = 64 * 1024 * 1024;
/** A file that has changed is read again only when it is asked for if it has more bytes. */
const maxPeekedBytes = 256 * 1024;
/** Files below more folders than this are not looked for. */
export const maxDepth = 32;

interface FolderState {
  /** When it was last listed, as of a record. */
  readonly stat: Stat;
  readonly settled: boolean;
  readonly folders: Set<string>;
  readonly files: Map<string, AnyRecordType>;
}

/**
 * The records of the work tree as they are now, or of a commit.
 *
 * Everything is taken from the files and remembered under their state on disk; an edit or a checkout
 * by anybody shows in that state, and so in the next answer.
 */
export class LiveRecords {
  readonly #folder: ReadFolder;
  readonly #types: readonly AnyRecordType[];
  readonly #folders = new Map<string, FolderState>();
  readonly #records = new Map<string, RecordFile>();
  /** The paths of the records by key and, for types that have them, by id. */
  readonly #keys = new NameIndex();
  readonly #ids = new NameIndex();
  readonly #owned = new Map<AnyRecordType, OwnedPaths>();
  /** Paths that were found by key before anybody looked into their folder: it does not miss them. */
  readonly #found = new Set<string>();
  readonly #listeners = new Set<(path: string) => void>();
  #kept = 0;

  constructor(folder: ReadFolder, types: readonly AnyRecordType[]) {
    this.#folder = folder;
    // Whose folder it is is asked first; the bank's own is the shortest, and takes a closer look.
    this.#types = [...types].sort((a, b) => b.folder.length - a.folder.length);
  }

  /**
   * Calls back with the path of each record that is new, changed or gone, and of those with the same
   * key: another one of them may count.
   *
   * A new record is announced when its file is found, before anybody reads it: whoever wants it asks
   * `known` for it.
   */
  onChange(listener: (path: string) => void): void {
    this.#listeners.add(listener);
  }

  typeOf(path: string): AnyRecordType | undefined {
    return this.#types.find((type) => type.owns(path));
  }

  /**
   * Looks at the disk again.
   *
   * @param depth `names` finds files that came, went or were replaced; `files` also those that were
   *   changed in place.
   */
  refresh(depth: Depth): void {
    this.#visit('', depth, 0);
    for (const path of this.#found) this.look(path);
    this.#found.clear();
  }

  /** Looks again at some files and folders, and at all files directly in those folders. */
  refreshPaths(paths: Iterable<string>): void {
    for (const path of paths) {
      const state = this.#folders.get(path);
      if (!state && this.typeOf(path)) this.look(path);
      else this.#visit(path, 'names', 0);
      for (const name of state ? (this.#folders.get(path)?.files.keys() ?? []) : []) {
        this.#peek(join(path, name));
      }
    }
  }

  /** Every folder that is known, the bank's own as `''`, as it was when it was last looked at. */
  folders(): ReadonlyMap<string, { readonly stat: Stat }> {
    return this.#folders;
  }

  /** The record file at a path as it is now; undefined when there is none. */
  look(path: string): RecordFile | undefined {
    const type = this.#records.get(path)?.type ?? this.typeOf(path);
    return type && this.#look(path, type, () => toLoaded(this.#folder.stat(path)));
  }

  #look(
    path: string,
    type: AnyRecordType,
    load: () => LoadedFile | undefined,
    limit = maxFileBytes,
  ): RecordFile | undefined {
    const known = this.#records.get(path);
    const since = Date.now();
    let loaded: LoadedFile | undefined;
    try {
      loaded = load();
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      return this.#keep(failed(path, type, error));
    }
    if (loaded?.stat.kind === 'directory') {
      const error = new MemoryError('damaged', 'it is a folder where a record should be', {
        hint: 'Move it out of the way.',
      });
      return this.#keep(failed(path, type, error));
    }
    if (loaded?.stat.kind !== 'file') {
      this.#forget(path);
      return undefined;
    }
    const current = known?.settled && sameStat(known.stat, loaded.stat);
    if (current && (known.value || known.error)) return known;
    if (loaded.stat.size > limit && loaded.stat.size <= maxFileBytes) {
      if (known && !current) this.#renew(known);
      const record = unopened(path, type, loaded.stat, isSettled(loaded.stat, since));
      // Kept, so that a change of it is noticed although it was never read.
      if (!this.#records.has(path)) this.#records.set(path, record);
      return record;
    }
    return this.#keep(readRecord(this.#folder, path, type, loaded, since));
  }

  /** All record files of a type by path, as the last refresh left them; damaged ones among them. */
  all(type: AnyRecordType, options?: ListOptions): RecordFile[] {
    return allAtOnce(this.listing(type, options));
  }

  /** The same in steps. */
  *listing(type: AnyRecordType, options: ListOptions = {}): Steps<RecordFile[]> {
    const found: RecordFile[] = [];
    for (const path of yield* this.selecting(type, options)) {
      const record = this.#known(path, type);
      if (record) found.push(record);
      yield;
    }
    return found;
  }

  /** The paths of the record files that a list with these options is about, sorted. */
  *selecting(
    type: AnyRecordType,
    { under = '', keys, ids }: ListOptions = {},
  ): Steps<readonly string[]> {
    if (keys || ids) yield* this.reading(type);
    const folder = join(type.folder, under);
    const prefix = folder === '' ? '' : `${folder}/`;
    const sorted = keys || ids ? this.#named(type, keys, ids) : this.#ownedBy(type).sorted();
    const start = placeIn(sorted, prefix);
    let end = start;
    while (sorted[end]?.startsWith(prefix)) end += 1;
    // A copy: what comes or goes between two steps must not move the others.
    return sorted.slice(start, end);
  }

  /** Reads what was not read yet, in steps. */
  *reading(type: AnyRecordType): Steps {
    for (const path of this.#ownedBy(type).unread) {
      this.#lookNear(path, type);
      yield;
    }
  }

  /** The paths of the record files of a type, as the last refresh left them. */
  pathsOf(type: AnyRecordType): Iterable<string> {
    return this.#ownedBy(type).seen;
  }

  /** The paths of all record files, as the last refresh left them. */
  paths(): string[] {
    return [...this.#owned.values()].flatMap(({ seen }) => [...seen]);
  }

  /** The record with a key, at the place where it was last or where its key puts it. */
  at(type: AnyRecordType, key: string): RecordFile | undefined {
    return this.#first(this.#places(type, key), key);
  }

  /** The record with a key, wherever a person has moved it to; as of the last refresh. */
  find(type: AnyRecordType, key: string): RecordFile | undefined {
    allAtOnce(this.reading(type));
    const path = this.#winner(type, key);
    if (path !== undefined) return this.look(path);
    // What cannot be read in the place of the key may be it.
    const { seen } = this.#ownedBy(type);
    return this.#first(
      [...this.#places(type, key)].filter((place) => seen.has(place)),
      key,
    );
  }

  #first(places: Iterable<string>, key: string): RecordFile | undefined {
    for (const path of places) {
      const record = this.look(path);
      if (record && (record.key === key || record.key === undefined)) return record;
    }
    return undefined;
  }

  /** The paths of the records with these keys or ids, or of what lies in the place of a key. */
  #named(
    type: AnyRecordType,
    keys: readonly string[] = [],
    ids: readonly string[] = [],
  ): readonly string[] {
    const { seen } = this.#ownedBy(type);
    const paths = new Set<string>();
    for (const key of keys) {
      for (const path of this.#keys.paths(type, key)) paths.add(path);
      for (const path of this.#places(type, key)) if (seen.has(path)) paths.add(path);
    }
    for (const id of ids) for (const path of this.#ids.paths(type, id)) paths.add(path);
    return [...paths].sort();
  }

  /** The path that counts among several files with the same key: the first by name. */
  #winner(type: AnyRecordType, key: string): string | undefined {
    return this.#keys.paths(type, key)[0];
  }

  /**
   * The record file at a path as the last look left it, read if it was not yet or its value was let
   * go.
   *
   * @param limit in bytes: a larger file that is not in memory is not read, and comes without a value.
   */
  known(path: string, limit?: number): RecordFile | undefined {
    const folder = this.#folders.get(folderOf(path));
    const type = this.#records.get(path)?.type ?? folder?.files.get(nameOf(path));
    return type && this.#known(path, type, limit);
  }

  #known(path: string, type: AnyRecordType, limit?: number): RecordFile | undefined {
    const record = this.#records.get(path);
    return record?.value || record?.error ? record : this.#lookNear(path, type, limit);
  }

  /** The files of a type that were read and are damaged, or whose key another file has. */
  broken(type: AnyRecordType): RecordFile[] {
    const paths = new Set([...this.#ownedBy(type).damaged, ...this.#keys.shadowed(type)]);
    return [...paths].sort().flatMap((path) => this.known(path) ?? []);
  }

  /** Whether another file with the same key comes first. */
  shadowedBy(record: RecordFile): string | undefined {
    if (record.key === undefined) return undefined;
    const [winner] = this.#keys.shared(record.type, record.key);
    return winner === record.path ? undefined : winner;
  }

  /** How many entries a folder has. */
  sizeOf(folder: string): number {
    const state = this.#folders.get(folder);
    return state ? state.files.size + state.folders.size : 0;
  }

  #places(type: AnyRecordType, key: string): Set<string> {
    const places = new Set<string>();
    const known = this.#winner(type, key);
    if (known !== undefined) places.add(known);
    const located = type.locate?.(key);
    if (located !== undefined) {
      places.add(located);
      if (type.fanOut) places.add(fanOutPath(located));
    }
    return places;
  }

  /** A file in a folder that was just looked at. What was never read stays unread. */
  #peek(path: string): void {
    const known = this.#records.get(path);
    if (known) this.#lookNear(path, known.type, maxPeekedBytes);
  }

  #lookNear(path: string, type: AnyRecordType, limit = maxFileBytes): RecordFile | undefined {
    // What is known may be unchanged, and need not be read.
    const load = this.#records.has(path)
      ? () => toLoaded(this.#folder.peek(path))
      : () => this.#folder.load(path, limit);
    return this.#look(path, type, load, limit);
  }

  #visit(folder: string, depth: Depth, level: number): void {
    const since = Date.now();
    const stat = level === 0 ? this.#folder.stat(folder) : this.#folder.peek(folder);
    const known = this.#folders.get(folder);
    if (stat?.kind !== 'directory' || level > maxDepth) {
      if (known) this.#forgetFolder(folder);
      return;
    }
    const current = known?.settled && sameStat(known.stat, stat);
    const state = current ? known : this.#list(folder, stat, isSettled(stat, since));
    for (const name of state.folders) this.#visit(join(folder, name), depth, level + 1);
    if (depth === 'files') for (const name of state.files.keys()) this.#peek(join(folder, name));
  }

  #list(folder: string, stat: Stat, settled: boolean): FolderState {
    const folders = new Set<string>();
    const files = new Map<string, AnyRecordType>();
    const known = this.#folders.get(folder);
    const types = this.#types.filter((type) => folder.startsWith(type.folder));
    const again: string[] = [];
    const fresh: (readonly [type: AnyRecordType, path: string])[] = [];
    for (const { name, kind } of this.#folder.list(folder) ?? []) {
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      const before = known?.files.get(name);
      const type = before ?? types.find((type) => type.owns(path));
      if (kind === 'directory') folders.add(name);
      else if (type) {
        files.set(name, type);
        if (before) again.push(path);
        else fresh.push([type, path]);
      }
    }
    for (const name of known?.folders ?? []) {
      if (!folders.has(name)) this.#forgetFolder(join(folder, name));
    }
    for (const name of [...(known?.files.keys() ?? [])]) {
      if (!files.has(name)) this.#forget(join(folder, name));
    }
    const state = { stat, settled, folders, files };
    this.#folders.set(folder, state);
    if (folder !== '') this.#folders.get(folderOf(folder))?.folders.add(nameOf(folder));
    // A file that was replaced kept its name and moved the folder's time.
    for (const path of again) this.#peek(path);
    for (const [type, path] of fresh) if (this.#ownedBy(type).add(path)) this.#announce([path]);
    return state;
  }

  #keep(record: RecordFile): RecordFile {
    const known = this.#records.get(record.path);
    if (known?.value) this.#kept -= known.bytes;
    const twins = this.#keys.set(record.type, record.path, known?.key, record.key);
    this.#ids.set(record.type, record.path, known?.id, record.id);
    const found = this.#addPath(record.type, record.path);
    const { unread, damaged } = this.#ownedBy(record.type);
    unread.delete(record.path);
    if (record.error) damaged.add(record.path);
    else damaged.delete(record.path);
    // The one that was read last stands last.
    if (known) this.#records.delete(record.path);
    this.#records.set(record.path, record);
    this.#kept += record.bytes;
    const changed = known ? !isSame(known, record) : found;
    this.#announce(changed ? [record.path, ...twins] : twins);
    if (this.#kept > maxKeptBytes) this.#drop();
    return record;
  }

  /** Lets the values go that were read longest ago, down to half of what may stay. */
  #drop(): void {
    for (const [path, record] of this.#records) {
      if (this.#kept <= maxKeptBytes / 2) return;
      if (!record.value) continue;
      this.#records.set(path, { ...record, value: undefined });
      this.#kept -= record.bytes;
    }
  }

  #forget(path: string): void {
    const known = this.#records.get(path);
    const type = known?.type ?? this.typeOf(path);
    if (type) this.#ownedBy(type).delete(path);
    this.#folders.get(folderOf(path))?.files.delete(nameOf(path));
    if (!known) return;
    if (known.value) this.#kept -= known.bytes;
    const twins = this.#keys.set(known.type, path, known.key, undefined);
    this.#ids.set(known.type, path, known.id, undefined);
    this.#records.delete(path);
    this.#announce([path, ...twins]);
  }

  /** Makes a record that has changed one that is not read yet. */
  #renew({ path, type }: RecordFile): void {
    this.#forget(path);
    this.#addPath(type, path);
    this.#announce([path]);
  }

  #announce(paths: readonly string[]): void {
    for (const listener of this.#listeners) for (const path of paths) listener(path);
  }

  #forgetFolder(folder: string): void {
    const state = this.#folders.get(folder);
    if (!state) return;
    this.#folders.delete(folder);
    this.#folders.get(folderOf(folder))?.folders.delete(nameOf(folder));
    for (const name of state.files.keys()) this.#forget(join(folder, name));
    for (const name of state.folders) this.#forgetFolder(join(folder, name));
  }

  /** Takes in the path of a record that was read; false when it was found before. */
  #addPath(type: AnyRecordType, path: string): boolean {
    if (!this.#ownedBy(type).add(path)) return false;
    const folder = this.#folders.get(folderOf(path));
    if (folder) folder.files.set(nameOf(path), type);
    else this.#found.add(path);
    return true;
  }

  #ownedBy(type: AnyRecordType): OwnedPaths {
    let owned = this.#owned.get(type);
    if (!owned) {
      owned = new OwnedPaths();
      this.#owned.set(type, owned);
    }
    return owned;
  }
}

/** Whether a record that was read again is what it was: until it is settled, its times tell nothing. */
function isSame(before: RecordFile, after: RecordFile): boolean {
  if (!sameStat(before.stat, after.stat)) return false;
  return before.settled || isDeepStrictEqual(before.value, after.value);
}

function toLoaded(stat: Stat | undefined): LoadedFile | undefined {
  return stat && { stat };
}
