import { isDeepStrictEqual } from 'node:util';
import type { HitChange } from '../../core/memory/search-hit.ts';
import { type Touch, type TouchedPaths, touchedPaths } from '../../store/history/touched-paths.ts';
import type { StoredText } from '../../store/search/stored-index.ts';
import type { QuickMemory } from '../../store/session/quick-memory.ts';
import type { ContextSource } from '../../toolsets/brief/context-source.ts';
import { hasStat } from './changed-files.ts';
import type { DigestBase } from './digest-base.ts';
import type { DigestRecent } from './digest-recent.ts';
import { dateAt, placeOfSection, type RecordDates } from './record-dates.ts';

/** A record whose last changes are wanted. */
export interface UndatedRecord {
  readonly path: string;
  readonly stat: ArrayLike<number> | null | undefined;
  readonly text: StoredText;
}

/** A record as an earlier digest has it. */
interface EarlierRow extends Pick<UndatedRecord, 'stat' | 'text'> {
  readonly dates: RecordDates;
}

/** Number of records that are asked for at once, so that a server answers other calls meanwhile. */
const askedAtOnce = 200;

/** A commit of this kind confirms a record, or parts of it. */
const trusting = /^Memory-(?:Tool: verify|Confirmed: )/m;

/** A digest that was stored before. */
export class EarlierDigest {
  readonly base: DigestBase;
  readonly recent: DigestRecent | undefined;
  readonly #files: ReadonlyMap<string, DigestRecent['changes']['files'][number]>;
  readonly #dates: ReadonlyMap<string, RecordDates>;

  constructor(base: DigestBase, recent: DigestRecent | undefined) {
    [this.base, this.recent] = [base, recent];
    this.#files = new Map(recent?.changes.files.map((file) => [file.path, file]));
    this.#dates = new Map(recent?.changes.dates);
  }

  /** The commit of HEAD for which its dates are right. */
  get head(): string {
    return this.recent?.facts.head ?? this.base.facts.head;
  }

  rowOf(path: string): EarlierRow | undefined {
    const file = this.#files.get(path);
    if (file) return file.record ? { ...file.record, stat: file.stat } : undefined;
    const record = this.base.recordOn(path);
    if (!record) return undefined;
    const dates = this.#dates.get(path) ?? record.dates;
    return { text: record.text, dates, stat: this.base.statOf(path) };
  }
}

/**
 * Finds the last changes of records and of their sections.
 *
 * An earlier digest knows them for each record that no later commit touches. So the history of a log is not
 * read again.
 */
export class DigestDates {
  /** The records that commits since the earlier digest touch; undefined if that is not known. */
  readonly touched: TouchedPaths | undefined;
  readonly #memory: QuickMemory;
  readonly #source: Pick<ContextSource, 'dated'>;
  readonly #earlier: EarlierDigest | undefined;

  constructor(
    memory: QuickMemory,
    source: Pick<ContextSource, 'dated'>,
    earlier: EarlierDigest | undefined,
    head: string,
  ) {
    [this.#memory, this.#source, this.#earlier] = [memory, source, earlier];
    const { odb, folder } = memory.objects;
    this.touched = earlier && touchedPaths(odb, folder, earlier.head, head);
  }

  async of(records: readonly UndatedRecord[]): Promise<ReadonlyMap<string, RecordDates>> {
    const found = new Map<string, RecordDates>();
    const wanted: { readonly record: UndatedRecord; readonly known: readonly Known[] }[] = [];
    for (const record of records) {
      const row = this.touched && this.#earlier?.rowOf(record.path);
      const touches = this.touched?.touches.get(record.path);
      const isSame = row !== undefined && hasSameStat(row, record);
      if (isSame && !touches && row.dates.length > 0) found.set(record.path, row.dates);
      else wanted.push({ record, known: this.#carried(record, row, touches) });
    }
    for (let at = 0; at < wanted.length; at += askedAtOnce) {
      const some = wanted.slice(at, at + askedAtOnce);
      for (const [path, dates] of await this.#ask(some)) found.set(path, dates);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return found;
  }

  #textOf(blob: string | undefined): string {
    if (blob === undefined) return '';
    return plain(this.#memory.objects.odb.content(blob, 'blob').toString('utf8'));
  }

  async #ask(
    wanted: readonly { readonly record: UndatedRecord; readonly known: readonly Known[] }[],
  ): Promise<readonly (readonly [path: string, dates: RecordDates])[]> {
    const places = wanted.flatMap(({ record: { path, text }, known }) => [
      { path },
      ...sectionsOf(text).flatMap((section, at) => (known[at] ? [] : [{ path, section }])),
    ]);
    const dated = (await this.#source.dated(places)).values();
    const next = () => dated.next().value?.changed;
    return wanted.map(({ record: { path, text }, known }) => {
      const own = next();
      const parts = sectionsOf(text).map((_, at) => known[at] ?? next());
      return [path, encodeDates(own, parts)];
    });
  }

  /**
   * The last changes of the sections that are as they were in an earlier digest, and in all versions since.
   *
   * A section that somebody has confirmed is asked for again: that can depend on the rest of the record.
   */
  #carried(
    { text }: UndatedRecord,
    earlier: EarlierRow | undefined,
    touches: readonly Touch[] = [],
  ): readonly Known[] {
    if (!earlier || !this.touched?.follows) return [];
    const isCommitted = dateAt(earlier.dates, 0)?.at !== undefined;
    if (!isCommitted || touches.some(({ message }) => trusting.test(message))) return [];
    const versions = touches.map(({ blob }) => this.#textOf(blob));
    const now = plain(text[0].body ?? '');
    const others = versions.filter((version) => !version.includes(now));
    const before = new Map(partsOf(earlier.text));
    return partsOf(text).map(([section, part]) => {
      if (part === '' || before.get(section) !== part) return undefined;
      const known = dateAt(earlier.dates, placeOfSection(earlier.text, section));
      const { confirmed = 'review' } = known ?? {};
      const isAsBefore = confirmed === 'review' && others.every((one) => one.includes(part));
      return isAsBefore ? known : undefined;
    });
  }
}

/** The last change of a section, if it is known without the history. */
type Known = HitChange | undefined;

function hasSameStat(row: EarlierRow, { stat }: UndatedRecord): boolean {
  return stat ? hasStat(row.stat, Array.from(stat)) : false;
}

function sectionsOf([, outline]: StoredText): string[] {
  return outline?.sections.map(([{ path }]) => path) ?? [];
}

/** The texts of the sections of a record. */
function partsOf([{ body = '' }, outline]: StoredText): (readonly [path: string, text: string])[] {
  return (outline?.sections ?? []).map(([{ path, start, end }]) => {
    return [path, plain(body.slice(start, end).trim())];
  });
}

function plain(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** The last changes as they are stored: each with its day, and a section like its record as `0`. */
function encodeDates(own: Known, parts: readonly Known[]): RecordDates {
  if (!own) return [];
  const first = atDay(own);
  const rest = parts.map((part) => {
    // All of a file that is not committed is new.
    if (own.at === undefined) return 0;
    const date = part && atDay(part);
    return date === undefined ? null : isDeepStrictEqual(date, first) ? 0 : date;
  });
  const last = rest.findLastIndex((date) => date !== 0);
  return [first, ...rest.slice(0, last + 1)];
}

function atDay({ at, ...change }: HitChange): HitChange {
  return { ...(at !== undefined && { at: at.slice(0, 10) }), ...change };
}
