import { MemoryError } from '../../core/error.ts';
import { saysTheSame } from '../../core/evidence/annotations.ts';
import { type Oid, objectId, parseCommit } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { pathChanges } from '../history/change-index.ts';
import type { PastRecords } from '../history/past-records.ts';
import type { Visit } from '../history/visit.ts';
import { codeCommitOf } from '../records/message.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { type Baseline, FileJudge, type Judgement } from './judgement.ts';
import {
  type CommitGraph,
  codeGraph,
  indexGraph,
  keyedByPath,
  lastCommits,
} from './last-commits.ts';
import { ProjectCode } from './project-code.ts';
import { CheckedRecord, type Ground, maxEvidence } from './record-evidence.ts';
import { RenameSearch } from './rename-search.ts';

/** Limit of the present texts that stay in memory to show what has changed, in bytes. */
const maxKept = 64 * 1024 * 1024;

/** One place that a record rests on, and the state of the code on which it was written. */
export interface Claim {
  readonly record: string;
  readonly reference: Ground;
  readonly baseline: Baseline;
}

export interface Judged extends Claim {
  readonly judgement: Judgement;
}

/** The code that claims are compared with. */
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

/** The places that a record names, and whether HEAD has the same statement as the disk. */
export interface Named {
  readonly record: string;
  readonly committed: boolean;
  readonly references: readonly Ground[];
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
    const committed =
      this.#past.oid(path) === objectId('blob', Buffer.from(text)) ||
      saysTheSame(path, orNothing(() => this.#past.text(path)) ?? '', text);
    this.all.push({ record: path, committed, references });
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

/**
 * Adds the commit of the code on which each record was last changed; that of today for a record with
 * uncommitted changes.
 *
 * @param memory the last commit of the memory.
 * @param head the last commit of the code.
 */
export async function withBaselines(
  visit: Visit,
  memory: Oid,
  head: Oid,
  named: readonly Named[],
): Promise<Claim[]> {
  const { index, number } = await visit.place(memory);
  const committed = named.flatMap(({ record, committed }) => (committed ? [record] : []));
  const graph = indexGraph(index, visit.archive.repository.odb);
  const last = await inSlices(lastCommits(graph, number, keyedByPath(committed)));
  const codes = new Map<number, Pick<Baseline, 'commit' | 'guessed'>>();
  for (const { commit } of last.values()) {
    if (!codes.has(commit)) codes.set(commit, await codeAt(visit, index.commit(commit).oid, head));
  }
  return named.flatMap(({ record, references }) => {
    const change = last.get(record);
    const baseline = (change && codes.get(change.commit)) ?? { commit: head };
    const cut = change?.cut ?? false;
    return references.map((reference) => ({ record, reference, baseline: { ...baseline, cut } }));
  });
}

/**
 * The commit of the code at which a commit of the memory was made: the one that its message names, itself,
 * or for a memory apart from the code, the last one before it.
 */
async function codeAt(
  visit: Visit,
  commit: Oid,
  head: Oid,
): Promise<Pick<Baseline, 'commit' | 'guessed'>> {
  const { code, memory, repository } = visit.archive;
  const { message, committer } = parseCommit(repository.odb.content(commit, 'commit'));
  const named = codeCommitOf(message);
  if (named !== undefined && code.repository.odb.has(named)) return { commit: named };
  if (!memory.isApart) return { commit };
  const before = code.before(head, committer.seconds, visit.permit).catch((error) => {
    if (error instanceof MemoryError && error.code === 'not_found') return head;
    throw error;
  });
  return { commit: await before, guessed: named !== undefined };
}

/** Judges all claims, file by file, so that each file is read once. */
export function* judgeAll(
  visit: Visit,
  { code, renames, head }: CodeNow,
  since: Oid | undefined,
  claims: readonly Claim[],
): Steps<Judged[]> {
  const { odb } = visit.archive.code.repository;
  const touched =
    since === undefined
      ? undefined
      : new Set(pathChanges(odb, treeOf(odb, since), treeOf(odb, head)).map(({ path }) => path));
  const judged: Judged[] = [];
  let kept = 0;
  function* judgeGroup(judge: FileJudge, group: readonly Claim[]): Steps {
    let size = 0;
    for (const claim of group) {
      const judgement = judge.judge(claim.baseline, claim.reference);
      const lost = judgement?.lost;
      size = Math.max(size, lost?.bytes?.length ?? 0);
      if (judgement && lost && kept + size > maxKept) {
        judged.push({ ...claim, judgement: { ...judgement, lost: { ...lost, bytes: undefined } } });
      } else if (judgement) judged.push({ ...claim, judgement });
      yield;
    }
    kept += size;
  }
  const removed = new Map<string, readonly [judge: FileJudge, group: readonly Claim[]]>();
  for (const [path, group] of byKey(claims, ({ reference }) => reference.path)) {
    const judge = new FileJudge(code, renames, head, path);
    if (touched && !touched.has(code.inTree(path)) && !judge.differsFrom(head)) continue;
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
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
