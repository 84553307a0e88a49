import { bothSay, saysTheSame, statementOf } from '../../core/evidence/statement.ts';
import type { Verdict } from '../../core/evidence/verdict.ts';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { isBlob, type Oid } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { pathChanges } from '../history/change-index.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { PastRecords } from '../history/past-records.ts';
import { isSettled } from '../records/record-file.ts';
import { join } from '../records/record-path.ts';
import type { Steps } from '../records/slices.ts';
import type { Named, PlaceBaseline } from './baselines.ts';
import { FileJudge, type Judgement } from './judgement.ts';
import { type CommitGraph, codeGraph } from './last-commits.ts';
import { ProjectCode } from './project-code.ts';
import { CheckedRecord, type Ground, maxEvidence } from './record-evidence.ts';
import { RenameSearch } from './rename-search.ts';
import type { SavedReadings } from './saved-readings.ts';

/** Limit of the present texts that stay in memory to show what has changed, in bytes. */
const maxKept = 64 * 1024 * 1024;

export interface Judged extends PlaceBaseline {
  readonly judgement: Judgement;
}

/** The code that places are compared with. */
export interface CodeNow {
  readonly head: Oid;
  readonly code: ProjectCode;
  readonly renames: RenameSearch;
  /** The history of the code. */
  readonly graph: CommitGraph<Oid>;
}

/**
 * The code of the project in the work tree, and at a commit.
 *
 * @param head of the code.
 */
export function codeNow({ history }: HistoryReader, head: Oid, earlier?: CodeNow): CodeNow {
  const { repository } = history.code;
  const folder = history.memory.folderInCode;
  // The root of the project is the folder of its memory.
  const code = new ProjectCode(repository, folder.slice(0, folder.lastIndexOf('/') + 1));
  const graph = earlier?.graph ?? codeGraph(repository.odb);
  const renames = new RenameSearch(code, repository.odb, head, graph, earlier?.renames);
  return { head, code, renames, graph };
}

/** The changes of a branch to which a check is limited. */
export class BranchCode {
  /** The commit at which the branch begins: code that is the same there does not count. */
  readonly since: Oid;
  /** The records that were written since. */
  readonly records: ReadonlySet<string>;
  readonly #now: CodeNow;
  readonly #touched: ReadonlySet<string>;
  readonly #known = new Map<string, boolean>();

  constructor({ history }: HistoryReader, now: CodeNow, since: Oid, records: ReadonlySet<string>) {
    [this.#now, this.since, this.records] = [now, since, records];
    const { odb } = history.code.repository;
    const changes = pathChanges(odb, treeOf(odb, since), treeOf(odb, now.head));
    this.#touched = new Set(changes.map(({ path }) => path));
  }

  /** Whether the branch or the work tree changes a file. */
  touches(path: string): boolean {
    const { code, renames, head } = this.#now;
    const known =
      this.#known.get(path) ??
      (this.#touched.has(code.inTree(path)) ||
        new FileJudge(code, renames, head, path).differsFrom(head));
    this.#known.set(path, known);
    return known;
  }
}

/**
 * Reads records; those that cannot be read, or that the session may not read, are left out.
 *
 * @param saved the readings of earlier checks.
 */
export function* readRecords(
  reader: HistoryReader,
  paths: Iterable<string>,
  saved?: SavedReadings,
): Generator<CheckedRecord> {
  const { memory } = reader.history;
  for (const path of paths) {
    const type = reader.history.typeOf(path);
    if (!type || !reader.mayRead(path)) continue;
    const reading = saved?.of(path);
    const since = Date.now();
    const file = reading ? undefined : orNothing(() => memory.recordFile(path));
    if (!reading && !file) continue;
    const value = () =>
      (file ? memory.view.take(path, file, since) : memory.view.known(path))?.value;
    const stat = file && isSettled(file.stat, since) ? file.stat : undefined;
    const text = () => file?.text ?? readText(reader, path) ?? '';
    yield new CheckedRecord(type, path, { text, stat, value, reading });
  }
}

/** Collects the places that records rest on, up to a limit. */
export class NamedPlaces {
  readonly all: Named[] = [];
  readonly #reader: HistoryReader;
  readonly #branch: BranchCode | undefined;
  readonly #past: PastRecords;
  readonly #staging = new MicrotaskMemo<ReturnType<Repository['staging']>>();
  /** The path of the memory folder in the trees of its repository. */
  readonly #folder: string;
  #count = 0;

  /** @param branch the changes to which the check is limited. */
  constructor(reader: HistoryReader, head: Oid, branch?: BranchCode) {
    this.#reader = reader;
    this.#branch = branch;
    this.#past = reader.history.records(head);
    this.#folder = reader.history.memory.inTree('');
  }

  add(record: CheckedRecord): void {
    const { path } = record;
    const branch = this.#branch?.records.has(path) ? undefined : this.#branch;
    const references = record.evidence
      .filter((one) => branch?.touches(one.path) ?? true)
      .slice(0, maxEvidence - this.#count);
    this.#count += references.length;
    if (references.length === 0) return;
    this.all.push({ record: path, references, committed: this.#committed(record, references) });
  }

  /** The places about which the last commit says the same. */
  #committed(record: CheckedRecord, references: readonly Ground[]): ReadonlySet<Ground> {
    const { path } = record;
    const committed = this.#past.oid(path);
    if (committed !== undefined && this.#isBlob(record, committed)) return new Set(references);
    const { text } = record;
    const past = orNothing(() => this.#past.text(path)) ?? '';
    if (saysTheSame(path, past, text)) return new Set(references);
    const [before, now] = [past, text].map((one) => statementOf(path, one));
    if (!before || !now) return new Set();
    return new Set(
      references.filter((one) => {
        const sections = one.source === 'found' ? one.sections : undefined;
        return sections?.every((section) => bothSay(before, now, section)) ?? false;
      }),
    );
  }

  /** Whether a record is the blob with this id, which git's index says of most without a look at the text. */
  #isBlob(record: CheckedRecord, oid: Oid): boolean {
    const { path } = record;
    const { memory, repository } = this.#reader.history;
    const stat = record.stat ?? memory.view.lastRead(path)?.stat;
    const staged = this.#staging.get(() => repository.staging());
    if (stat && staged(join(this.#folder, path), stat) === oid) return true;
    return isBlob(Buffer.from(record.text), oid);
  }
}

/** The text of a record; undefined if the file cannot be read, which other commands report. */
export function readText(reader: HistoryReader, path: string): string | undefined {
  return orNothing(() => reader.history.memory.recordFile(path))?.text;
}

function orNothing<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Judges all places, file by file, so that each file is read once. */
export function* judgeAll(
  { code, renames, head }: CodeNow,
  branch: BranchCode | undefined,
  based: readonly PlaceBaseline[],
): Steps<Judged[]> {
  const judged: Judged[] = [];
  let kept = 0;
  function* judgeGroup(judge: FileJudge, group: readonly PlaceBaseline[], only?: Verdict): Steps {
    let size = 0;
    for (const one of group) {
      const judgement = judge.judge(one.baseline, one.reference);
      if (only !== undefined && judgement?.verdict !== only) continue;
      const lost = judgement?.lost;
      size = Math.max(size, lost?.bytes?.length ?? 0);
      if (judgement && lost && kept + size > maxKept) {
        judged.push({ ...one, judgement: { ...judgement, lost: { ...lost, bytes: undefined } } });
      } else if (judgement) judged.push({ ...one, judgement });
      yield;
    }
    kept += size;
  }
  const removed = new Map<string, readonly [judge: FileJudge, group: readonly PlaceBaseline[]]>();
  for (const [path, group] of byKey(based, ({ reference }) => reference.path)) {
    const judge = new FileJudge(code, renames, head, path);
    if (branch && !branch.touches(path)) {
      // The record can name lines that the file never had.
      yield* judgeGroup(
        judge,
        group.filter(({ record }) => branch.records.has(record)),
        'beyond',
      );
      continue;
    }
    if (judge.isRemoved(group)) removed.set(path, [judge, group]);
    else yield* judgeGroup(judge, group);
  }
  // One walk through the history finds the renames of all removed files.
  if (removed.size > 0) yield* renames.follow(removed.keys());
  for (const [judge, group] of removed.values()) yield* judgeGroup(judge, group);
  return judged;
}

/** Groups items by a key, in the order of their first item. */
export function byKey<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}
