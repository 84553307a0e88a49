import type { ListOptions } from '../../core/memory/listing.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { LoadedFile, Stat } from '../../git/disk/file-layer.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';
import { logsOf } from '../layout/log-paths.ts';
import { type Depth, FolderScan } from './folder-scan.ts';
import { positionIn } from './owned-paths.ts';
import { RecordCache } from './record-cache.ts';
import type { RecordFile } from './record-file.ts';
import { join } from './record-path.ts';
import type { SavedRecords } from './saved-records.ts';
import { allAtOnce, type Steps } from './slices.ts';

/**
 * The records of the work tree as they are now, or of a commit.
 *
 * `FolderScan` has the rule for when the disk is looked at, `RecordCache` has the decoded records.
 */
export class LiveRecords {
  readonly #cache: RecordCache;
  readonly #scan: FolderScan;

  /** @param isTracked whether git has a file of the folder, as it has all of a commit. */
  constructor(
    folder: ReadFolder,
    types: readonly AnyRecordType[],
    isTracked: (path: string) => boolean = () => true,
  ) {
    this.#cache = new RecordCache(isTracked);
    this.#scan = new FolderScan(folder, types, this.#cache);
  }

  /**
   * Registers a callback for the path of each record that is new, changed or gone, and for the other
   * paths with its key: another one of them may count now.
   *
   * A new record is announced when its file is found, before it is read; `known` reads it.
   */
  onChange(listener: (path: string) => void): void {
    this.#cache.onChange(listener);
  }

  /** Adds the records of an earlier process; see `FolderScan.preload`. */
  preload(saved: SavedRecords): boolean {
    return this.#scan.preload(saved);
  }

  typeOf(path: string): AnyRecordType | undefined {
    return this.#scan.typeOf(path);
  }

  /** Looks at the disk again; see `FolderScan.refresh`. */
  refresh(depth: Depth): void {
    this.#scan.refresh(depth);
    this.#cache.announceTwins();
  }

  /** Looks again at some files and folders, and at all files directly in those folders. */
  refreshPaths(paths: Iterable<string>): void {
    // A log is read again when one of the files changes that it can be composed of.
    const all = new Set([...paths].flatMap((path) => [path, ...logsOf(path)]));
    this.#scan.refreshPaths(all);
    this.#cache.announceTwins();
  }

  /** Every known folder by path, the top one as `''`, with its stat at the last look. */
  folders(): ReadonlyMap<string, { readonly stat: Stat; readonly settled: boolean }> {
    return this.#scan.folders();
  }

  /**
   * Finds the record files and folders that do not have a known stat, as of the last look.
   *
   * @param isKnown whether a file or folder is known with this stat.
   */
  *changedFiles(isKnown: (path: string, stat: Stat) => boolean): Steps<string[]> {
    const changed: string[] = [];
    for (const [path, { stat }] of this.folders()) if (!isKnown(path, stat)) changed.push(path);
    for (const path of this.paths()) {
      const stat = this.#cache.statOf(path);
      if (!stat || !isKnown(path, stat)) changed.push(path);
      yield;
    }
    return changed;
  }

  /** The record file at a path as it is now; undefined when there is none. */
  read(path: string): RecordFile | undefined {
    return this.#scan.read(path);
  }

  /** The record file at a path as it was read last; undefined if it never was. */
  lastRead(path: string): RecordFile | undefined {
    return this.#cache.get(path);
  }

  /** All record files of a type, sorted by path, damaged ones included; as of the last refresh. */
  all(type: AnyRecordType): RecordFile[] {
    return allAtOnce(this.listing(type));
  }

  /** Like `all`, in steps. */
  *listing(type: AnyRecordType, options: ListOptions = {}): Steps<RecordFile[]> {
    const found: RecordFile[] = [];
    for (const path of yield* this.selecting(type, options)) {
      const record = this.#known(path, type);
      if (record) found.push(record);
      yield;
    }
    return found;
  }

  /** All record files of a type by path, most without their values; reads those that were never read. */
  *identifying(type: AnyRecordType): Steps<RecordFile[]> {
    const found: RecordFile[] = [];
    for (const path of yield* this.selecting(type)) {
      const known = this.#cache.get(path);
      const isRead = known?.key !== undefined || known?.error;
      const record = isRead ? known : this.#scan.readNear(path, type);
      if (record) found.push(record);
      yield;
    }
    return found;
  }

  /** The sorted paths of the record files that match the options of a list. */
  *selecting(
    type: AnyRecordType,
    { under = '', keys, ids }: ListOptions = {},
  ): Steps<readonly string[]> {
    if (keys || ids) yield* this.reading(type);
    const folder = join(type.folder, under);
    const prefix = folder === '' ? '' : `${folder}/`;
    const sorted =
      keys || ids ? this.#cache.named(type, keys, ids) : this.#cache.ownedBy(type).sorted();
    const start = positionIn(sorted, prefix);
    let end = start;
    while (sorted[end]?.startsWith(prefix)) end += 1;
    // A copy, because files may be added or removed between two steps.
    return sorted.slice(start, end);
  }

  /** Reads the files of a type that are not read yet, in steps. */
  *reading(type: AnyRecordType): Steps {
    for (const path of this.#cache.ownedBy(type).unread) {
      this.#scan.readNear(path, type);
      yield;
    }
  }

  /** The paths of the record files of a type, as of the last refresh. */
  pathsOf(type: AnyRecordType): Iterable<string> {
    return this.#cache.ownedBy(type).all;
  }

  /** The number of record files, as of the last refresh. */
  get count(): number {
    return this.#cache.count;
  }

  /** The paths of all record files, as of the last refresh. */
  paths(): string[] {
    return this.#cache.paths();
  }

  /** The paths where the record with a key may be, now or after it was created. */
  candidates(type: AnyRecordType, key: string): ReadonlySet<string> {
    return this.#cache.candidates(type, key);
  }

  /** The record with a key, at its last known path or at the path that follows from the key. */
  at(type: AnyRecordType, key: string): RecordFile | undefined {
    return this.#first(this.#cache.candidates(type, key), key);
  }

  /** The record with a key, also if a person has moved its file; as of the last refresh. */
  find(type: AnyRecordType, key: string): RecordFile | undefined {
    allAtOnce(this.reading(type));
    const path = this.#cache.winner(type, key);
    if (path !== undefined) return this.read(path);
    // An unreadable file at the path of the key may be that record.
    const owned = this.#cache.ownedBy(type);
    return this.#first(
      [...this.#cache.candidates(type, key)].filter((candidate) => owned.has(candidate)),
      key,
    );
  }

  #first(paths: Iterable<string>, key: string): RecordFile | undefined {
    for (const path of paths) {
      const record = this.read(path);
      if (record && (record.key === key || record.key === undefined)) return record;
    }
    return undefined;
  }

  /**
   * The record file at a path as of the last look; it is read if it never was or its value was
   * evicted.
   *
   * @param limit in bytes: a larger file that is not in memory is not read, and has no value.
   */
  known(path: string, limit?: number): RecordFile | undefined {
    // Most are in memory: a list asks for each of its records.
    const record = this.#cache.filled(path, limit);
    if (record?.value || record?.error) return record;
    const type = record?.type ?? this.#scan.typeAt(path);
    return type && this.#scan.readNear(path, type, limit);
  }

  /** The record in a file that was just loaded; see `FolderScan.take`. */
  take(path: string, loaded: LoadedFile, since: number): RecordFile | undefined {
    return this.#scan.take(path, loaded, since);
  }

  #known(path: string, type: AnyRecordType): RecordFile | undefined {
    const record = this.#cache.filled(path);
    return record?.value || record?.error ? record : this.#scan.readNear(path, type);
  }

  /** The files of a type that were read and are damaged, or whose key another file has. */
  broken(type: AnyRecordType): RecordFile[] {
    return this.#cache.broken(type).flatMap((path) => this.known(path) ?? []);
  }

  /** Whether several files of a type have the same key or id. */
  hasShared(type: AnyRecordType): boolean {
    return this.#cache.hasShared(type);
  }

  /** The path of the file with the same key that counts instead of this one; undefined if this one does. */
  shadowedBy(record: RecordFile): string | undefined {
    return this.#cache.shadowedBy(record);
  }

  /** The path of the file of which one that counts is a copy by its name; see `RecordCache.copyOf`. */
  copyOf(record: RecordFile): string | undefined {
    return this.#cache.copyOf(record);
  }

  /** The number of entries in a folder. */
  sizeOf(folder: string): number {
    return this.#scan.sizeOf(folder);
  }
}
