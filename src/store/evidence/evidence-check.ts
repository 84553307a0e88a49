import { join } from 'node:path/posix';
import { formatPlace } from '../../core/evidence/annotations.ts';
import { type Severity, verdicts } from '../../core/evidence/finding-kinds.ts';
import { formatReference } from '../../core/evidence/reference.ts';
import type {
  CheckFinding,
  EvidenceFinding,
  EvidenceReport,
  EvidenceRequest,
  RecordFindings,
  TextFinding,
  TextKind,
  Verdict,
} from '../../core/evidence/verdict.ts';
import type { CommitInfo } from '../../core/memory/history.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import { ancestors } from '../history/lineage.ts';
import { isBelow, memoryPath, type Visit } from '../history/visit.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { type Named, withBaselines } from './baselines.ts';
import { fileFindings, secretFindings, settingsFindings } from './file-findings.ts';
import { changedPlace, lineNaming } from './finding-lines.ts';
import {
  byKey,
  codeNow,
  type Judged,
  judgeAll,
  NamedPlaces,
  readRecords,
  readText,
} from './judged-places.ts';
import { NamedRecords } from './named-records.ts';
import { type SpanChange, spanChanges } from './span-changes.ts';
import { type RecordStatements, statementsOf, textFindings } from './text-findings.ts';

const noCounts: { readonly [verdict in Verdict]: number } = {
  fresh: 0,
  moved: 0,
  ambiguous: 0,
  changed: 0,
  gone: 0,
  unknown: 0,
};

type Findings = Pick<EvidenceReport, 'records' | 'counts'>;

const order: readonly Severity[] = ['error', 'warning', 'notice', 'info'];
const rank = ({ severity }: CheckFinding) => order.indexOf(severity);

/** Compares the code that records rest on with the code in the work tree. */
export async function checkEvidence(
  visit: Visit,
  request: EvidenceRequest,
): Promise<EvidenceReport> {
  const { archive } = visit;
  const { memory } = archive;
  await memory.refresh();
  const head = await visit.resolve('HEAD');
  const code = await archive.code.resolve('HEAD', visit.rights);
  const since =
    request.since === undefined ? undefined : await forkPoint(visit, code, request.since);
  const pause = () => visit.rights.signal.throwIfAborted();
  const all = memory.view.paths().sort();
  const paths = new Set(pathsBelow(all, memoryPath(request.path)));
  const { only } = request;
  const { places, statements, secrets } = await inSlices(
    readAll(visit, head, only === 'code' ? paths : all, {
      code: only === 'texts' ? new Set() : paths,
      texts: only !== 'code',
    }),
    pause,
  );
  const found = await checkCode(visit, { memory: head, code }, since, places);
  const folders = { memory: memory.inTree(''), project: join(memory.folderInCode, '..') };
  if (only === 'code') return { ...found, folders };
  // A memory apart from the code does not change with it.
  const changed =
    since === undefined
      ? paths
      : memory.isApart
        ? new Set<string>()
        : changedRecords(visit, since, head, paths);
  const texts = textFindings(visit, statements, archive.today(), request.tending === true);
  const files = await inSlices(fileFindings(visit), pause);
  const ofTexts = await inSlices(texts, pause);
  const ofRecords = [...files, ...secrets, ...ofTexts].filter(([path]) => changed.has(path));
  // The settings are not a record, and concern all records.
  return { ...withTexts(found, [...ofRecords, ...settingsFindings(visit)]), folders };
}

/** Reads each record once, for its places in the code and for its statements. */
function* readAll(
  visit: Visit,
  head: Oid,
  paths: Iterable<string>,
  wanted: { readonly code: ReadonlySet<string>; readonly texts: boolean },
): Steps<{
  readonly places: readonly Named[];
  readonly statements: readonly RecordStatements[];
  readonly secrets: ReadonlyMap<string, readonly TextFinding[]>;
}> {
  const places = new NamedPlaces(visit, head);
  const statements: RecordStatements[] = [];
  const secrets = new Map<string, readonly TextFinding[]>();
  const { memory } = visit.archive;
  const guard = memory.secretGuard();
  const links = new NamedRecords(memory.view);
  for (const record of readRecords(visit, paths)) {
    yield;
    if (wanted.code.has(record.path)) places.add(record);
    if (!wanted.texts) continue;
    statements.push(statementsOf(record, links));
    const found = secretFindings(guard, record);
    if (found.length > 0) secrets.set(record.path, found);
  }
  return { places: places.all, statements, secrets };
}

async function checkCode(
  visit: Visit,
  { memory, code }: { readonly memory: Oid; readonly code: Oid },
  since: Oid | undefined,
  places: readonly Named[],
): Promise<Findings> {
  const now = codeNow(visit, code);
  const pause = () => visit.rights.signal.throwIfAborted();
  const based = await withBaselines(visit, memory, code, places);
  const judged = await inSlices(judgeAll(visit, now, since, based), pause);
  const changes = await inSlices(
    spanChanges(visit.archive.code.repository.odb, now, judged),
    pause,
  );
  if (since === undefined) return report(visit, judged, changes);
  const recent = await changedAfter(visit, since, changes);
  return report(visit, judged.filter(recent), changes);
}

/** Returns whether a place is as it was, or was changed by a commit that another one does not contain. */
async function changedAfter(
  visit: Visit,
  since: Oid,
  changes: ReadonlyMap<Judged, SpanChange>,
): Promise<(one: Judged) => boolean> {
  const place = await visit.codePlace(since);
  const known = ancestors(place.index, place.number);
  const old = new Set<Oid>();
  for (const { commit, exact } of changes.values()) {
    if (commit === undefined || !exact || old.has(commit)) continue;
    const { number } = await visit.codePlace(commit);
    if (known[number]) old.add(commit);
  }
  return (one) => {
    const change = changes.get(one);
    return !change?.exact || change.commit === undefined || !old.has(change.commit);
  };
}

/** The records that differ from a commit in HEAD. */
function changedRecords(
  visit: Visit,
  since: Oid,
  head: Oid,
  paths: ReadonlySet<string>,
): ReadonlySet<string> {
  const changed = new Set(visit.changes(since, head, undefined).map(({ path }) => path));
  return new Set([...paths].filter((path) => changed.has(path)));
}

/** Adds findings that are not about code, by the paths of their files. */
function withTexts(
  { records, counts }: Findings,
  others: Iterable<readonly [path: string, findings: readonly TextFinding[]]>,
): Findings {
  const all = new Map<string, readonly CheckFinding[]>(
    records.map(({ path, findings }) => [path, findings]),
  );
  const kinds: { [kind in TextKind]?: number } = {};
  for (const [path, findings] of others) {
    for (const { kind } of findings) kinds[kind] = (kinds[kind] ?? 0) + 1;
    all.set(
      path,
      [...(all.get(path) ?? []), ...findings].sort((a, b) => rank(a) - rank(b)),
    );
  }
  return {
    records: [...all]
      .map(([path, findings]) => ({ path, findings }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    counts: { ...counts, ...kinds },
  };
}

/** Refuses a path without records, because a misspelt path would always pass. */
function pathsBelow(paths: readonly string[], below: string | undefined): readonly string[] {
  const found = paths.filter((path) => isBelow(path, below));
  if (below === undefined || found.length > 0) return found;
  throw new MemoryError('not_found', `There is no record at or below ${JSON.stringify(below)}.`, {
    hint: 'Give a path relative to .memory-bank/, as "memory-bank list" prints them.',
  });
}

/** The last common commit of HEAD and a revision; the revision itself where there is none. */
export async function forkPoint(visit: Visit, head: Oid, revision: string): Promise<Oid> {
  const oid = await visit.archive.code.resolve(revision, visit.rights);
  const [here, there] = [await visit.codePlace(head), await visit.codePlace(oid)];
  const own = ancestors(there.index, here.number);
  const others = ancestors(there.index, there.number);
  const common = [...Array(Math.min(own.length, others.length)).keys()].findLast(
    (commit) => own[commit] && others[commit],
  );
  return common === undefined ? oid : there.index.commit(common).oid;
}

async function report(
  visit: Visit,
  judged: readonly Judged[],
  changes: ReadonlyMap<Judged, SpanChange>,
): Promise<Findings> {
  const infos = new Map<Oid, CommitInfo>();
  for (const { commit } of changes.values()) {
    if (commit && !infos.has(commit)) infos.set(commit, await visit.describeCode(commit));
  }
  const counts: { -readonly [verdict in Verdict]: number } = { ...noCounts };
  const findings = byKey(judged, ({ record }) => record);
  const records = [...findings].map(([path, own]): RecordFindings => {
    const isFresh = own.every(({ judgement }) => judgement.verdict === 'fresh');
    const text = isFresh ? undefined : readText(visit, path);
    const all = own.map((one) => {
      counts[one.judgement.verdict] += 1;
      const change = changes.get(one);
      const by = change?.commit ? infos.get(change.commit) : undefined;
      return toFinding(one, change, by, text === undefined ? undefined : lineNaming(text, one));
    });
    return { path, findings: all.sort((a, b) => rank(a) - rank(b)) };
  });
  return { records: records.sort((a, b) => (a.path < b.path ? -1 : 1)), counts };
}

function toFinding(
  judged: Judged,
  change: SpanChange | undefined,
  commit: CommitInfo | undefined,
  line: number | undefined,
): EvidenceFinding {
  const { reference, judgement } = judged;
  const { verdict, now } = judgement;
  const place = changedPlace(judged, change?.diff);
  return {
    kind: 'evidence',
    verdict,
    severity: verdicts[verdict].severity,
    evidence: {
      path: reference.path,
      lines: reference.lines,
      ...(reference.symbol !== undefined && { symbol: reference.symbol }),
      source: reference.source,
      ...(reference.source === 'given' && { fingerprint: reference.fingerprint }),
    },
    now,
    commit: commit?.oid,
    ...(change?.diff !== undefined && { diff: change.diff }),
    ...(place && { change: place }),
    ...(line !== undefined && { line }),
    message: describe(judged, commit, change?.exact),
  };
}

/** Says in one sentence what has become of a place. */
export function describe(
  { reference, judgement }: Judged,
  commit?: CommitInfo,
  exact = true,
): string {
  const { verdict, now, reason, uncommitted } = judgement;
  const place = formatPlace(reference);
  const here = now ? formatReference(now) : '';
  const by = commit
    ? `${exact ? ', last' : '; its file was last changed'} by ${commit.oid.slice(0, 12)} (${commit.author}: ${commit.subject})`
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
