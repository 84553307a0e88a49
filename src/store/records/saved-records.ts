import { inflateRawSync } from 'node:zlib';
import type { AnyRecordType } from '../../core/record-type.ts';
import type { Stat } from '../../git/disk/file-layer.ts';
import type { RecordFile } from './record-file.ts';
import type { SectionFile } from './section-file.ts';

/** The sections of the records in the file, by position. */
const sections = { names: 0, stats: 1, types: 2, folders: 3, blocks: 4, values: 5 } as const;
/** The number of these sections; those of the search follow. */
export const recordSections = 6;

/** The numbers that show whether a file or folder has changed: inode, size and two timestamps. */
export const perStat = 4;
/** Total length of the values that are compressed together. */
export const blockLength = 16 * 1024;
/** A longer value is not saved: its record is read again. */
export const maxValueLength = 256 * 1024;

/** The texts of the saved records. */
export interface SavedNames {
  /** The names of the record types. */
  readonly types: readonly string[];
  readonly folders: readonly string[];
  /** Sorted. */
  readonly paths: readonly string[];
  /** For each path; null if its file has to be read again. */
  readonly keys: readonly (string | null)[];
  readonly ids: readonly (string | null)[];
}

/**
 * The records as an earlier process has read them, with the stat of each file at that time.
 *
 * A caller compares the stat before it uses a record. A stat that was not settled is not saved.
 */
export class SavedRecords {
  readonly paths: readonly string[];
  readonly folders: readonly string[];
  readonly #names: SavedNames;
  readonly #types: readonly AnyRecordType[];
  readonly #typeOf: Uint8Array;
  readonly #stats: Float64Array;
  readonly #folderStats: Float64Array;
  /** The first row of each block, and the offset of the block. */
  readonly #blocks: Uint32Array;
  readonly #values: Uint8Array;
  /** The block that was read last. */
  #open: { readonly block: number; readonly lines: readonly string[] } | undefined;

  private constructor(
    names: SavedNames,
    types: readonly AnyRecordType[],
    typeOf: Uint8Array,
    stats: Float64Array,
    folderStats: Float64Array,
    blocks: Uint32Array,
    values: Uint8Array,
  ) {
    this.paths = names.paths;
    this.folders = names.folders;
    this.#names = names;
    this.#types = types;
    this.#typeOf = typeOf;
    this.#stats = stats;
    this.#folderStats = folderStats;
    this.#blocks = blocks;
    this.#values = values;
  }

  /** Reads the records of a file; undefined if they are damaged. */
  static read(file: SectionFile, known: readonly AnyRecordType[]): SavedRecords | undefined {
    const names = toNames(file.json(sections.names));
    if (!names) return undefined;
    if (!names.paths.every(isInside) || !names.folders.every(isInside)) return undefined;
    const count = names.paths.length;
    const typeOf = file.section(sections.types);
    const stats = file.floats(sections.stats, perStat * count);
    const folderStats = file.floats(sections.folders, perStat * names.folders.length);
    const blocks = file.section(sections.blocks);
    const table = blocks && file.integers(sections.blocks, blocks.length >>> 2);
    const values = file.section(sections.values);
    if (typeOf?.length !== count || !stats || !folderStats || !table || !values) return undefined;
    const types = names.types.flatMap((name) => known.find((type) => type.name === name) ?? []);
    if (types.length !== names.types.length) return undefined;
    if (!names.paths.every((path, row) => types[typeOf[row] ?? -1]?.owns(path))) return undefined;
    return new SavedRecords(names, types, typeOf, stats, folderStats, table, values);
  }

  /** The stat of a folder when it was listed; undefined if it has to be listed again. */
  folderStat(index: number): Stat | undefined {
    return toStat('directory', this.#folderStats, index);
  }

  typeAt(row: number): AnyRecordType | undefined {
    return this.#types[this.#typeOf[row] ?? -1];
  }

  /** The size of the file of a row. */
  bytesAt(row: number): number {
    return isStat(this.#stats, row) ? (this.#stats[perStat * row + 1] ?? 0) : 0;
  }

  /** Whether the file of a row has to be read again, whatever its stat is. */
  isUnread(row: number): boolean {
    return typeof this.#names.keys[row] !== 'string' || !isStat(this.#stats, row);
  }

  /** The record of a row without its value; undefined if its file has to be read again. */
  record(row: number): RecordFile | undefined {
    const path = this.paths[row];
    const key = this.#names.keys[row];
    const type = this.typeAt(row);
    const stat = toStat('file', this.#stats, row);
    if (path === undefined || typeof key !== 'string' || !type || !stat) return undefined;
    return {
      path,
      type,
      stat,
      settled: true,
      bytes: stat.size,
      key,
      id: this.#names.ids[row] ?? undefined,
      value: undefined,
      error: undefined,
      row,
    };
  }

  /** The value of a row, as it was decoded; undefined if it is not saved. */
  value(row: number): object | undefined {
    const json = this.json(row);
    if (!json) return undefined;
    try {
      const value: unknown = JSON.parse(json);
      return typeof value === 'object' && value !== null ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** The value of a row as JSON; undefined if it is not saved. */
  json(row: number): string | undefined {
    let low = 0;
    let high = this.#blocks.length / 2;
    while (low + 1 < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[2 * middle] ?? 0) <= row) low = middle;
      else high = middle;
    }
    return this.#lines(low)[row - (this.#blocks[2 * low] ?? 0)] || undefined;
  }

  #lines(block: number): readonly string[] {
    if (this.#open?.block === block) return this.#open.lines;
    const [start = 0, end = this.#values.length] = [
      this.#blocks[2 * block + 1],
      this.#blocks[2 * block + 3],
    ];
    let lines: readonly string[] = [];
    try {
      const options = { maxOutputLength: 4 * (blockLength + maxValueLength) };
      const text = inflateRawSync(this.#values.subarray(start, end), options).toString('utf8');
      lines = text.split('\n');
    } catch {
      // The records are read from their files.
    }
    this.#open = { block, lines };
    return lines;
  }
}

/** A saved stat. It reads its numbers from the list: an object with numbers of its own is four times as large. */
class SavedStat implements Stat {
  readonly kind: 'file' | 'directory';
  readonly #stats: Float64Array;
  readonly #at: number;

  constructor(kind: 'file' | 'directory', stats: Float64Array, row: number) {
    this.kind = kind;
    this.#stats = stats;
    this.#at = perStat * row;
  }

  get ino(): number {
    return this.#stats[this.#at] as number;
  }

  get size(): number {
    return this.#stats[this.#at + 1] as number;
  }

  get mtimeMs(): number {
    return this.#stats[this.#at + 2] as number;
  }

  get ctimeMs(): number {
    return this.#stats[this.#at + 3] as number;
  }

  get mode(): number {
    return 0;
  }

  get links(): number {
    return 1;
  }
}

function toStat(kind: 'file' | 'directory', stats: Float64Array, row: number): Stat | undefined {
  return isStat(stats, row) ? new SavedStat(kind, stats, row) : undefined;
}

/** Whether a path is one that a listing of the memory can give: no part of it begins with a dot. */
function isInside(path: string): boolean {
  if (path.startsWith('.') || path.startsWith('/') || path.includes('/.')) return false;
  return !path.includes('//') && (process.platform !== 'win32' || !/[\\:]/.test(path));
}

/** Whether a stat was saved. */
function isStat(stats: Float64Array, row: number): boolean {
  const size = stats[perStat * row + 1] ?? Number.NaN;
  return size >= 0 && size < Number.POSITIVE_INFINITY;
}

function toNames(value: unknown): SavedNames | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { types, folders, paths, keys, ids } = value as Partial<Record<keyof SavedNames, unknown>>;
  if (!isTexts(types) || !isTexts(folders) || !isTexts(paths)) return undefined;
  if (!Array.isArray(keys) || !Array.isArray(ids)) return undefined;
  if (keys.length !== paths.length || ids.length !== paths.length) return undefined;
  if (!isTexts(ids.filter((id) => id !== null))) return undefined;
  return { types, folders, paths, keys, ids };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
