import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { type Stat, sameStat, statSize } from '../../git/disk/file-layer.ts';
import { DerivedFile } from '../derived/derived-file.ts';
import { bytesOf } from '../derived/section-file.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { derivedPlace } from '../records/derived-place.ts';
import { typeMark } from '../records/saved-layout.ts';
import { saveStat, toStat } from '../records/saved-stat.ts';
import type { CheckedRecord, RecordReading } from './record-evidence.ts';

/** Limit of the file and of its texts, in bytes. */
export const maxReadBytes = 32 * 1024 * 1024;
const maxTextBytes = 4 * maxReadBytes;
const version = 1;
const sections = { stats: 0, texts: 1 };
/** The file is written again after more new readings than this, and a share of the records. */
const fewChanges = 32;
const changedShare = 1 / 64;

/**
 * The readings of records by earlier checks, in a file of the git directory: a record whose file has the
 * same stat need not be read again.
 *
 * It has only records without a credential, without conflict markers, and without statements of sections.
 */
export class SavedReadings {
  readonly #reader: HistoryReader;
  readonly #file: DerivedFile;
  readonly #rows = new Map<string, number>();
  #stats: Float64Array = new Float64Array();
  #readings: readonly unknown[] = [];
  readonly #new = new Map<string, { readonly stat: Stat; readonly reading: RecordReading }>();

  /** Reads the file, if there is one of these settings. */
  constructor(reader: HistoryReader) {
    const { memory } = reader.history;
    this.#reader = reader;
    // A credential that the settings allow is not one of a file with other settings.
    const content = [version, [...memory.secretGuard().allowed], memory.types.map(typeMark)];
    this.#file = new DerivedFile(() => derivedPlace(memory), 'checked', content, maxReadBytes);
    const file = this.#file.read();
    const [paths, readings] = textsOf(file?.section(sections.texts)) ?? [];
    const stats = file?.floats(sections.stats, statSize * (paths?.length ?? 0));
    if (!paths || !readings || !stats) return;
    for (const [row, path] of paths.entries())
      if (typeof path === 'string') this.#rows.set(path, row);
    this.#stats = stats;
    this.#readings = readings;
  }

  /** Returns the reading of a record whose file has not changed since. */
  of(path: string): RecordReading | undefined {
    const row = this.#rows.get(path);
    const stat = row === undefined ? undefined : toStat('file', this.#stats, row);
    if (row === undefined || !stat) return undefined;
    if (!sameStat(stat, this.#reader.history.memory.view.lastRead(path)?.stat)) return undefined;
    const reading = this.#readings[row];
    return isReading(reading) ? reading : undefined;
  }

  /** Adds a record that was read now, and in which nothing was found. */
  add({ path, stat, reading }: CheckedRecord): void {
    if (stat && reading) this.#new.set(path, { stat, reading });
  }

  /** Writes the file, if that is worth it. */
  async save(): Promise<void> {
    const { history } = this.#reader;
    const { view } = history.memory;
    const isFew = this.#new.size <= fewChanges + changedShare * this.#rows.size;
    if (isFew || view.count < history.leastSaved) return;
    const rows: [path: string, stat: Stat, reading: RecordReading][] = [];
    for (const path of view.paths()) {
      const { stat, reading } = this.#new.get(path) ?? { reading: this.of(path) };
      const known = stat ?? view.lastRead(path)?.stat;
      if (known && reading) rows.push([path, known, reading]);
    }
    const stats = new Float64Array(statSize * rows.length);
    for (const [row, [, stat]] of rows.entries()) saveStat(stats, row, stat);
    const texts = [rows.map(([path]) => path), rows.map(([, , reading]) => reading)];
    try {
      const bytes = await promisify(deflateRaw)(JSON.stringify(texts), { level: 1 });
      if (bytes.length + stats.byteLength > maxReadBytes / 2) return;
      await this.#file.write(this.#file.pieces([bytesOf(stats), bytes]));
    } catch {
      // Without the file, the next check reads all records again.
    }
  }
}

/** The paths and the readings of a file; undefined if they are damaged. */
function textsOf(bytes: Uint8Array | undefined): readonly (readonly unknown[])[] | undefined {
  if (!bytes) return undefined;
  try {
    const text = inflateRawSync(bytes, { maxOutputLength: maxTextBytes }).toString('utf8');
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every(Array.isArray) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The checksum of the file has shown that a program of this build wrote it. */
function isReading(value: unknown): value is RecordReading {
  return typeof value === 'object' && value !== null && 'annotations' in value;
}
