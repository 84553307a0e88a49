import { type NamedSection, namedSections } from '../../core/markdown/section-path.ts';
import { isVerification } from '../../core/memory/commit-log.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { Step } from '../history/lineage.ts';
import { stepsOf } from '../history/log-walk.ts';
import type { IndexedCommit } from '../history/repository-history.ts';

/** Limit of the texts of one record that stay in memory during a call, in UTF-16 code units. */
const maxKept = 8 * 1024 * 1024;

/** Number of the newest commits of a record among which one that verified it is looked for. */
const maxVerifying = 50;

/** The commit that wrote a section, and a later one that verified its record as a whole. */
export interface WrittenSection {
  readonly commit: number;
  readonly verified: number | undefined;
}

/** A record whose sections are looked for in its versions, read once for all of them. */
class VersionedRecord {
  readonly text: string;
  readonly #reader: HistoryReader;
  readonly #place: IndexedCommit;
  readonly #path: string;
  readonly #texts = new Map<Oid, string>();
  #kept = 0;
  #sections: ReadonlyMap<string, NamedSection> | undefined;
  #steps: readonly Step[] | undefined;
  #verified: readonly number[] | undefined;

  constructor(reader: HistoryReader, place: IndexedCommit, path: string, text: string) {
    this.#reader = reader;
    this.#place = place;
    this.#path = path;
    this.text = text;
  }

  section(path: string): NamedSection | undefined {
    this.#sections ??= new Map(namedSections(this.text).map((one) => [one.path, one]));
    return this.#sections.get(path);
  }

  /** The commits that changed the record, descendants first. */
  get steps(): readonly Step[] {
    this.#steps ??= [...stepsOf(this.#reader, this.#place, this.#path)];
    return this.#steps;
  }

  /** The places of the steps that verified it, the newest first. */
  get verified(): readonly number[] {
    const { history } = this.#reader;
    this.#verified ??= this.steps.slice(0, maxVerifying).flatMap(({ commit, path }, at) => {
      const info = history.commit(this.#place.index.commit(commit).oid, { path });
      return isVerification(info) && info.subject.endsWith(` ${path}`) ? [at] : [];
    });
    return this.#verified;
  }

  has({ path, blob }: Step, text: string): boolean {
    if (blob === undefined) return false;
    const known = this.#texts.get(blob) ?? this.#reader.versions.text(path, blob);
    if (!this.#texts.has(blob) && this.#kept + known.length <= maxKept) {
      this.#texts.set(blob, known);
      this.#kept += known.length;
    }
    return known.includes(text);
  }
}

/** Finds for sections the commits since which they are as they are, for one call. */
export class SectionCommits {
  readonly #reader: HistoryReader;
  readonly #place: IndexedCommit;
  readonly #textOf: (path: string) => string | undefined;
  readonly #records = new Map<string, VersionedRecord>();

  /** @param textOf reads the text of a record that has the sections. */
  constructor(
    reader: HistoryReader,
    place: IndexedCommit,
    textOf: (path: string) => string | undefined,
  ) {
    this.#reader = reader;
    this.#place = place;
    this.#textOf = textOf;
  }

  /** The commit that wrote a section; undefined if there is no such section. */
  of(path: string, section: string): WrittenSection | undefined {
    const record = this.#record(path);
    const named = record.section(section);
    const own = named && record.text.slice(named.start, named.end).trim();
    if (!own) return undefined;
    const { steps } = record;
    const hasIt = (at: number) => {
      const step = steps[at];
      return step !== undefined && record.has(step, own);
    };
    const written = oldest(steps.length, hasIt);
    const commit = steps[written]?.commit;
    if (commit === undefined) return undefined;
    const verified = record.verified.find((at) => at < written);
    return { commit, verified: verified === undefined ? undefined : steps[verified]?.commit };
  }

  #record(path: string): VersionedRecord {
    const known = this.#records.get(path);
    if (known) return known;
    const text = this.#textOf(path) ?? '';
    const record = new VersionedRecord(this.#reader, this.#place, path, text);
    this.#records.set(path, record);
    return record;
  }
}

/** The number of the oldest of some versions that has a text; the newest ones are compared first. */
function oldest(count: number, hasIt: (at: number) => boolean): number {
  let has = 0;
  let lacks = count;
  for (let step = 1; has + step < lacks; step *= 2) {
    if (hasIt(has + step)) has += step;
    else lacks = has + step;
    if (lacks < count) break;
  }
  while (lacks - has > 1) {
    const middle = (has + lacks) >>> 1;
    if (hasIt(middle)) has = middle;
    else lacks = middle;
  }
  return has;
}
