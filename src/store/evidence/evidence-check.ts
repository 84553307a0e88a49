import { join } from 'node:path/posix';
import type { Severity } from '../../core/evidence/finding-kinds.ts';
import type {
  CheckFinding,
  EvidenceReport,
  EvidenceRequest,
  TextFinding,
  TextKind,
  Verdict,
} from '../../core/evidence/verdict.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Oid } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { commonAncestor } from '../history/branch-work.ts';
import { pathChanges } from '../history/change-index.ts';
import { type HistoryReader, isBelow, memoryPath } from '../history/history-reader.ts';
import { ancestors } from '../history/lineage.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { type Named, withBaselines } from './baselines.ts';
import { brokenLinks } from './broken-links.ts';
import { codeFindings } from './code-findings.ts';
import { conflictFindings, fileFindings, secretFindings } from './file-findings.ts';
import {
  BranchCode,
  type CodeNow,
  codeNow,
  type Judged,
  judgeAll,
  NamedPlaces,
  readRecords,
} from './judged-places.ts';
import { entryConflicts, entryTwins, isInConflict, layoutFindings } from './layout-findings.ts';
import { MendCommands } from './mend-commands.ts';
import { type MissingLink, NamedRecords } from './named-records.ts';
import { SavedReadings } from './saved-readings.ts';
import { ruleFindings, settingsFindings } from './settings-findings.ts';
import { type SpanChange, spanChanges } from './span-changes.ts';
import { withStoredLines } from './stored-findings.ts';
import { strayFindings } from './stray-findings.ts';
import { type RecordStatements, statementsOf, textFindings } from './text-findings.ts';

/** No finding of any verdict. */
export const noCounts: { readonly [verdict in Verdict]: number } = {
  fresh: 0,
  moved: 0,
  ambiguous: 0,
  changed: 0,
  gone: 0,
  beyond: 0,
  unknown: 0,
};

const order: readonly Severity[] = ['error', 'warning', 'notice', 'info'];
const rank = ({ severity }: CheckFinding) => order.indexOf(severity);

/** Compares the code that records rest on with the code in the work tree. */
export async function checkEvidence(
  reader: HistoryReader,
  request: EvidenceRequest,
): Promise<EvidenceReport> {
  const { memory } = reader.history;
  memory.readers += 1;
  try {
    return await checkRecords(reader, request);
  } finally {
    memory.readers -= 1;
  }
}

async function checkRecords(
  reader: HistoryReader,
  request: EvidenceRequest,
): Promise<EvidenceReport> {
  const { history } = reader;
  const { memory } = history;
  await memory.refresh();
  const head = await reader.resolve('HEAD');
  const code = await history.code.resolve('HEAD', reader.rights);
  const since =
    request.since === undefined ? undefined : await forkPoint(reader, code, request.since);
  const pause = () => reader.rights.signal.throwIfAborted();
  const all = memory.view.paths().sort();
  const paths = new Set(pathsBelow(all, memoryPath(request.path)));
  const { only } = request;
  const mend = new MendCommands(reader, head);
  const saved = new SavedReadings(reader);
  // A memory apart from the code does not change with it.
  const changed =
    since === undefined
      ? paths
      : memory.isApart
        ? new Set<string>()
        : changedRecords(reader, since, head, paths);
  const now = codeNow(reader, code);
  const branch = since === undefined ? undefined : new BranchCode(reader, now, since, changed);
  const { places, statements, contents, links } = await inSlices(
    readAll(reader, head, mend, only === 'code' ? paths : all, {
      code: only === 'texts' ? new Set() : paths,
      texts: only === 'code' ? new Set() : changed,
      saved,
      branch,
    }),
    pause,
  );
  const [judged, changes] = await checkCode(reader, head, now, branch, places);
  const ofCode = await codeFindings(reader, judged, changes, mend);
  const folders = { memory: memory.inTree(''), project: join(memory.folderInCode, '..') };
  if (only === 'code') return { ...toReport(memory, [ofCode]), folders };
  const files = await inSlices(fileFindings(reader, mend), pause);
  const saving = saved.save();
  const broken = brokenLinks(reader, links, mend);
  const texts = textFindings(reader, statements, mend, history.today(), request.tending === true);
  const ofTexts = await inSlices(texts, pause);
  const ofRecords = [files, contents, broken, ofTexts].map(
    (all) => new Map([...all].filter(([path]) => changed.has(path))),
  );
  // The settings and the rules are not records, and concern all of them.
  const others = request.path === undefined ? otherFindings(reader, since, code, mend) : [];
  await saving;
  return { ...toReport(memory, [ofCode, ...ofRecords, ...others]), folders };
}

/** Findings about the files that are not records: the settings, and others that the branch changes. */
function otherFindings(
  reader: HistoryReader,
  since: Oid | undefined,
  code: Oid,
  mend: MendCommands,
) {
  const settings = settingsFindings(reader, mend);
  const others = [
    entryConflicts(reader, mend),
    entryTwins(reader, mend),
    ruleFindings(reader, mend),
    strayFindings(reader, mend),
    layoutFindings(reader, mend),
  ];
  if (since === undefined || others.every(({ size }) => size === 0)) return [settings, ...others];
  const { odb } = reader.history.code.repository;
  const { folderInCode } = reader.history.memory;
  const changed = pathChanges(odb, treeOf(odb, since), treeOf(odb, code)).map(({ path }) => path);
  const isChanged = (path: string) => changed.includes(join(folderInCode, path));
  const concerned = (path: string, findings: readonly TextFinding[]) =>
    findings.some(({ stored }) => isChanged(stored?.path ?? path));
  return [settings, ...others.map((all) => new Map([...all].filter((one) => concerned(...one))))];
}

/**
 * Reads each record once, for its places in the code, its statements and its content.
 *
 * The statements are those of all records, because others contradict them.
 */
function* readAll(
  reader: HistoryReader,
  head: Oid,
  mend: MendCommands,
  paths: Iterable<string>,
  wanted: {
    readonly code: ReadonlySet<string>;
    readonly texts: ReadonlySet<string>;
    readonly saved: SavedReadings;
    readonly branch: BranchCode | undefined;
  },
): Steps<{
  readonly places: readonly Named[];
  readonly statements: readonly RecordStatements[];
  readonly contents: ReadonlyMap<string, readonly TextFinding[]>;
  readonly links: readonly MissingLink[];
}> {
  const places = new NamedPlaces(reader, head, wanted.branch);
  const statements: RecordStatements[] = [];
  const contents = new Map<string, readonly TextFinding[]>();
  const links: MissingLink[] = [];
  const { memory } = reader.history;
  const guard = memory.secretGuard();
  const named = new NamedRecords(memory.view);
  for (const record of readRecords(reader, paths, wanted.saved)) {
    yield;
    if (wanted.code.has(record.path)) places.add(record);
    if (wanted.texts.size === 0) continue;
    const stated = statementsOf(record, named, () =>
      isInConflict(reader, record.path, record.text),
    );
    statements.push(stated);
    if (!wanted.texts.has(record.path)) continue;
    links.push(...named.missing(record));
    if (record.known) continue;
    const found = [...secretFindings(guard, record, mend), ...conflictFindings(record, mend)];
    if (found.length > 0) contents.set(record.path, found);
    else if (stated.hidden.length === 0) wanted.saved.add(record);
  }
  return { places: places.all, statements, contents, links };
}

/** @param memory the last commit of the memory. */
async function checkCode(
  reader: HistoryReader,
  memory: Oid,
  now: CodeNow,
  branch: BranchCode | undefined,
  places: readonly Named[],
): Promise<[judged: readonly Judged[], changes: ReadonlyMap<Judged, SpanChange>]> {
  const pause = () => reader.rights.signal.throwIfAborted();
  const based = await withBaselines(reader, memory, now.head, places);
  const judged = await inSlices(judgeAll(now, branch, based), pause);
  const changes = await inSlices(
    spanChanges(reader.history.code.repository.odb, now, judged),
    pause,
  );
  if (branch === undefined) return [judged, changes];
  const old = await oldCommits(reader, branch.since, changes.values());
  const isNew = (one: Judged) => {
    const { commit, exact } = changes.get(one) ?? {};
    return !exact || commit === undefined || !old.has(commit);
  };
  return [judged.filter(isNew), changes];
}

/** The commits of changes that another commit contains. */
async function oldCommits(
  reader: HistoryReader,
  since: Oid,
  changes: Iterable<SpanChange>,
): Promise<ReadonlySet<Oid>> {
  const old = new Set<Oid>();
  for (const { commit, exact } of changes) {
    if (commit === undefined || !exact || old.has(commit)) continue;
    if ((await lastCommon(reader, commit, since)) === commit) old.add(commit);
  }
  return old;
}

/** The records that differ from a commit in HEAD. */
function changedRecords(
  reader: HistoryReader,
  since: Oid,
  head: Oid,
  paths: ReadonlySet<string>,
): ReadonlySet<string> {
  const changed = new Set(reader.changes(since, head, undefined).map(({ path }) => path));
  return new Set([...paths].filter((path) => changed.has(path)));
}

/** Orders findings by the paths of their files, the severest first, and counts them. */
function toReport(
  memory: MemoryFolder,
  all: readonly ReadonlyMap<string, readonly CheckFinding[]>[],
): Pick<EvidenceReport, 'records' | 'counts'> {
  const counts: { -readonly [verdict in Verdict]: number } & { [kind in TextKind]?: number } = {
    ...noCounts,
  };
  const records = new Map<string, CheckFinding[]>();
  for (const [path, findings] of all.flatMap((one) => [...one])) {
    for (const finding of findings) {
      const name = finding.kind === 'evidence' ? finding.verdict : finding.kind;
      counts[name] = (counts[name] ?? 0) + 1;
      addTo(records, path, finding);
    }
  }
  const sorted = [...records]
    .map(([path, findings]) => ({ path, findings: findings.sort((a, b) => rank(a) - rank(b)) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return { records: withStoredLines(memory, sorted), counts };
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
export async function forkPoint(reader: HistoryReader, head: Oid, revision: string): Promise<Oid> {
  const oid = await reader.history.code.resolve(revision, reader.rights);
  return (await lastCommon(reader, head, oid)) ?? oid;
}

/** The last common commit of two; the index of the history, which takes time, is for distant ones. */
async function lastCommon(reader: HistoryReader, one: Oid, other: Oid): Promise<Oid | undefined> {
  const near = commonAncestor(reader.history.code.repository.odb, one, other);
  if (near !== undefined) return near;
  const [here, there] = [
    await reader.indexedCodeCommit(one),
    await reader.indexedCodeCommit(other),
  ];
  const own = ancestors(there.index, here.number);
  const others = ancestors(there.index, there.number);
  const common = [...Array(Math.min(own.length, others.length)).keys()].findLast(
    (commit) => own[commit] && others[commit],
  );
  return common === undefined ? undefined : there.index.commit(common).oid;
}
