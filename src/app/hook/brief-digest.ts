import type { HitChange } from '../../core/memory/search-hit.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import type { CurrentTexts, StoredIndex, StoredText } from '../../store/search/stored-index.ts';
import type { QuickMemory } from '../../store/session/quick-memory.ts';
import type { BranchRelevance } from '../../toolsets/brief/branch-relevance.ts';
import { firstUnknown, type KeyedPassage } from '../../toolsets/brief/keyed-passage.ts';
import {
  type BriefPoints,
  type LocatedPoint,
  newestFirst,
} from '../../toolsets/brief/session-brief.ts';
import { hasStat } from './changed-files.ts';
import { DigestBase } from './digest-base.ts';
import type { DigestFacts } from './digest-facts.ts';
import {
  type DigestRecent,
  type RecentChanges,
  type RecentFile,
  readRecent,
} from './digest-recent.ts';
import { pointParts } from './digest-record.ts';
import { dateAt, placeOfSection, type RecordDates } from './record-dates.ts';

/** A statement with its worth for the branch. */
interface WorthyPoint {
  readonly point: LocatedPoint;
  readonly worth: number;
}

/**
 * The statements and texts of the records and the last changes, stored in the git directory for the next
 * process: a base, and the changes since it was stored.
 *
 * It is valid as long as the commits since then leave the memory as it was. What it says about records
 * also needs the files of the memory to be as they were. It can be deleted at any time.
 *
 * A method throws an error when it meets damage.
 */
export class BriefDigest {
  readonly facts: DigestFacts;
  readonly #memory: QuickMemory;
  readonly #base: DigestBase;
  readonly #changed: ReadonlyMap<string, RecentFile>;
  readonly #notes: ReadonlyMap<string, unknown>;
  readonly #dates: ReadonlyMap<string, RecordDates>;
  readonly #changes: RecentChanges;
  #merged: MergedFiles | undefined;

  constructor(memory: QuickMemory, base: DigestBase, { facts, changes }: DigestRecent) {
    this.facts = facts;
    this.#memory = memory;
    this.#base = base;
    this.#changed = new Map(changes.files.map((file) => [file.path, file]));
    this.#notes = new Map(changes.notes);
    this.#dates = new Map(changes.dates);
    this.#changes = changes;
  }

  /** Reads the digest of a memory; undefined if there is none, or if it is not valid any more. */
  static read(memory: QuickMemory): BriefDigest | undefined {
    const digest = BriefDigest.readAny(memory);
    return digest && memory.isUnchangedSince(digest.facts.head) ? digest : undefined;
  }

  /**
   * Reads a digest that may be outdated: each record that has not changed is as it says, but those that
   * are new are missing.
   */
  static readAny(memory: QuickMemory): BriefDigest | undefined {
    const base = DigestBase.read(memory);
    const recent = base && readRecent(memory, base.id);
    return base && recent && new BriefDigest(memory, base, recent);
  }

  get #files(): MergedFiles {
    this.#merged ??= new MergedFiles(this.#base, this.#changes.files);
    return this.#merged;
  }

  /** Whether no section is damaged. */
  get isWhole(): boolean {
    return this.#base.isWhole;
  }

  /** Takes the stat of every file of the memory: whether all are as they were. */
  isCurrent(): boolean {
    return this.#memory.hasFiles(this.#files.paths, this.#files.stats);
  }

  /** Returns the statements of the records, of which it parses only those that are asked for. */
  points(relevance: BranchRelevance): BriefPoints {
    const { weights } = relevance;
    const worth = new Map<number, number>();
    // Without a branch and changed files, there is nothing to look for.
    const keys = weights.size === 0 ? undefined : this.#base.keys();
    for (const [key, weight] of weights) {
      for (const row of keys?.get(key) ?? []) worth.set(row, (worth.get(row) ?? 0) + weight);
    }
    const relevant = [...worth].sort(([a, one], [b, other]) => other - one || a - b);
    const changed = [...this.#changed.values()].flatMap(({ record }) => record?.points ?? []);
    let end = 0;
    const [now = [], decision = [], about = []] = pointParts.map((part, index) => {
      const start = end;
      end += this.#base.facts.counts[index] ?? 0;
      const [from, to] = [start, end];
      const least = part === 'about' ? 1 : 0;
      const added = changed
        .filter((point) => point.part === part)
        .map(({ keys, ...point }) => ({ point, worth: sumOf(keys, weights) }))
        .filter(({ worth }) => worth >= least)
        .sort(mostWorthy);
      return {
        [Symbol.iterator]: () => merged(this.#basePoints(from, to, relevant, worth, least), added),
      };
    });
    return { now, decision, about };
  }

  /** The statements of one part of the base that are still true, the most relevant ones first. */
  *#basePoints(
    from: number,
    to: number,
    relevant: readonly (readonly [row: number, worth: number])[],
    worth: ReadonlyMap<number, number>,
    least: number,
  ): Generator<WorthyPoint> {
    for (const [row, value] of relevant) {
      if (row >= from && row < to) yield* this.#basePoint(row, value);
    }
    for (let row = from; row < to && least === 0; row++) {
      if (!worth.has(row)) yield* this.#basePoint(row, 0);
    }
  }

  *#basePoint(row: number, worth: number): Generator<WorthyPoint> {
    const point = this.#base.pointAt(row, (path) => this.#dates.get(path));
    if (!this.#changed.has(point.path)) yield { point, worth };
  }

  /** The note about the doubts about a record; undefined for an unknown note or record. */
  noteOf(path: string): unknown {
    const changed = this.#changed.get(path);
    if (changed) return changed.record?.note;
    if (this.#notes.has(path)) return this.#notes.get(path) ?? undefined;
    return this.#base.recordOn(path)?.note;
  }

  /** The last change of a record or of a section of one; undefined if it is not known. */
  changeOf(path: string, section: string | undefined): HitChange | undefined {
    const changed = this.#changed.get(path);
    const record = changed ? changed.record : this.#base.recordOn(path);
    if (!record) return undefined;
    const dates = changed ? record.dates : (this.#dates.get(path) ?? record.dates);
    return dateAt(dates, placeOfSection(record.text, section));
  }

  /** The text of a record; undefined for a file without one. */
  textOf(path: string): StoredText | undefined {
    const changed = this.#changed.get(path);
    return (changed ? changed.record : this.#base.recordOn(path))?.text;
  }

  /** The passages with one of some keys, those of the first key first. */
  *#passages(keys: readonly string[]): Generator<KeyedPassage> {
    const changed = [...this.#changed.values()].flatMap(({ record }) => record?.passages ?? []);
    for (const key of keys) {
      yield* changed.filter((passage) => passage.keys.includes(key));
      for (const passage of this.#base.passages(key)) {
        if (!this.#changed.has(passage.path)) yield passage;
      }
    }
  }

  /**
   * The first passages with one of some keys that a session does not have.
   *
   * @returns undefined if the record of one of them has changed since.
   */
  firstPassages(
    keys: readonly string[],
    isKnown: (passage: KeyedPassage) => boolean,
    limit: number,
  ): readonly KeyedPassage[] | undefined {
    const found = firstUnknown(this.#passages(keys), isKnown, limit);
    return found.every(({ path }) => this.#isAsStored(path)) ? found : undefined;
  }

  /** Whether the file of a record is as it was. */
  #isAsStored(path: string): boolean {
    const changed = this.#changed.get(path);
    const known = changed ? changed.stat : this.#base.statOf(path);
    return hasStat(known, this.#memory.look(path)?.stat);
  }

  /** Whether there is a search index that fits and is not damaged. */
  async isSearchable(): Promise<boolean> {
    const file = this.#memory.openRecords();
    return file?.isWhole === true && (await this.search()) !== undefined;
  }

  /** Reads the search index that a server has saved; undefined if there is none that fits. */
  async search(): Promise<StoredIndex | undefined> {
    const file = this.#memory.openRecords();
    if (!file) return undefined;
    // Only a prompt needs this part of the program.
    const { StoredIndex } = await import('../../store/search/stored-index.ts');
    return StoredIndex.read(file, this.#files, this.#memory.openCommonWords());
  }
}

/** The files of a base with the changes since it was stored. */
class MergedFiles implements CurrentTexts {
  readonly paths: readonly string[];
  readonly stats: Float64Array;
  readonly #base: DigestBase;
  readonly #changed: readonly RecentFile[];
  /** One more than the record of the base; negative for a changed file; 0 for a file without a record. */
  readonly #recordOf: Uint32Array | Int32Array;

  constructor(base: DigestBase, changed: readonly RecentFile[]) {
    this.#base = base;
    this.#changed = changed;
    [this.paths, this.stats, this.#recordOf] = [base.paths, base.stats, base.recordOf];
    if (changed.length === 0) return;
    const paths: string[] = [];
    const stats = new Float64Array(statSize * (base.paths.length + changed.length));
    const recordOf = new Int32Array(base.paths.length + changed.length);
    let next = 0;
    const copyTo = (end: number) => {
      stats.set(base.stats.subarray(statSize * next, statSize * end), statSize * paths.length);
      recordOf.set(base.recordOf.subarray(next, end), paths.length);
      for (let at = next; at < end; at++) paths.push(base.paths[at] ?? '');
      next = end;
    };
    for (const [index, { path, stat, record }] of changed.entries()) {
      const known = base.positionOf(path);
      copyTo(known < 0 ? base.placeOf(path) : known);
      if (known >= 0) next += 1;
      if (!stat) continue;
      stats.set(stat, statSize * paths.length);
      recordOf[paths.length] = record ? -1 - index : 0;
      paths.push(path);
    }
    copyTo(base.paths.length);
    this.paths = paths;
    this.stats = stats.subarray(0, statSize * paths.length);
    this.#recordOf = recordOf.subarray(0, paths.length);
  }

  isSearched(at: number): boolean {
    return this.#recordOf[at] !== 0;
  }

  textAt(at: number) {
    const record = this.#recordOf[at] ?? 0;
    if (record === 0) return undefined;
    if (record > 0) return this.#base.recordAt(record - 1).text;
    return this.#changed[-1 - record]?.record?.text;
  }
}

function sumOf(keys: readonly string[], weights: ReadonlyMap<string, number>): number {
  return keys.reduce((sum, key) => sum + (weights.get(key) ?? 0), 0);
}

/** Merges two lists of statements in the order of `mostWorthy`. */
function* merged(
  base: Iterator<WorthyPoint>,
  added: readonly WorthyPoint[],
): Generator<LocatedPoint> {
  let next = base.next();
  for (const one of added) {
    while (!next.done && mostWorthy(next.value, one) <= 0) {
      yield next.value.point;
      next = base.next();
    }
    yield one.point;
  }
  for (; !next.done; next = base.next()) yield next.value.point;
}

/** Orders statements by their worth, and then the newest first. */
function mostWorthy(one: WorthyPoint, other: WorthyPoint): number {
  return other.worth - one.worth || newestFirst(one.point, other.point);
}
