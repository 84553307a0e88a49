import { bothSay, saysTheSame, statementOf } from '../../core/evidence/statement.ts';
import type { Verdict } from '../../core/evidence/verdict.ts';
import { addTo } from '../../core/values/multimap.ts';
import { isBlob, type Oid } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { pathChanges } from '../history/change-index.ts';
import type { PastRecords } from '../history/past-records.ts';
import type { Visit } from '../history/visit.ts';
import type { Steps } from '../records/slices.ts';
import type { Named, PlaceBaseline } from './baselines.ts';
import { FileJudge, type Judgement } from './judgement.ts';
import { type CommitGraph, codeGraph } from './last-commits.ts';
import { ProjectCode } from './project-code.ts';
import { CheckedRecord, type Ground, maxEvidence } from './record-evidence.ts';
import { RenameSearch } from './rename-search.ts';

/** Limit of the present texts that stay in memory to show what has changed, in bytes. */
const maxKept = 64 * 1024 * 1024;

export interface Judged extends PlaceBaseline {
  readonly judgement: Judgement;
}

/** The changes to which a check is limited. */
export interface Since {
  /** Code that this commit has in the same form does not count. */
  readonly commit: Oid;
  /** The records that were written since. */
  readonly records: ReadonlySet<string>;
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
export function codeNow({ archive }: Visit, head: Oid, earlier?: CodeNow): CodeNow {
  const { repository } = archive.code;
  const folder = archive.memory.folderInCode;
  // The root of the project is the folder of its memory.
  const code = new ProjectCode(repository, folder.slice(0, folder.lastIndexOf('/') + 1));
  const graph = earlier?.graph ?? codeGraph(repository.odb);
  const renames = new RenameSearch(code, repository.odb, head, graph, earlier?.renames);
  return { head, code, renames, graph };
}

/** Reads records; those that cannot be read, or that the session may not read, are left out. */
export function* readRecords(visit: Visit, paths: Iterable<string>): Generator<CheckedRecord> {
  for (const path of paths) {
    const type = visit.archive.typeOf(path);
    const text = type && visit.mayRead(path) ? readText(visit, path) : undefined;
    if (type && text !== undefined) yield new CheckedRecord(type, path, text);
  }
}

/** Collects the places that records rest on, up to a limit. */
export class NamedPlaces {
  readonly all: Named[] = [];
  readonly #past: PastRecords;
  #count = 0;

  constructor(visit: Visit, head: Oid) {
    this.#past = visit.archive.records(head);
  }

  add(record: CheckedRecord): void {
    const { path, text } = record;
    const references = record.evidence.slice(0, maxEvidence - this.#count);
    this.#count += references.length;
    if (references.length === 0) return;
    this.all.push({ record: path, references, committed: this.#committed(path, text, references) });
  }

  /** The places about which the last commit says the same. */
  #committed(path: string, text: string, references: readonly Ground[]): ReadonlySet<Ground> {
    const committed = this.#past.oid(path);
    if (committed !== undefined && isBlob(Buffer.from(text), committed)) return new Set(references);
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
}

/** The text of a record; undefined if the file cannot be read, which other commands report. */
export function readText(visit: Visit, path: string): string | undefined {
  return orNothing(() => visit.archive.memory.text(path));
}

function orNothing(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Judges all places, file by file, so that each file is read once. */
export function* judgeAll(
  visit: Visit,
  { code, renames, head }: CodeNow,
  since: Since | undefined,
  based: readonly PlaceBaseline[],
): Steps<Judged[]> {
  const { odb } = visit.archive.code.repository;
  const touched =
    since === undefined
      ? undefined
      : new Set(
          pathChanges(odb, treeOf(odb, since.commit), treeOf(odb, head)).map(({ path }) => path),
        );
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
    if (touched && !touched.has(code.inTree(path)) && !judge.differsFrom(head)) {
      // The record can name lines that the file never had.
      yield* judgeGroup(
        judge,
        group.filter(({ record }) => since?.records.has(record)),
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
