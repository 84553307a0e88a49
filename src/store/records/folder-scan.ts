import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type LoadedFile, type Stat, sameStat } from '../../git/disk/file-layer.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';
import type { RecordCache } from './record-cache.ts';
import {
  failed,
  isSettled,
  maxFileBytes,
  type RecordFile,
  readRecord,
  unopened,
} from './record-file.ts';
import { folderOf, join, nameOf } from './record-path.ts';
import type { SavedRecords } from './saved-records.ts';

/** How much of the disk a refresh looks at again; see `FolderScan.refresh`. */
export type Depth = 'folders' | 'names' | 'files';

/** Size limit of a changed file that is read at once, in bytes; a larger one is read on request. */
const maxPeekedBytes = 256 * 1024;
/** Files below more folders than this are ignored. */
export const maxDepth = 32;
/** Limit of the paths whose types stay in memory. */
const maxTyped = 20_000;

/** The stat of a folder that has to be listed again. */
const unknownFolder: Stat = {
  kind: 'directory',
  size: 0,
  mtimeMs: 0,
  ctimeMs: 0,
  ino: 0,
  mode: 0,
  links: 0,
};

/** A folder as it was when it was last listed. */
class FolderState {
  /** As in `RecordFile`. */
  readonly stat: Stat;
  readonly settled: boolean;
  readonly folders = new Set<string>();
  #files: Map<string, AnyRecordType> | undefined;
  /** The records of an earlier process; undefined once they are in `files`. */
  #saved: { readonly records: SavedRecords; readonly rows: Uint32Array } | undefined;

  constructor(
    stat: Stat,
    settled: boolean,
    saved?: { readonly records: SavedRecords; readonly rows: Uint32Array },
  ) {
    this.stat = stat;
    this.settled = settled;
    this.#saved = saved;
  }

  /** The rows of all its files, if they are as an earlier process has saved them. */
  get rows(): Uint32Array | undefined {
    return this.#saved?.rows;
  }

  /** The types of its files, by name. */
  get files(): Map<string, AnyRecordType> {
    if (this.#files) return this.#files;
    this.#files = new Map();
    const { records, rows = [] } = this.#saved ?? {};
    for (const row of rows) {
      const type = records?.typeAt(row);
      if (type) this.#files.set(nameOf(records?.paths[row] ?? ''), type);
    }
    this.#saved = undefined;
    return this.#files;
  }

  /** The number of entries. */
  get size(): number {
    return (this.rows?.length ?? this.files.size) + this.folders.size;
  }
}

/**
 * The folders and files of the memory as they were when the disk was last looked at.
 *
 * The rule for when the disk is looked at:
 * - A refresh takes the stat of every known folder, or of the paths it is given. A folder is listed
 *   again if its stat changed or was not settled; with the depth `files`, each known file also gets
 *   a stat.
 * - A look at one path always takes its stat. The file is read again if its stat changed or was not
 *   settled, or if its value was evicted.
 * - The folders and records of an earlier process count as known: the first refresh takes their stats.
 *   Their values come from that process unless the stat has changed.
 * - A file that no refresh or look has read is read when a caller first needs its value.
 * - Nothing else looks at the disk: everything between two looks is answered from the cache.
 */
export class FolderScan {
  readonly #folder: ReadFolder;
  readonly #types: readonly AnyRecordType[];
  readonly #cache: RecordCache;
  /** The types of paths: the records that texts name are compared with them again and again. */
  readonly #typed = new Map<string, AnyRecordType | undefined>();
  readonly #folders = new Map<string, FolderState>();
  /** Paths found by key before their folder was listed: no listing shows that they are gone. */
  readonly #found = new Set<string>();
  /** The records of an earlier process. */
  #saved: SavedRecords | undefined;
  /** During a refresh: 1 for each saved row whose file is as it was saved. */
  #compared: Uint8Array | undefined;

  constructor(folder: ReadFolder, types: readonly AnyRecordType[], cache: RecordCache) {
    this.#folder = folder;
    // Types with longer folders are tried first.
    this.#types = [...types].sort((a, b) => b.folder.length - a.folder.length);
    this.#cache = cache;
  }

  /**
   * Adds the folders and records that an earlier process has saved. A refresh has to follow, except for
   * those of a commit.
   *
   * @returns false, and adds nothing, if a folder is known already.
   */
  preload(saved: SavedRecords): boolean {
    if (this.#folders.size > 0) return false;
    const rows = saved.rowsByFolder();
    const folders = new Map<string, FolderState>();
    for (const [index, path] of saved.folders.entries()) {
      const stat = saved.folderStat(index);
      const own = { records: saved, rows: rows[index] ?? new Uint32Array() };
      folders.set(path, new FolderState(stat ?? unknownFolder, stat !== undefined, own));
    }
    for (const path of saved.folders) {
      if (path !== '') folders.get(folderOf(path))?.folders.add(nameOf(path));
    }
    this.#saved = saved;
    for (const [path, state] of folders) this.#folders.set(path, state);
    this.#cache.preload(saved);
    return true;
  }

  /** The type whose folder and file names a path fits. */
  typeOf(path: string): AnyRecordType | undefined {
    const known = this.#typed.get(path);
    if (known || this.#typed.has(path)) return known;
    const found = this.#types.find((type) => type.owns(path));
    this.#remember(path, found);
    return found;
  }

  #remember(path: string, type: AnyRecordType | undefined): void {
    if (this.#typed.size >= maxTyped) this.#typed.clear();
    this.#typed.set(path, type);
  }

  /** The type of the record file at a path, as of the last look. */
  typeAt(path: string): AnyRecordType | undefined {
    const known = this.#cache.get(path)?.type;
    return known ?? this.#folders.get(folderOf(path))?.files.get(nameOf(path));
  }

  /** Every known folder by path, the top one as `''`, with its stat at the last look. */
  folders(): ReadonlyMap<string, { readonly stat: Stat; readonly settled: boolean }> {
    return this.#folders;
  }

  /** The number of entries in a folder. */
  sizeOf(folder: string): number {
    return this.#folders.get(folder)?.size ?? 0;
  }

  /**
   * Looks at the disk again.
   *
   * @param depth `folders` finds files that were added or removed; `names` also those that were
   *   replaced; `files` also those that were changed in place.
   */
  refresh(depth: Depth): void {
    if (depth === 'files') this.#compare();
    try {
      this.#statFolder('', depth, 0);
    } finally {
      this.#compared = undefined;
    }
    for (const path of this.#found) this.read(path);
    this.#found.clear();
  }

  /** Looks again at some files and folders, and at all files directly in those folders. */
  refreshPaths(paths: Iterable<string>): void {
    for (const path of paths) {
      const state = this.#folders.get(path);
      if (!state && this.typeOf(path)) this.read(path);
      else this.#statFolder(path, 'names', 0);
      // If the folder was listed again, so were its files.
      if (state && this.#folders.get(path) === state) this.#statFiles(path);
    }
  }

  /** The record file at a path as it is now; undefined if there is none. */
  read(path: string): RecordFile | undefined {
    const type = this.#cache.get(path)?.type ?? this.typeOf(path);
    return type && this.#readFrom(path, type, () => toLoaded(this.#folder.stat(path)));
  }

  /** Takes the stat of a known file, and reads the file if it has changed. An unread file stays unread. */
  #statFile(path: string): void {
    const row = this.#saved?.rowOf(path) ?? -1;
    if (this.#isAsSaved(row)) return;
    const known = this.#cache.get(path);
    if (!known || (known.settled && this.#folder.has(path, known.stat))) return;
    const load = () => toLoaded(this.#folder.peek(path));
    this.#readFrom(path, known.type, load, maxPeekedBytes, 'stat');
  }

  /** Reads a file whose folder was listed in the same refresh: its links are not checked again. */
  readNear(path: string, type: AnyRecordType, limit = maxFileBytes): RecordFile | undefined {
    const known = this.#cache.filled(path, limit);
    if (known?.value) return known;
    // A known file may be unchanged; then its stat is enough.
    const load = known
      ? () => toLoaded(this.#folder.peek(path))
      : () => this.#folder.load(path, limit);
    return this.#readFrom(path, type, load, limit);
  }

  /**
   * The record in a file that was just loaded.
   *
   * @param since a time before it was loaded, as Unix time in milliseconds.
   */
  take(path: string, loaded: LoadedFile, since: number): RecordFile | undefined {
    const type = this.#cache.get(path)?.type ?? this.typeOf(path);
    return type && this.#readFrom(path, type, () => loaded, maxFileBytes, 'value', since);
  }

  #readFrom(
    path: string,
    type: AnyRecordType,
    load: () => LoadedFile | undefined,
    limit = maxFileBytes,
    wanted: 'value' | 'stat' = 'value',
    since = Date.now(),
  ): RecordFile | undefined {
    const known = this.#cache.get(path);
    let loaded: LoadedFile | undefined;
    try {
      loaded = load();
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      return this.#keep(failed(path, type, error));
    }
    if (loaded?.stat.kind === 'directory') {
      const error = new MemoryError(
        'damaged',
        'it is a folder, but a record file should be there',
        {
          hint: 'Move or rename the folder.',
        },
      );
      return this.#keep(failed(path, type, error));
    }
    if (loaded?.stat.kind !== 'file') {
      this.#forget(path);
      return undefined;
    }
    const current = known?.settled && sameStat(known.stat, loaded.stat);
    if (current && (known.value || known.error || wanted === 'stat')) return known;
    const filled = current ? this.#cache.filled(path) : undefined;
    if (filled?.value) return filled;
    if (loaded.stat.size > limit && loaded.stat.size <= maxFileBytes) {
      if (known && !current) this.#renew(known);
      const record = unopened(path, type, loaded.stat, isSettled(loaded.stat, since));
      this.#cache.keepUnopened(record);
      return record;
    }
    return this.#keep(readRecord(this.#folder, path, type, loaded, since));
  }

  #statFolder(folder: string, depth: Depth, level: number): void {
    const since = Date.now();
    const stat = level === 0 ? this.#folder.stat(folder) : this.#folder.peek(folder);
    const known = this.#folders.get(folder);
    if (stat?.kind !== 'directory' || level > maxDepth) {
      if (known) this.#forgetFolder(folder);
      return;
    }
    const current = known?.settled && sameStat(known.stat, stat);
    const state = current ? known : this.#list(folder, stat, isSettled(stat, since));
    for (const name of state.folders) this.#statFolder(join(folder, name), depth, level + 1);
    // Replacing a file keeps its name but changes the timestamp of the folder.
    if (depth === 'files' || (depth === 'names' && !current)) this.#statFiles(folder);
  }

  /** Takes the stats of the files directly in a folder. */
  #statFiles(folder: string): void {
    const state = this.#folders.get(folder);
    const { rows } = state ?? {};
    if (!rows) {
      for (const name of state?.files.keys() ?? []) this.#statFile(join(folder, name));
      return;
    }
    for (const row of rows)
      if (!this.#isAsSaved(row)) this.#statFile(this.#saved?.paths[row] ?? '');
  }

  /** Compares all files whose saved records were not needed yet. `#statFolder` checks their folders. */
  #compare(): void {
    const isWanted = (row: number) => this.#cache.isUntouched(row);
    this.#compared = this.#saved?.unchanged(isWanted);
  }

  /** Whether the file of a row is as it was saved, and its record was not needed yet. */
  #isAsSaved(row: number): boolean {
    if (!this.#cache.isUntouched(row)) return false;
    if (this.#compared) return this.#compared[row] === 1;
    const stat = this.#saved?.statAt(row);
    return stat !== undefined && this.#folder.has(this.#saved?.paths[row] ?? '', stat);
  }

  #list(folder: string, stat: Stat, settled: boolean): FolderState {
    const state = new FolderState(stat, settled);
    const { folders, files } = state;
    const known = this.#folders.get(folder);
    const types = this.#types.filter((type) => folder.startsWith(type.folder));
    const fresh: (readonly [type: AnyRecordType, path: string])[] = [];
    for (const { name, kind } of this.#folder.list(folder) ?? []) {
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      const before = known?.files.get(name);
      const type = before ?? types.find((type) => type.owns(path));
      if (type) this.#remember(path, type);
      if (kind === 'directory') folders.add(name);
      else if (type) {
        files.set(name, type);
        if (!before) fresh.push([type, path]);
      }
    }
    for (const name of known?.folders ?? []) {
      if (!folders.has(name)) this.#forgetFolder(join(folder, name));
    }
    for (const name of [...(known?.files.keys() ?? [])]) {
      if (!files.has(name)) this.#forget(join(folder, name));
    }
    this.#folders.set(folder, state);
    if (folder !== '') this.#folders.get(folderOf(folder))?.folders.add(nameOf(folder));
    for (const [type, path] of fresh) this.#cache.add(type, path);
    return state;
  }

  #keep(record: RecordFile): RecordFile {
    return this.#cache.keep(record, this.#addPath(record.type, record.path));
  }

  #forget(path: string): void {
    const type = this.#cache.get(path)?.type ?? this.typeOf(path);
    this.#folders.get(folderOf(path))?.files.delete(nameOf(path));
    this.#cache.forget(path, type);
  }

  /** Marks a changed record as not read yet. */
  #renew({ path, type }: RecordFile): void {
    this.#forget(path);
    this.#addPath(type, path);
    this.#cache.announce(path);
  }

  #forgetFolder(folder: string): void {
    const state = this.#folders.get(folder);
    if (!state) return;
    this.#folders.delete(folder);
    this.#folders.get(folderOf(folder))?.folders.delete(nameOf(folder));
    for (const name of state.files.keys()) this.#forget(join(folder, name));
    for (const name of state.folders) this.#forgetFolder(join(folder, name));
  }

  /** Adds the path of a record; false if it was known. */
  #addPath(type: AnyRecordType, path: string): boolean {
    if (!this.#cache.ownedBy(type).add(path)) return false;
    const folder = this.#folders.get(folderOf(path));
    if (folder) folder.files.set(nameOf(path), type);
    else this.#found.add(path);
    return true;
  }
}

function toLoaded(stat: Stat | undefined): LoadedFile | undefined {
  return stat && { stat };
}
