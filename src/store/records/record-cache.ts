import { isDeepStrictEqual } from 'node:util';
import { metadataOf } from '../../core/record/metadata-text.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import { byRank, copiedFrom } from './copied-file.ts';
import { fanOutPath } from './fan-out.ts';
import { NameIndex } from './name-index.ts';
import { OwnedPaths } from './owned-paths.ts';
import type { RecordFile } from './record-file.ts';
import type { SavedRecords } from './saved-records.ts';

/** Cache limit: total source bytes of the decoded records kept in memory. */
const maxKeptBytes = 64 * 1024 * 1024;

/**
 * The decoded records of one folder, with their paths by type, key and id. It never reads the disk.
 *
 * Beyond its limit it evicts the values that were read longest ago, but not the rest of their records.
 */
export class RecordCache {
  readonly #records = new Map<string, RecordFile>();
  /** The paths of the records by key and, for types that have them, by id. */
  readonly #keys = new NameIndex();
  readonly #ids = new NameIndex();
  readonly #owned = new Map<AnyRecordType, OwnedPaths>();
  readonly #listeners = new Set<(path: string) => void>();
  /** The records of an earlier process; each is taken over when it is first needed. */
  #saved: SavedRecords | undefined;
  /** Whether the record of a row is in `#records`, or gone. */
  #taken = new Uint8Array();
  #kept = 0;
  readonly #isTracked: (path: string) => boolean;
  /** The file that counted for each key of several files, at the last `announceTwins`. */
  readonly #counted = new Map<AnyRecordType, ReadonlyMap<string, string | undefined>>();

  /** @param isTracked whether git has a file; asked only for several files of one key. */
  constructor(isTracked: (path: string) => boolean) {
    this.#isTracked = isTracked;
  }

  /** Registers a callback; see `LiveRecords.onChange`. */
  onChange(listener: (path: string) => void): void {
    this.#listeners.add(listener);
  }

  get(path: string): RecordFile | undefined {
    return this.#records.get(path) ?? this.#take(path);
  }

  /** The stat of a file at the last look; undefined for one that was not read. */
  statOf(path: string): Stat | undefined {
    const known = this.#records.get(path);
    if (known) return known.stat;
    const row = this.#saved?.rowOf(path) ?? -1;
    return this.isUntouched(row) ? this.#saved?.statAt(row) : undefined;
  }

  /** Takes over a record of an earlier process. */
  #take(path: string): RecordFile | undefined {
    const row = this.#saved?.rowOf(path) ?? -1;
    const record = this.isUntouched(row) ? this.#saved?.record(row) : undefined;
    if (!record) return undefined;
    this.#taken[row] = 1;
    this.#records.set(path, record);
    return record;
  }

  /**
   * Like `get`, but with the value of the record if an earlier process has saved it.
   *
   * @param limit in bytes: the saved value of a larger file is not read.
   */
  filled(path: string, limit = Number.POSITIVE_INFINITY): RecordFile | undefined {
    const known = this.#records.get(path);
    if (known?.value || known?.error || !this.#saved) return known;
    // One that is not taken over yet becomes one object at once: a list needs thousands of them.
    const row = known ? known.row : this.#saved.rowOf(path);
    if (row === undefined || !(known || this.isUntouched(row))) return known;
    const value = this.#saved.bytesAt(row) <= limit ? this.#saved.value(row) : undefined;
    const record = value && (known ? { ...known, value } : this.#saved.record(row, value));
    if (!record) return this.get(path);
    this.#taken[row] = 1;
    // Keeps the map in the order of reading, oldest first.
    if (known) this.#records.delete(path);
    this.#records.set(path, record);
    this.#kept += record.bytes;
    if (this.#kept > maxKeptBytes) this.#evict();
    return record;
  }

  /** Whether the record of a row is as an earlier process has saved it; false for no row. */
  isUntouched(row: number): boolean {
    return this.#taken[row] === 0;
  }

  /** The paths of the record files of a type. */
  ownedBy(type: AnyRecordType): OwnedPaths {
    let owned = this.#owned.get(type);
    if (!owned) {
      owned = new OwnedPaths();
      this.#owned.set(type, owned);
    }
    return owned;
  }

  /** The number of record files. */
  get count(): number {
    let count = 0;
    for (const { size } of this.#owned.values()) count += size;
    return count;
  }

  /** The paths of all record files. */
  paths(): string[] {
    return [...this.#owned.values()].flatMap(({ all }) => [...all]);
  }

  /** Adds the path of a file that is not read yet, and announces it if it is new. */
  add(type: AnyRecordType, path: string): void {
    if (this.ownedBy(type).add(path)) this.#announce([path]);
  }

  /**
   * Keeps a record that was just read.
   *
   * @param isNew whether its path was unknown until now.
   */
  keep(record: RecordFile, isNew: boolean): RecordFile {
    const known = this.get(record.path);
    if (known?.value) this.#kept -= known.bytes;
    const twins = this.#keys.set(record.type, record.path, known?.key, record.key);
    this.#ids.set(record.type, record.path, known?.id, record.id);
    const { unread, damaged } = this.ownedBy(record.type);
    unread.delete(record.path);
    if (record.error) damaged.add(record.path);
    else damaged.delete(record.path);
    // Keeps the map in the order of reading, oldest first.
    if (known) this.#records.delete(record.path);
    this.#records.set(record.path, record);
    this.#kept += record.bytes;
    const changed = known ? !isSame(known, record) : isNew;
    this.#announce(changed ? [record.path, ...twins] : twins);
    if (this.#kept > maxKeptBytes) this.#evict();
    return record;
  }

  /**
   * Adds the records of an earlier process, without their values. Announces only a record that was
   * read in the meantime and has changed since.
   */
  preload(saved: SavedRecords): void {
    this.#taken = new Uint8Array(saved.paths.length);
    const types = saved.ownedTypes();
    const known = new Set<string>();
    const changed: string[] = [];
    for (const [path, { type, stat, settled }] of this.#records) {
      const row = saved.rowOf(path);
      const before = row < 0 ? undefined : saved.statAt(row);
      known.add(path);
      if (row < 0) continue;
      this.#taken[row] = 1;
      const owned = types.get(type);
      if (owned) owned.count -= 1;
      if (before && (!settled || !sameStat(stat, before))) changed.push(path);
    }
    this.#saved = saved;
    for (const [type, { count, shared }] of types) {
      this.ownedBy(type).preload(count, saved.pathsOf(type));
      this.#keys.preload(type, shared, saved.keysOf(type, known));
      this.#ids.preload(type, shared, saved.idsOf(type, known));
    }
    for (const row of saved.unread) {
      const type = this.isUntouched(row) ? saved.typeAt(row) : undefined;
      if (type) this.ownedBy(type).unread.add(saved.paths[row] ?? '');
    }
    this.#announce(changed);
  }

  /** Keeps the stat of a file that is too large to read now, so that a later change is noticed. */
  keepUnopened(record: RecordFile): void {
    if (!this.get(record.path)) this.#records.set(record.path, record);
  }

  /** Removes a file that is gone, and announces it if its record was read. */
  forget(path: string, type: AnyRecordType | undefined): void {
    const known = this.get(path);
    if (type) this.ownedBy(type).delete(path);
    if (!known) return;
    if (known.value) this.#kept -= known.bytes;
    const twins = this.#keys.set(known.type, path, known.key, undefined);
    this.#ids.set(known.type, path, known.id, undefined);
    this.#records.delete(path);
    this.#announce([path, ...twins]);
  }

  /** Announces a record that changed and is not read again yet. */
  announce(path: string): void {
    this.#announce([path]);
  }

  /** The paths where the record with a key may be: where it was last, and where its key can put it. */
  candidates(type: AnyRecordType, key: string): Set<string> {
    const paths = new Set<string>();
    const known = this.winner(type, key);
    if (known !== undefined) paths.add(known);
    for (const located of type.locate?.(key) ?? []) {
      paths.add(located);
      if (type.fanOut) paths.add(fanOutPath(located));
    }
    return paths;
  }

  /** The paths of the records with these keys or ids, or of the file at the path of a key. */
  named(
    type: AnyRecordType,
    keys: readonly string[] = [],
    ids: readonly string[] = [],
  ): readonly string[] {
    const owned = this.ownedBy(type);
    const paths = new Set<string>();
    for (const key of keys) {
      for (const path of this.#keys.paths(type, key)) paths.add(path);
      for (const path of this.candidates(type, key)) if (owned.has(path)) paths.add(path);
    }
    for (const id of ids) for (const path of this.#ids.paths(type, id)) paths.add(path);
    return [...paths].sort();
  }

  /** The path that counts among several files with the same key; see `byRank`. */
  winner(type: AnyRecordType, key: string): string | undefined {
    return byRank(this.#keys.paths(type, key), type, key, this.#isTracked)[0];
  }

  /**
   * Announces the files of each key for which another one counts than at the last call: git may have
   * got or lost one of them, and no file has changed.
   */
  announceTwins(): void {
    for (const type of this.#owned.keys()) {
      const before = this.#counted.get(type);
      const counted = new Map<string, string | undefined>();
      for (const key of this.#keys.sharedNames(type)) {
        const path = this.winner(type, key);
        counted.set(key, path);
        if (path !== before?.get(key)) this.#announce(this.#keys.paths(type, key));
      }
      this.#counted.set(type, counted);
    }
  }

  /** The paths of the damaged files of a type, and of those whose key another file counts for. */
  broken(type: AnyRecordType): string[] {
    const shadowed = [...this.#keys.sharedNames(type)].flatMap((key) =>
      byRank(this.#keys.paths(type, key), type, key, this.#isTracked).slice(1),
    );
    return [...new Set([...this.ownedBy(type).damaged, ...shadowed])].sort();
  }

  /** Whether several files of a type have the same key or id. */
  hasShared(type: AnyRecordType): boolean {
    return [this.#keys, this.#ids].some((names) => names.sharedNames(type).size > 0);
  }

  /** The path of the file with the same key that counts instead of this one; undefined if this one does. */
  shadowedBy({ type, key, path }: RecordFile): string | undefined {
    if (key === undefined) return undefined;
    const [winner] = byRank(this.#keys.shared(type, key), type, key, this.#isTracked);
    return winner === path ? undefined : winner;
  }

  /**
   * The path of the file of which one that counts is a copy by its name, for a type whose paths are keys;
   * undefined if git has the copy, or does not have the other one.
   */
  copyOf({ type, key, path }: RecordFile): string | undefined {
    const original = copiedFrom(path);
    if (original === undefined || key === undefined || !this.ownedBy(type).has(original)) {
      return undefined;
    }
    // Another key in the file makes it a record of its own.
    if (!type.locate?.(key).includes(path)) return undefined;
    return !this.#isTracked(path) && this.#isTracked(original) ? original : undefined;
  }

  /** Evicts the values that were read longest ago, down to half of the limit. */
  #evict(): void {
    for (const [path, record] of this.#records) {
      if (this.#kept <= maxKeptBytes / 2) return;
      if (!record.value) continue;
      this.#records.set(path, { ...record, value: undefined });
      this.#kept -= record.bytes;
    }
  }

  #announce(paths: readonly string[]): void {
    for (const listener of this.#listeners) for (const path of paths) listener(path);
  }
}

/** Whether a record that was read again is unchanged; an unsettled stat alone does not prove it. */
function isSame(before: RecordFile, after: RecordFile): boolean {
  if (!sameStat(before.stat, after.stat)) return false;
  if (before.settled) return true;
  const texts = [before, after].map(({ value }) => value && metadataOf(value));
  return texts[0] === texts[1] && isDeepStrictEqual(before.value, after.value);
}
