import { deflateRawSync } from 'node:zlib';
import { metadataOf } from '../../core/record/metadata-text.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import { bytesOf, jsonBytes } from '../derived/section-file.ts';
import type { LiveRecords } from './live-records.ts';
import { folderOf } from './record-path.ts';
import { typeMark } from './saved-layout.ts';
import {
  blockLength,
  maxValueLength,
  type SavedKeys,
  type SavedNames,
  type SavedRecords,
} from './saved-records.ts';
import { saveStat } from './saved-stat.ts';
import type { Steps } from './slices.ts';

/** A smaller file counts as this large for the index, in bytes: on disk it takes a block of 4 kB anyway. */
const leastBytes = 256;

/** The encoded records, and the sizes of their files, which bound the size of the encoded form. */
export interface EncodedRecords {
  readonly paths: readonly string[];
  readonly sections: Uint8Array[];
  /** The total size of the files. */
  readonly bytes: number;
  /** The same, with small files counted as `leastBytes`. */
  readonly counted: number;
}

/**
 * Encodes the records of a view, as of its last refresh, in steps.
 *
 * @param saved the file that the view was filled from.
 */
export function* saveRecords(
  view: LiveRecords,
  types: readonly AnyRecordType[],
  saved: SavedRecords | undefined,
): Steps<EncodedRecords> {
  const paths = view.paths().sort();
  const keys = new Array<string | null>(paths.length).fill(null);
  const ids = new Array<string | null>(paths.length).fill(null);
  const created = new Float64Array(paths.length).fill(Number.NaN);
  const stats = new Float64Array(statSize * paths.length).fill(Number.NaN);
  const typeOf = new Uint8Array(paths.length);
  const values = new ValueBlocks();
  let [bytes, counted] = [0, 0];
  for (const [row, path] of paths.entries()) {
    yield;
    const type = view.typeOf(path);
    typeOf[row] = type ? types.indexOf(type) : 0;
    let record = view.known(path, maxValueLength);
    // A stat can be trusted once its timestamp is older than the clock's tick.
    if (record && !record.settled) record = view.read(path);
    bytes += record?.bytes ?? 0;
    counted += record ? Math.max(leastBytes, record.bytes) : 0;
    if (!record?.settled || record.key === undefined || record.error) {
      values.add('');
      continue;
    }
    keys[row] = record.key;
    ids[row] = record.id ?? null;
    created[row] = record.created ?? Number.NaN;
    saveStat(stats, row, record.stat);
    const known = record.row === undefined ? undefined : saved?.json(record.row);
    values.add(known ?? toJson(record.value));
  }
  const folders = [...view.folders()];
  const folderStats = new Float64Array(statSize * folders.length).fill(Number.NaN);
  for (const [index, [, { stat, settled }]] of folders.entries()) {
    if (settled) saveStat(folderStats, index, stat);
  }
  const indexes = new Map(folders.map(([path], index) => [path, index]));
  const names: SavedNames = {
    types: types.map(typeMark),
    shared: types.flatMap((type, index) => (view.hasShared(type) ? index : [])),
    folders: [...indexes.keys()],
  };
  const { table, blocks } = values.finish();
  const sections = [
    jsonBytes(names),
    jsonBytes(paths),
    // They are much like each other: compressed they take a fifth.
    deflateRawSync(jsonBytes([keys, ids] satisfies SavedKeys), { level: 4 }),
    bytesOf(created),
    bytesOf(stats),
    typeOf,
    bytesOf(Uint32Array.from(paths, (path) => indexes.get(folderOf(path)) ?? -1)),
    bytesOf(folderStats),
    bytesOf(table),
    blocks,
  ];
  return { paths, sections, bytes, counted };
}

/** Compresses values in blocks. */
class ValueBlocks {
  readonly #table: number[] = [];
  readonly #blocks: Uint8Array[] = [];
  #lines: string[] = [];
  #length = 0;
  #offset = 0;
  #rows = 0;

  add(json: string): void {
    this.#lines.push(json);
    this.#length += json.length + 1;
    if (this.#length >= blockLength) this.#close();
  }

  finish(): { readonly table: Uint32Array; readonly blocks: Uint8Array } {
    this.#close();
    return { table: Uint32Array.from(this.#table), blocks: Buffer.concat(this.#blocks) };
  }

  #close(): void {
    const block = deflateRawSync(this.#lines.join('\n'), { level: 4 });
    this.#table.push(this.#rows, this.#offset);
    this.#blocks.push(block);
    this.#offset += block.length;
    this.#rows += this.#lines.length;
    this.#lines = [];
    this.#length = 0;
  }
}

/** A value as JSON, in a list with its metadata; empty if JSON would change it, or if it is too long. */
function toJson(value: object | undefined): string {
  if (!value) return '';
  const metadata = metadataOf(value);
  const json = isPlain(value) ? JSON.stringify(metadata === '' ? value : [value, metadata]) : '';
  return json.length <= maxValueLength ? json : '';
}

/** Whether JSON keeps a value as it is. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) {
    // A list with holes has fewer keys; one with keys of its own has more.
    return Object.keys(value).length === value.length && value.every(isPlain);
  }
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}
