import type { HitChange } from '../../core/memory/search-hit.ts';
import type { BriefPoint } from '../../core/record/record-type.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import type { SectionFile } from '../../store/derived/section-file.ts';
import { placeFrom, StoredTexts, textSections } from '../../store/derived/text-list.ts';
import type { StoredText } from '../../store/search/stored-index.ts';
import type { QuickMemory } from '../../store/session/quick-memory.ts';
import type { KeyedPassage } from '../../toolsets/brief/keyed-passage.ts';
import type { DatedPoint } from '../../toolsets/brief/session-brief.ts';
import { KeyedRows, keyedSections } from './keyed-rows.ts';
import { dateAt, type RecordDates } from './record-dates.ts';

/** The sections of the file by position. */
export const baseSections = {
  facts: 0,
  paths: 1,
  pathsAt: 2,
  stats: 3,
  recordOf: 4,
  order: 5,
  texts: 6,
  passages: 6 + textSections,
  passageKeys: 6 + 2 * textSections,
  keys: 6 + 2 * textSections + keyedSections,
  links: 6 + 2 * textSections + 2 * keyedSections,
} as const;

export const maxBaseBytes = 64 * 1024 * 1024;
export const baseKind = 'brief';
export const baseContent = ['brief', 6];

/** The facts of a base. */
export interface BaseFacts {
  /** The commit of HEAD for which the last changes of the records are right. */
  readonly head: string;
  /** The number of statements of each part, in the order of `pointParts`. */
  readonly counts: readonly number[];
  /** The paths of the files that do not count because of another one, and of that one. */
  readonly twins: readonly string[];
}

/** A statement as it is stored, with the place of its last change in the dates of the record. */
export type StoredPoint = readonly [
  part: BriefPoint['part'],
  text: string,
  at: string | null,
  place: number | null,
  changed: HitChange | null,
];
/** The statements of a record, and the text of the record with what is known of it. */
export type StoredPoints = readonly [path: string, points: readonly StoredPoint[]];
export type StoredRecord = readonly [...text: StoredText, note: unknown, dates: RecordDates];
/** A passage as it is stored; its keys are in a section of their own. */
export type StoredPassage = readonly [
  path: string,
  entry: string | null,
  text: string,
  at: string | null,
  rank: number,
  files: number,
];

/** The text of a record, and what is known of it. */
export interface BaseRecord {
  readonly text: StoredText;
  /** The note about the doubts. */
  readonly note: unknown;
  readonly dates: RecordDates;
}

/**
 * The base of a digest: all files of a memory with their stats, and the statements and texts of the records.
 *
 * A method throws an error when it meets damage.
 */
export class DigestBase {
  /** Identifies the content. */
  readonly id: string;
  readonly #file: SectionFile;
  #facts: BaseFacts | undefined;
  #paths: readonly string[] | undefined;
  #pathsAt: Uint32Array | undefined;
  #order: Uint32Array | undefined;
  #texts: StoredTexts | undefined;
  #passages: StoredTexts | undefined;
  #passageKeys: KeyedRows | undefined;
  /** The record that was read last: a hit is asked for more than once. */
  #last: { readonly number: number; readonly record: BaseRecord } | undefined;

  private constructor(file: SectionFile) {
    this.id = file.id;
    this.#file = file;
  }

  /** Opens the file; undefined if it is missing, has a damaged header or is of another build. */
  static read(memory: QuickMemory): DigestBase | undefined {
    const file = memory.open(baseKind, baseContent, maxBaseBytes);
    return file && new DigestBase(file);
  }

  /** Whether no section is damaged. */
  get isWhole(): boolean {
    return this.#file.isWhole;
  }

  get facts(): BaseFacts {
    // The checksum proves that this program has written the section.
    this.#facts ??= whole(this.#file.json(baseSections.facts)) as BaseFacts;
    return this.#facts;
  }

  /** The paths of all files and folders, sorted. */
  get paths(): readonly string[] {
    this.#paths ??= this.#pathBytes.toString('utf8').split('\0');
    return this.#paths;
  }

  get #pathBytes(): Buffer {
    const { buffer, byteOffset, length } = whole(this.#file.section(baseSections.paths));
    return Buffer.from(buffer, byteOffset, length);
  }

  /** The number of paths. */
  get size(): number {
    return this.#ends.length;
  }

  /** The end of each path. */
  get #ends(): Uint32Array {
    this.#pathsAt ??= whole(this.#file.numbers(baseSections.pathsAt));
    return this.#pathsAt;
  }

  /** A path by its position; one of many is read without all others. */
  pathAt(position: number): string | undefined {
    if (this.#paths) return this.#paths[position];
    if (position < 0 || position >= this.size) return undefined;
    const start = position === 0 ? 0 : (this.#ends[position - 1] ?? 0) + 1;
    return this.#pathBytes.toString('utf8', start, this.#ends[position]);
  }

  /** The `statNumbers` of each path. */
  get stats(): Float64Array {
    return whole(this.#file.floats(baseSections.stats, statSize * this.size));
  }

  /** One more than the number of the record of each path; 0 for none. */
  get recordOf(): Uint32Array {
    return whole(this.#file.integers(baseSections.recordOf, this.size));
  }

  /** The record at a path; undefined for a file without one. */
  recordOn(path: string): BaseRecord | undefined {
    const number = this.recordOf[this.positionOf(path)] ?? 0;
    return number === 0 ? undefined : this.recordAt(number - 1);
  }

  /** The position of a path, or the one where it belongs. */
  placeOf(path: string): number {
    return placeFrom({ length: this.size, at: (position) => this.pathAt(position) }, path);
  }

  /** The position of a path; -1 if there is none. */
  positionOf(path: string): number {
    const at = this.placeOf(path);
    return this.pathAt(at) === path ? at : -1;
  }

  /** The `statNumbers` of a path; undefined for one that was not there. */
  statOf(path: string): ArrayLike<number> | undefined {
    const at = statSize * this.positionOf(path);
    return at < 0 ? undefined : this.stats.subarray(at, at + statSize);
  }

  /** The paths of the files and folders below a folder. */
  below(folder: string): readonly string[] {
    if (folder === '') return this.paths.slice(1);
    const found: string[] = [];
    for (let at = this.placeOf(`${folder}/`); ; at++) {
      const path = this.pathAt(at);
      if (!path?.startsWith(`${folder}/`)) return found;
      found.push(path);
    }
  }

  /** The paths of the files and folders directly in a folder. */
  childrenOf(folder: string): readonly string[] {
    const start = folder === '' ? 0 : folder.length + 1;
    return this.below(folder).filter((path) => !path.includes('/', start));
  }

  /**
   * A statement by its number: those of each part are together, the newest first.
   *
   * @param datesOf the last changes of a record, where they are not those of the base any more.
   */
  pointAt(number: number, datesOf: (path: string) => RecordDates | undefined): DatedPoint {
    this.#order ??= whole(this.#file.numbers(baseSections.order));
    const [record = 0, index = 0] = this.#order.subarray(2 * number, 2 * number + 2);
    const [path, points] = JSON.parse(this.#textAt(2 * record)) as StoredPoints;
    const [part, text, at, place, stored] = whole(points[index]);
    const dates = datesOf(path);
    const changed = dates ? dateAt(dates, place ?? undefined) : (stored ?? undefined);
    return { part, path, text, ...(at !== null && { at }), ...(changed && { changed }) };
  }

  /** A record by its number. */
  recordAt(number: number): BaseRecord {
    if (this.#last?.number === number) return this.#last.record;
    const [fields, outline, note, dates] = JSON.parse(this.#textAt(2 * number + 1)) as StoredRecord;
    const record = { text: [fields, outline], note, dates } as const;
    this.#last = { number, record };
    return record;
  }

  /** Reads the numbers of the statements that each key of their relevance is in. */
  keys(): KeyedRows {
    return whole(KeyedRows.read(this.#file, baseSections.keys));
  }

  /** The passages with a key, the surest first; each is read when it is reached. */
  *passages(key: string): Generator<KeyedPassage> {
    this.#passageKeys ??= whole(KeyedRows.read(this.#file, baseSections.passageKeys));
    for (const row of this.#passageKeys.get(key)) {
      this.#passages ??= whole(StoredTexts.readDeflated(this.#file, baseSections.passages));
      const stored = JSON.parse(whole(this.#passages.at(row))) as StoredPassage;
      const [path, entry, text, at, rank, files] = stored;
      yield {
        path,
        entry: entry ?? undefined,
        text,
        at: at ?? undefined,
        rank,
        files,
        keys: [key],
      };
    }
  }

  /** The paths of the records that depend on others, by the paths of these. */
  dependents(paths: Iterable<string>): string[] {
    const links = whole(KeyedRows.read(this.#file, baseSections.links));
    const found = new Set<string>();
    for (const path of paths) {
      for (const position of links.get(path)) found.add(this.pathAt(position) ?? '');
    }
    return [...found];
  }

  #textAt(number: number): string {
    this.#texts ??= whole(StoredTexts.readDeflated(this.#file, baseSections.texts));
    return whole(this.#texts.at(number));
  }
}

/** @throws Error when a part of the digest is missing. */
function whole<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('The digest is damaged.');
  return part;
}
