import type { Annotations } from '../../core/evidence/annotations.ts';
import { readStatements, type Sections } from '../../core/markdown/section-statements.ts';
import type { RecordDoubts } from '../../core/memory/store.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import type { Folder } from '../../git/disk/folder.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { isSettled } from '../records/record-file.ts';
import { inSlices } from '../records/slices.ts';
import { withBaselines } from './baselines.ts';
import { describe } from './code-findings.ts';
import {
  byKey,
  type CodeNow,
  codeNow,
  type Judged,
  judgeAll,
  NamedPlaces,
  readRecords,
  readText,
} from './judged-places.ts';
import { NamedRecords } from './named-records.ts';
import { placeState } from './place-state.ts';
import { CheckedRecord } from './record-evidence.ts';

/** Limit of the cautions that an answer has about one record. */
const maxCautions = 5;
/** Limit of the records whose texts and verdicts stay in memory. */
const maxKnown = 20_000;

/** The parts of a record's text that its cautions depend on. */
interface RecordText {
  readonly stat: Stat | undefined;
  readonly annotations: Annotations;
  readonly hasEvidence: boolean;
  /** Addresses of other records and of sections that it names. */
  readonly links: readonly string[];
  /** The paths of these records, and of others that it may name once they exist. */
  readonly records: readonly string[];
  /** Its sections, if some of them say by which one they were replaced. */
  readonly sections: Sections | undefined;
}

/** A file that a verdict depends on. */
interface Place {
  readonly path: string;
  readonly stat: Stat | undefined;
  /** Whether its content matters, and not only that it exists. */
  readonly precise: boolean;
}

/** The verdicts about a record, and the files that they depend on. */
interface Verdicts {
  readonly head: Oid;
  readonly record: Stat | undefined;
  readonly files: readonly Place[];
  readonly doubts: readonly string[];
  /** Whether a commit that leaves the memory and these files as they are can change the verdicts. */
  readonly bound: boolean;
}

/** The stat of a file of the project; undefined if there is none, or it cannot be read. */
type StatOf = (path: string) => Stat | undefined;

/** Knows why a reader should not rely on a record, and compares again only what has changed since. */
export class Cautions {
  readonly #texts = new Map<string, RecordText>();
  readonly #textsNow = new MicrotaskMemo<Map<string, RecordText>>();
  readonly #verdicts = new Map<string, Verdicts>();
  /** The records whose texts were read since the last pause. */
  readonly #read = new Map<string, CheckedRecord>();
  #code: CodeNow | undefined;

  /** The cautions about each record and section that the visitor may read, by address. */
  async doubts(
    reader: HistoryReader,
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, RecordDoubts>> {
    const found = new Map<string, RecordDoubts>();
    const wanted: string[] = [];
    for (const address of new Set(addresses)) {
      const { section } = parseAddress(address);
      if (section === undefined) {
        if (reader.mayRead(address)) wanted.push(address);
        continue;
      }
      const { by } = this.#successorOf(reader, address);
      const reasons = by ? [`Its section ${JSON.stringify(section)} was superseded by ${by}.`] : [];
      const successor = by === undefined ? {} : { successor: by };
      found.set(address, { reasons, superseded: by !== undefined, ...successor, files: [] });
    }
    this.#read.clear();
    const judged = wanted.filter((path) => this.#text(reader, path).hasEvidence);
    const pending = this.#verdictsOf(reader, judged);
    this.#read.clear();
    const verdicts = await pending;
    const today = reader.history.today();
    for (const path of wanted) {
      const { annotations, links, records, hasEvidence } = this.#text(reader, path);
      const { supersededBy, expires, status, evidence } = annotations;
      const verdict = verdicts.get(path);
      const superseded = links.flatMap((link) => {
        const { name, by } = this.#successorOf(reader, link);
        return by !== undefined && by !== path ? [`It names ${name}, which ${by} supersedes.`] : [];
      });
      const all = [
        ...(supersededBy === undefined ? [] : [`Superseded by ${supersededBy}.`]),
        ...(expires !== undefined && expires < today ? [`Expired on ${expires}.`] : []),
        ...(verdict?.doubts ?? []),
        ...superseded,
      ];
      const rest = all.length - maxCautions;
      const shown = rest > 0 ? [...all.slice(0, maxCautions), `And ${rest} more.`] : all;
      const head = verdict?.bound ? verdict.head : hasEvidence && !verdict ? '' : undefined;
      found.set(path, {
        reasons: shown,
        ...(status !== undefined && status !== 'fact' && { status }),
        superseded: supersededBy !== undefined,
        ...(supersededBy !== undefined && { successor: parseAddress(supersededBy).path }),
        files: (verdict?.files ?? []).map(({ path, stat, precise }) => [
          this.#codeAt(reader, verdict?.head ?? '').code.inTree(path),
          placeState(stat, precise),
        ]),
        ...(head !== undefined && { head }),
        ...(expires !== undefined && { day: today }),
        ...(records.length > 0 && { records }),
        ...(evidence.length > 0 && { evidence: evidence.map((one) => one.path) }),
      });
    }
    return found;
  }

  /** The address of a record or section, and of the one that has replaced it. */
  #successorOf(
    reader: HistoryReader,
    address: string,
  ): { readonly name: string; readonly by?: string } {
    const { path, section } = parseAddress(address);
    const known = reader.mayRead(path) ? this.#text(reader, path) : undefined;
    const found = section === undefined ? undefined : known?.sections?.find(section);
    const by =
      section === undefined
        ? known?.annotations.supersededBy
        : found && known?.sections?.statementsOf(found).supersededBy;
    const name = (found && known?.sections?.addressOf(found)) ?? address;
    return { name, ...(by !== undefined && { by }) };
  }

  #text(reader: HistoryReader, path: string): RecordText {
    const now = this.#textsNow.get(() => new Map());
    const text = now.get(path) ?? this.#textOf(reader, path);
    now.set(path, text);
    return text;
  }

  #textOf(reader: HistoryReader, path: string): RecordText {
    const { view } = reader.history.memory;
    const record = view.typeOf(path) && reader.record(path);
    const known = this.#texts.get(path);
    if (known && record && sameStat(known.stat, record.stat)) return known;
    const text = record && readText(reader, path);
    const checked = record && new CheckedRecord(record.type, path, { text: () => text ?? '' });
    const { annotations, sections } = checked?.statements ?? readStatements(path, '');
    const own = new Set([annotations.supersededBy, ...annotations.supersedes]);
    const named = new NamedRecords(view);
    const links = checked
      ? named
          .of(checked)
          .filter((link) => !own.has(link) && view.typeOf(parseAddress(link).path) !== undefined)
      : [];
    const places = checked ? named.placesOf(checked) : [];
    if (checked && checked.evidence.length > 0) this.#read.set(path, checked);
    const read: RecordText = {
      stat: record?.settled ? record.stat : undefined,
      annotations,
      hasEvidence: checked !== undefined && checked.evidence.length > 0,
      links,
      records: [...new Set([...links.map((link) => parseAddress(link).path), ...places])],
      sections,
    };
    if (this.#texts.size >= maxKnown) this.#texts.clear();
    this.#texts.set(path, read);
    return read;
  }

  /** The verdicts about the code that records rest on. */
  async #verdictsOf(
    reader: HistoryReader,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, Verdicts>> {
    if (paths.length === 0) return new Map();
    try {
      const { codeHead: head, head: memory } = reader;
      if (head === undefined || memory === undefined) return new Map();
      const statOf = this.#stats(reader, head);
      const outdated = paths.filter((path) => !this.#isCurrent(reader, head, path, statOf));
      if (outdated.length > 0) await this.#judge(reader, { head, memory }, outdated, statOf);
      return new Map(
        paths.flatMap((path) => {
          const known = this.#verdicts.get(path);
          return known ? [[path, known] as const] : [];
        }),
      );
    } catch (error) {
      // A search also answers where the repository cannot be read; the check reports the reason.
      if (error instanceof MemoryError && error.code !== 'cancelled') return new Map();
      throw error;
    }
  }

  #isCurrent(reader: HistoryReader, head: Oid, path: string, statOf: StatOf): boolean {
    const known = this.#verdicts.get(path);
    if (!known || known.head !== head) return false;
    if (!sameStat(known.record, reader.record(path)?.stat)) return false;
    return known.files.every(({ path, stat }) => sameStat(stat, statOf(path)));
  }

  /** Takes the stat of each file once, however many records name it. */
  #stats(reader: HistoryReader, head: Oid): StatOf {
    const { work } = reader.history.code.repository;
    const { code } = this.#codeAt(reader, head);
    const known = new Map<string, Stat | undefined>();
    const statOf = (path: string): Stat | undefined => {
      if (known.has(path)) return known.get(path);
      // A text names many things that look like paths: nothing is below a folder that is missing.
      const slash = path.lastIndexOf('/');
      const isLost = slash > 0 && !statOf(path.slice(0, slash));
      const stat = isLost ? undefined : peek(work, code.inTree(path));
      known.set(path, stat);
      return stat;
    };
    return statOf;
  }

  #codeAt(reader: HistoryReader, head: Oid): CodeNow {
    if (this.#code?.head !== head) {
      this.#code = codeNow(reader, head, this.#code);
    }
    return this.#code;
  }

  /** @param heads the last commits of the code and of the memory. */
  async #judge(
    reader: HistoryReader,
    { head, memory }: { readonly head: Oid; readonly memory: Oid },
    paths: readonly string[],
    statOf: StatOf,
  ): Promise<void> {
    const since = Date.now();
    const pause = () => reader.rights.signal.throwIfAborted();
    const now = this.#codeAt(reader, head);
    const places = new NamedPlaces(reader, memory);
    // Nothing has been awaited since these were read.
    const known = paths.flatMap((path) => this.#read.get(path) ?? []);
    const unknown = paths.filter((path) => !this.#read.has(path));
    for (const record of [...known, ...readRecords(reader, unknown)]) places.add(record);
    const based = await withBaselines(reader, memory, head, places.all);
    const files = new Set(based.map(({ reference }) => reference.path));
    // Taken before the files are read: a change between the two shows at the next call.
    for (const file of files) statOf(file);
    const judged = byKey(await inSlices(judgeAll(now, undefined, based), pause), (one) => {
      return one.record;
    });
    const committed = new Set(
      places.all.flatMap(({ record, references, committed }) =>
        committed.size === references.length ? [record] : [],
      ),
    );
    if (this.#verdicts.size >= maxKnown) this.#verdicts.clear();
    for (const path of paths) {
      const own = judged.get(path) ?? [];
      const found = [...placesOf(own)].map(([path, precise]): Place => {
        return { path, stat: statOf(path), precise };
      });
      this.#verdicts.delete(path);
      const doubts = sentences(own);
      // The baseline of an uncommitted change is HEAD.
      const bound = doubts.length > 0 || !committed.has(path);
      // A file that was changed a moment ago can change again without another timestamp.
      if (found.some(({ stat }) => stat?.kind === 'file' && !isSettled(stat, since))) {
        this.#set(path, { head: '', record: undefined, files: [], doubts, bound: true });
      } else {
        const record = reader.record(path)?.stat;
        this.#set(path, { head, record, files: found, doubts, bound });
      }
    }
  }

  #set(path: string, verdicts: Verdicts): void {
    this.#verdicts.set(path, verdicts);
  }
}

function peek(work: Folder, path: string): Stat | undefined {
  try {
    return work.peek(path);
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/**
 * The files that verdicts depend on, and whether their content matters.
 *
 * A place without a judgement is one that the baseline does not have, so nothing can become of it: a text
 * names many things that look like paths.
 */
function placesOf(judged: readonly Judged[]): Map<string, boolean> {
  const places = new Map<string, boolean>();
  const add = (path: string, precise: boolean) => {
    places.set(path, precise || (places.get(path) ?? false));
  };
  for (const { reference, judgement } of judged) {
    const hasText = reference.source === 'given' && reference.fingerprint !== undefined;
    add(reference.path, reference.lines !== undefined || hasText);
    if (judgement.now) add(judgement.now.path, judgement.now.lines !== undefined);
  }
  return places;
}

function sentences(judged: readonly Judged[]): string[] {
  const doubted = judged.filter(({ judgement: { verdict } }) => {
    return ['changed', 'gone', 'beyond'].includes(verdict);
  });
  return [...new Set(doubted.map((one) => describe(one)))];
}
