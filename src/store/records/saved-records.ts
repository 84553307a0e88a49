import { inflateRawSync } from 'node:zlib';
import { setMetadata } from '../../core/record/metadata-text.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { type Stat, statSize } from '../../git/disk/file-layer.ts';
import type { Folder } from '../../git/disk/folder.ts';
import type { SectionFile } from '../derived/section-file.ts';
import type { EarlierNames } from './name-index.ts';
import { type EarlierPaths, positionIn } from './owned-paths.ts';
import type { RecordFile } from './record-file.ts';
import { savedSections, typeMark } from './saved-layout.ts';
import { sizeAt, toStat } from './saved-stat.ts';

/** Total length of the values that are compressed together. */
export const blockLength = 16 * 1024;
/** A longer value is not saved: its record is read again. */
export const maxValueLength = 256 * 1024;

/** The texts of the saved records, other than those of each record. */
export interface SavedNames {
  /** The `typeMark` of each record type. */
  readonly types: readonly string[];
  /** Indexes of the types that have several files with the same key or id. */
  readonly shared: readonly number[];
  readonly folders: readonly string[];
}

/** The keys and ids of the saved records; null for none. */
export type SavedKeys = readonly [
  keys: readonly (string | null)[],
  ids: readonly (string | null)[],
];

/** The tables of the saved records. */
interface Tables {
  /** The index of the type of each row. */
  readonly typeOf: Uint8Array;
  /** The index of the folder of each row. */
  readonly folderOf: Uint32Array;
  /** When each record was created, as Unix time in milliseconds; not a number if it has no such time. */
  readonly created: Float64Array;
  readonly stats: Float64Array;
  readonly folderStats: Float64Array;
  /** The first row of each block, and the offset of the block. */
  readonly blocks: Uint32Array;
  readonly values: Uint8Array;
}

/**
 * The records as an earlier process has read them, with the stat of each file at that time.
 *
 * A caller compares the stat before it uses a record, unless it is one of a commit. A stat that was not
 * settled is not saved.
 */
export class SavedRecords {
  /** Sorted; the row of a record is its place here. */
  readonly paths: readonly string[];
  readonly folders: readonly string[];
  /** The rows whose files have to be read again, whatever their stat is. */
  readonly unread: readonly number[];
  /** The total size of the files of all other rows. */
  readonly bytes: number;
  readonly #file: SectionFile;
  readonly #types: readonly AnyRecordType[];
  readonly #shared: readonly number[];
  readonly #tables: Tables;
  readonly #disk: Folder | undefined;
  /** The keys and ids, from when they are first needed. */
  #keys: SavedKeys | undefined;
  /** The row after the one that was found last. */
  #next = 0;
  /** The block that was read last. */
  #open: { readonly block: number; readonly lines: readonly string[] } | undefined;

  private constructor(
    file: SectionFile,
    { folders, shared }: SavedNames,
    paths: readonly string[],
    types: readonly AnyRecordType[],
    tables: Tables,
    disk: Folder | undefined,
  ) {
    this.#file = file;
    this.paths = paths;
    this.folders = folders;
    this.#types = types;
    this.#shared = shared;
    this.#tables = tables;
    this.#disk = disk;
    const unread: number[] = [];
    let bytes = 0;
    for (let row = 0; row < paths.length; row++) {
      const size = sizeAt(tables.stats, row);
      if (size === undefined) unread.push(row);
      else bytes += size;
    }
    this.unread = unread;
    this.bytes = bytes;
  }

  /**
   * Reads the records of a file; undefined if they are damaged.
   *
   * @param disk the memory, whose files will be compared; undefined for that of a commit.
   */
  static read(
    file: SectionFile,
    known: readonly AnyRecordType[],
    disk: Folder | undefined,
  ): SavedRecords | undefined {
    const names = toNames(file.json(savedSections.names));
    const paths = file.json(savedSections.paths);
    if (!names?.folders.every(isInside) || !isTexts(paths)) return undefined;
    const count = paths.length;
    const typeOf = file.section(savedSections.types);
    const folderOf = file.integers(savedSections.folderOf, count);
    const created = file.floats(savedSections.created, count);
    const stats = file.floats(savedSections.stats, statSize * count);
    const folderStats = file.floats(savedSections.folders, statSize * names.folders.length);
    const starts = file.section(savedSections.blocks);
    const blocks = starts && file.integers(savedSections.blocks, starts.length >>> 2);
    const values = file.section(savedSections.values);
    // The keys are decoded later.
    if (typeOf?.length !== count || !folderOf || !file.section(savedSections.keys))
      return undefined;
    if (!created || !stats || !folderStats || !blocks || !values) return undefined;
    const types = names.types.flatMap(
      (name) => known.find((type) => typeMark(type) === name) ?? [],
    );
    if (types.length !== names.types.length) return undefined;
    for (let row = 0; row < count; row++) {
      const path = paths[row] ?? '';
      if (!isIn(names.folders[folderOf[row] ?? -1], path)) return undefined;
      if (!types[typeOf[row] ?? -1]?.owns(path)) return undefined;
    }
    const tables = { typeOf, folderOf, created, stats, folderStats, blocks, values };
    return new SavedRecords(file, names, paths, types, tables, disk);
  }

  /** The row of a path; -1 if there is none. */
  rowOf(path: string): number {
    // Most callers ask for one path after the other.
    if (this.paths[this.#next] === path) return this.#next++;
    const row = positionIn(this.paths, path);
    if (this.paths[row] !== path) return -1;
    this.#next = row + 1;
    return row;
  }

  /** The rows of the files directly in each folder, by folder. */
  rowsByFolder(): readonly Uint32Array[] {
    const counts = new Uint32Array(this.folders.length);
    const { folderOf } = this.#tables;
    for (const folder of folderOf) counts[folder] = (counts[folder] ?? 0) + 1;
    const rows = Array.from(counts, (count) => new Uint32Array(count));
    counts.fill(0);
    for (let row = 0; row < folderOf.length; row++) {
      const folder = folderOf[row] as number;
      const at = counts[folder] as number;
      (rows[folder] as Uint32Array)[at] = row;
      counts[folder] = at + 1;
    }
    return rows;
  }

  /** The records of each type: how many there are, and whether several have the same key or id. */
  ownedTypes(): Map<AnyRecordType, { count: number; readonly shared: boolean }> {
    const counts = new Uint32Array(this.#types.length);
    for (const type of this.#tables.typeOf) counts[type] = (counts[type] ?? 0) + 1;
    const owned = new Map<AnyRecordType, { count: number; readonly shared: boolean }>();
    for (const [index, type] of this.#types.entries()) {
      const count = counts[index] ?? 0;
      if (count > 0) owned.set(type, { count, shared: this.#shared.includes(index) });
    }
    return owned;
  }

  /** The paths of the records of a type. */
  pathsOf(type: AnyRecordType): EarlierPaths {
    const { typeOf } = this.#tables;
    const wanted = this.#types.indexOf(type);
    return {
      has: (path) => typeOf[this.rowOf(path)] === wanted,
      list: () => this.paths.filter((_path, row) => typeOf[row] === wanted),
    };
  }

  /** The keys of the records of a type, except for those at some paths. */
  keysOf(type: AnyRecordType, except: ReadonlySet<string>): EarlierNames {
    return this.#named(type, except, () => this.#keysAndIds[0]);
  }

  /** The same with the ids. */
  idsOf(type: AnyRecordType, except: ReadonlySet<string>): EarlierNames {
    return this.#named(type, except, () => this.#keysAndIds[1]);
  }

  #named(
    type: AnyRecordType,
    except: ReadonlySet<string>,
    names: () => readonly (string | null)[],
  ): EarlierNames {
    const wanted = this.#types.indexOf(type);
    const pathAt = (row: number) => {
      const path = this.#tables.typeOf[row] === wanted ? this.paths[row] : undefined;
      return path === undefined || except.has(path) ? undefined : path;
    };
    return {
      find(name) {
        const all = names();
        for (let row = all.indexOf(name); row >= 0; row = all.indexOf(name, row + 1)) {
          const path = pathAt(row);
          if (path !== undefined) return path;
        }
        return undefined;
      },
      *list() {
        for (const [row, name] of names().entries()) {
          const path = name === null ? undefined : pathAt(row);
          if (name !== null && path !== undefined) yield [path, name];
        }
      },
    };
  }

  /** The stat of a folder when it was listed; undefined if it has to be listed again. */
  folderStat(index: number): Stat | undefined {
    return toStat('directory', this.#tables.folderStats, index);
  }

  typeAt(row: number): AnyRecordType | undefined {
    return this.#types[this.#tables.typeOf[row] ?? -1];
  }

  /** The size of the file of a row; 0 if it has to be read again. */
  bytesAt(row: number): number {
    return sizeAt(this.#tables.stats, row) ?? 0;
  }

  /** The stat of the file of a row; undefined if it has to be read again. */
  statAt(row: number): Stat | undefined {
    return toStat('file', this.#tables.stats, row);
  }

  /**
   * Compares the files of the wanted rows with their saved stats; see `Folder.unchanged`. The files of a
   * commit never change.
   */
  unchanged(isWanted: (row: number) => boolean): Uint8Array {
    if (!this.#disk) return new Uint8Array(this.paths.length).fill(1);
    return this.#disk.unchanged(this.paths, this.#tables.stats, isWanted);
  }

  keyAt(row: number): string | undefined {
    return this.#keysAndIds[0][row] ?? undefined;
  }

  idAt(row: number): string | undefined {
    return this.#keysAndIds[1][row] ?? undefined;
  }

  get #keysAndIds(): SavedKeys {
    this.#keys ??= toKeys(inflated(this.#file.section(savedSections.keys)));
    return this.#keys;
  }

  /** The record of a row, with its value if that was read; undefined if its file has to be read again. */
  record(row: number, value?: object): RecordFile | undefined {
    const path = this.paths[row];
    const type = this.typeAt(row);
    const stat = this.statAt(row);
    if (path === undefined || !type || !stat) return undefined;
    const key = this.keyAt(row);
    if (key === undefined) return undefined;
    return {
      path,
      type,
      stat,
      settled: true,
      bytes: stat.size,
      key,
      id: this.idAt(row),
      created: type.created && this.#tables.created[row],
      value,
      error: undefined,
      row,
    };
  }

  /** The value of a row, as it was decoded; undefined if it is not saved. */
  value(row: number): object | undefined {
    const json = this.json(row);
    if (!json) return undefined;
    try {
      const saved: unknown = JSON.parse(json);
      const [value, metadata]: readonly unknown[] = Array.isArray(saved) ? saved : [saved];
      if (typeof value !== 'object' || value === null) return undefined;
      if (typeof metadata === 'string') setMetadata(value, metadata);
      return value;
    } catch {
      return undefined;
    }
  }

  /** The value of a row as JSON; undefined if it is not saved. */
  json(row: number): string | undefined {
    const { blocks } = this.#tables;
    let low = 0;
    let high = blocks.length / 2;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if ((blocks[2 * middle] ?? 0) <= row) low = middle;
      else high = middle;
    }
    return this.#lines(low)[row - (blocks[2 * low] ?? 0)] || undefined;
  }

  #lines(block: number): readonly string[] {
    if (this.#open?.block === block) return this.#open.lines;
    const { blocks, values } = this.#tables;
    const [start = 0, end = values.length] = [blocks[2 * block + 1], blocks[2 * block + 3]];
    let lines: readonly string[] = [];
    try {
      const options = { maxOutputLength: 4 * (blockLength + maxValueLength) };
      const text = inflateRawSync(values.subarray(start, end), options).toString('utf8');
      lines = text.split('\n');
    } catch {
      // The records are read from their files.
    }
    this.#open = { block, lines };
    return lines;
  }
}

/** Whether a folder is one that a listing of the memory can give: no part of it begins with a dot. */
function isInside(path: string): boolean {
  if (path.startsWith('.') || path.startsWith('/') || path.includes('/.')) return false;
  return !path.includes('//') && !isForeign(path);
}

/** Whether a path is that of a file directly in a folder, and one that a listing can give. */
function isIn(folder: string | undefined, path: string): boolean {
  if (folder === undefined || !path.startsWith(folder) || isForeign(path)) return false;
  const start = folder === '' ? 0 : folder.length + 1;
  if (start > 0 && path[start - 1] !== '/') return false;
  return path.length > start && path[start] !== '.' && !path.includes('/', start);
}

const isWindows = process.platform === 'win32';

/** Whether a path has a second meaning on this system. */
function isForeign(path: string): boolean {
  return isWindows && /[\\:]/.test(path);
}

function toNames(value: unknown): SavedNames | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { types, shared, folders } = value as Partial<Record<keyof SavedNames, unknown>>;
  if (!isTexts(types) || !isTexts(folders) || !Array.isArray(shared)) return undefined;
  return { types, shared, folders };
}

/** The value of compressed JSON; undefined if it is damaged. */
function inflated(bytes: Uint8Array | undefined): unknown {
  if (!bytes) return undefined;
  try {
    return JSON.parse(inflateRawSync(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Keys of the wrong form count as missing: their files are read again. */
function toKeys(value: unknown): SavedKeys {
  if (!Array.isArray(value)) return [[], []];
  const [keys, ids] = value.map((texts) => (Array.isArray(texts) ? texts : []));
  const toTexts = (texts: readonly unknown[] = []) =>
    texts.map((text) => (typeof text === 'string' ? text : null));
  return [toTexts(keys), toTexts(ids)];
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
