import { MemoryError } from '../../core/error.ts';
import { formatPlace } from '../../core/evidence/annotations.ts';
import { formatReference } from '../../core/evidence/reference.ts';
import {
  type EvidenceFinding,
  type EvidenceReport,
  type EvidenceRequest,
  type RecordFindings,
  type Severity,
  severityOf,
  type Verdict,
} from '../../core/evidence/verdict.ts';
import type { CommitInfo } from '../../core/history.ts';
import { type Oid, objectId } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { pathChanges } from '../history/change-index.ts';
import { ancestors } from '../history/lineage.ts';
import { isBelow, memoryPath, type Visit } from '../history/visit.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { type Baseline, FileJudge, type Judgement } from './judgement.ts';
import { codeGraph, indexGraph, lastCommits } from './last-commits.ts';
import { ProjectCode } from './project-code.ts';
import { evidenceOf, type Ground, maxEvidence } from './record-evidence.ts';
import { RenameSearch } from './rename-search.ts';

/** One place that a record rests on, and the state of the code on which it was written. */
interface Claim {
  readonly record: string;
  readonly reference: Ground;
  readonly baseline: Baseline;
}

interface Judged extends Claim {
  readonly judgement: Judgement;
}

const noCounts: EvidenceReport['counts'] = {
  fresh: 0,
  moved: 0,
  ambiguous: 0,
  changed: 0,
  gone: 0,
  unknown: 0,
};

const order: readonly Severity[] = ['error', 'warning', 'notice', 'info'];

/** Compares the code that records rest on with the code in the work tree. */
export async function checkEvidence(
  visit: Visit,
  request: EvidenceRequest,
): Promise<EvidenceReport> {
  const { archive } = visit;
  const { memory } = archive;
  await memory.refresh();
  const head = await visit.resolve('HEAD');
  const since =
    request.since === undefined ? undefined : await forkPoint(visit, head, request.since);
  const code = new ProjectCode(archive.repository, rootIn(memory.inTree('')));
  const claims = await inSlices(findClaims(visit, head, memoryPath(request.path)), () =>
    visit.permit.signal.throwIfAborted(),
  );
  const based = await withBaselines(visit, head, claims);
  const judged = await inSlices(judgeAll(visit, code, head, since, based), () =>
    visit.permit.signal.throwIfAborted(),
  );
  return report(visit, code, head, judged);
}

/** Refuses a path without records, because a misspelt path would always pass. */
function checkPath(paths: readonly string[], below: string | undefined): void {
  if (below === undefined || paths.some((path) => isBelow(path, below))) return;
  throw new MemoryError('not_found', `There is no record at or below ${JSON.stringify(below)}.`, {
    hint: 'Give a path relative to .memory-bank/, as "memory-bank list" prints them.',
  });
}

/** The root of the project, relative to the top of the work tree, from the folder of its memory. */
function rootIn(folder: string): string {
  return folder.slice(0, folder.lastIndexOf('/') + 1);
}

/** The last common commit of HEAD and a revision; the revision itself where there is none. */
async function forkPoint(visit: Visit, head: Oid, revision: string): Promise<Oid> {
  const oid = await visit.resolve(revision);
  const [here, there] = [await visit.place(head), await visit.place(oid)];
  const own = ancestors(there.index, here.number);
  const others = ancestors(there.index, there.number);
  const common = [...Array(Math.min(own.length, others.length)).keys()].findLast(
    (commit) => own[commit] && others[commit],
  );
  return common === undefined ? oid : there.index.commit(common).oid;
}

/** The places that a record names, and whether HEAD has the record as it is on disk. */
interface Named {
  readonly record: string;
  readonly committed: boolean;
  readonly references: readonly Ground[];
}

function* findClaims(visit: Visit, head: Oid, below: string | undefined): Steps<Named[]> {
  const { archive } = visit;
  const past = archive.records(head);
  const found: Named[] = [];
  let count = 0;
  const paths = archive.memory.view.paths().sort();
  checkPath(paths, below);
  for (const record of paths) {
    yield;
    const type = archive.typeOf(record);
    if (!type || !isBelow(record, below) || !visit.mayRead(record)) continue;
    const text = readText(visit, record);
    if (text === undefined) continue;
    const references = evidenceOf(type, record, text).slice(0, maxEvidence - count);
    count += references.length;
    if (references.length === 0) continue;
    const committed = past.oid(record) === objectId('blob', Buffer.from(text));
    found.push({ record, committed, references });
  }
  return found;
}

/** The text of a record; undefined if the file cannot be read, which other commands report. */
function readText(visit: Visit, path: string): string | undefined {
  try {
    return visit.archive.memory.text(path);
  } catch {
    return undefined;
  }
}

/** Adds the commit that last changed each record; HEAD for a record with uncommitted changes. */
async function withBaselines(visit: Visit, head: Oid, named: readonly Named[]): Promise<Claim[]> {
  const { index, number } = await visit.place(head);
  const committed = named.flatMap(({ record, committed }) => (committed ? [record] : []));
  const last = await inSlices(lastCommits(indexGraph(index), number, committed));
  return named.flatMap(({ record, references }) => {
    const change = last.get(record);
    const baseline = change
      ? { commit: index.commit(change.commit).oid, cut: change.cut }
      : { commit: head, cut: false };
    return references.map((reference) => ({ record, reference, baseline }));
  });
}

/** Judges all claims, file by file, so that each file is read once. */
function* judgeAll(
  visit: Visit,
  code: ProjectCode,
  head: Oid,
  since: Oid | undefined,
  claims: readonly Claim[],
): Steps<Judged[]> {
  const { odb } = visit.archive.repository;
  const renames = new RenameSearch(code, odb, head);
  const touched =
    since === undefined
      ? undefined
      : new Set(pathChanges(odb, treeOf(odb, since), treeOf(odb, head)).map(({ path }) => path));
  const judged: Judged[] = [];
  for (const [path, group] of byKey(claims, ({ reference }) => reference.path)) {
    const judge = new FileJudge(code, renames, head, path);
    if (touched && !touched.has(code.inTree(path)) && !judge.differsFrom(head)) continue;
    for (const claim of group) {
      const judgement = judge.judge(claim.baseline, claim.reference);
      if (judgement) judged.push({ ...claim, judgement });
      yield;
    }
  }
  return judged;
}

async function report(
  visit: Visit,
  code: ProjectCode,
  head: Oid,
  judged: readonly Judged[],
): Promise<EvidenceReport> {
  const lost = judged.filter(({ judgement }) => isLost(judgement));
  const paths = new Set(lost.map(({ reference }) => code.inTree(reference.path)));
  const commits = await inSlices(
    lastCommits(codeGraph(visit.archive.repository.odb), head, paths),
    () => visit.permit.signal.throwIfAborted(),
  );
  const infos = new Map<Oid, CommitInfo>();
  for (const { commit } of commits.values()) {
    if (!infos.has(commit)) infos.set(commit, await visit.describe(commit));
  }
  const counts: { -readonly [verdict in Verdict]: number } = { ...noCounts };
  const findings = byKey(judged, ({ record }) => record);
  const rank = ({ severity }: EvidenceFinding) => order.indexOf(severity);
  const records = [...findings].map(([path, claims]): RecordFindings => {
    const all = claims.map((claim) => {
      const { reference, judgement } = claim;
      counts[judgement.verdict] += 1;
      const last = isLost(judgement) ? commits.get(code.inTree(reference.path)) : undefined;
      return toFinding(claim, last && infos.get(last.commit));
    });
    return { path, findings: all.sort((a, b) => rank(a) - rank(b)) };
  });
  return { records: records.sort((a, b) => (a.path < b.path ? -1 : 1)), counts };
}

/** Whether a commit has taken the text away. */
function isLost({ verdict, uncommitted }: Judgement): boolean {
  return (verdict === 'changed' || verdict === 'gone') && !uncommitted;
}

function byKey<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function toFinding(
  { reference, judgement }: Judged,
  commit: CommitInfo | undefined,
): EvidenceFinding {
  const { verdict, now } = judgement;
  return {
    kind: 'evidence',
    verdict,
    severity: severityOf[verdict],
    evidence: {
      path: reference.path,
      lines: reference.lines,
      ...(reference.symbol !== undefined && { symbol: reference.symbol }),
      source: reference.source,
    },
    now,
    commit: commit?.oid,
    message: describe(reference, judgement, commit),
  };
}

function describe(
  reference: Ground,
  { verdict, now, reason, uncommitted }: Judgement,
  commit: CommitInfo | undefined,
): string {
  const place = formatPlace(reference);
  const here = now ? formatReference(now) : '';
  const by = commit
    ? `, last by ${commit.oid.slice(0, 12)} (${commit.author}: ${commit.subject})`
    : uncommitted
      ? ', not committed yet'
      : '';
  switch (verdict) {
    case 'fresh':
      return `${place} is as it was.`;
    case 'moved':
      return `${place} is now ${here}.`;
    case 'ambiguous':
      return `The text of ${place} occurs more than once; the nearest is ${here}.`;
    case 'changed':
      return `The text of ${place} was changed${by}.`;
    case 'gone':
      return `${place} was removed${by}.`;
    case 'unknown':
      return `Nothing is known about ${place}: ${reason ?? 'git cannot say'}.`;
  }
}
