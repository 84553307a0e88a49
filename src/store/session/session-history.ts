import { setTimeout as delay } from 'node:timers/promises';
import { linesOf } from '../../core/diff/unified-diff.ts';
import type { EvidenceReport, EvidenceRequest } from '../../core/evidence/verdict.ts';
import { namedSections } from '../../core/markdown/section-path.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import type {
  ChangeKind,
  CommitCounts,
  CommitInfo,
  Log,
  LogRequest,
  NewestCommits,
} from '../../core/memory/commit-log.ts';
import type { Decisions } from '../../core/memory/conflict.ts';
import type {
  BlamedLine,
  BranchMerge,
  CompareRequest,
  Comparison,
  Division,
  DivisionRequest,
  History,
  Resolution,
  Restoration,
  Snapshot,
  Squashable,
  Synchronization,
  SyncRequest,
  TangledCommit,
  UnmergedRecord,
} from '../../core/memory/history.ts';
import { parseAddress, type RecordAddress } from '../../core/names/record-address.ts';
import type { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import { branches } from '../history/branch-tips.ts';
import { divide, division, tangledCommits } from '../history/commit-division.ts';
import { CommitSnapshot } from '../history/commit-snapshot.ts';
import { describeChange, pairMoves, sectionChanges } from '../history/comparison.ts';
import { Confirmations } from '../history/confirmations.ts';
import { changedSides, isAmong } from '../history/fork.ts';
import {
  HistoryReader,
  isBelow,
  memoryPath,
  noRecord,
  recordPath,
} from '../history/history-reader.ts';
import { squash, squashable, squashForSync } from '../history/history-squash.ts';
import { blame } from '../history/line-authors.ts';
import { countsOf, logBelow, logOf } from '../history/log-walk.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import { newestCommits } from '../history/newest-commits.ts';
import { restore } from '../history/restoration.ts';
import { sectionChange } from '../history/section-comparison.ts';
import type { CallRights } from '../records/call-rights.ts';
import type { Asked } from './hit-changes.ts';

/** The history of the memory, for one call of one session. */
export class SessionHistory implements History {
  readonly #history: MemoryHistory;
  readonly #rights: CallRights;

  constructor(history: MemoryHistory, rights: CallRights) {
    this.#history = history;
    this.#rights = rights;
  }

  async log(request: LogRequest): Promise<Log> {
    const reader = await this.#reader();
    const { path: given, section } = parseAddress(request.path ?? '');
    const path = memoryPath(given);
    const head = await reader.resolve(request.revision);
    const place = await reader.indexedCommit(head);
    if (path === undefined || !this.#history.typeOf(path)) {
      const log = await logBelow(reader, place, path, request);
      if (!log) throw noRecord(path ?? '', head);
      return log;
    }
    reader.checkRead(path);
    const log = await logOf(reader, place, { path, section }, request);
    if (!log) throw noRecord(path, head);
    return log;
  }

  async newest(revision: string, limit: number, maxWaitMs = 0): Promise<NewestCommits> {
    const reader = await this.#reader();
    const head = await reader.resolve(revision);
    // Whether a mode hides a part of a commit is known from the index only.
    const isOpen = reader.access.mode === undefined;
    if (isOpen && !this.#history.known(head)) {
      const newest = await newestCommits(reader, head, limit);
      if (!newest.isPart || maxWaitMs === 0) return newest;
      // It continues after the answer. Its error shows when a call needs the index.
      const indexing = reader.indexedCommit(head).catch(() => undefined);
      await Promise.race([indexing, delay(maxWaitMs)]);
      if (!this.#history.known(head)) return newest;
    }
    return { ...(await this.log({ revision, limit, skip: 0 })), isPart: false };
  }

  async isIndexed(revision: string): Promise<boolean> {
    const reader = await this.#reader();
    return this.#history.known(await reader.resolve(revision)) !== undefined;
  }

  async counts(revision: string): Promise<CommitCounts> {
    const reader = await this.#reader();
    return countsOf(reader, await reader.indexedCommit(await reader.resolve(revision)));
  }

  async at(revision: string): Promise<Snapshot> {
    const reader = await this.#reader();
    const oid = await reader.resolve(revision);
    const dated = async <T extends Asked>(hits: readonly T[], wait?: number) => {
      const { HitChanges } = await import('./hit-changes.ts');
      return new HitChanges().addTo(reader, hits, oid, wait);
    };
    const records = this.#history.records(oid);
    return new CommitSnapshot(await reader.describe(oid), reader, records, dated);
  }

  async compare(request: CompareRequest): Promise<Comparison> {
    const { from, to, limit, skip } = request;
    const reader = await this.#reader();
    const { path: given, section } = parseAddress(request.path ?? '');
    const below = memoryPath(given);
    if (below !== undefined && this.#history.typeOf(below)) reader.checkRead(below);
    const [old, now] = [await reader.resolve(from), await reader.resolve(to)];
    const states = { from: await reader.describe(old), to: await reader.describe(now) };
    if (below !== undefined && section !== undefined) {
      const change = sectionChange(reader, { path: below, section }, old, now);
      const counts = { added: 0, changed: 0, moved: 0, removed: 0 };
      if (change) counts[change.change] = 1;
      return { ...states, changes: change ? [change].slice(skip) : [], counts };
    }
    const all = pairMoves(reader.changes(old, now, below), reader.versions);
    if (below !== undefined && all.length === 0) await this.#checkNamed(below, [now, old]);
    const sides = request.sinceFork ? await changedSides(reader, old, now) : undefined;
    const moves = sides ? all.filter((move) => isAmong(sides.theirs, move)) : all;
    const count = (kind: ChangeKind) => moves.filter(({ change }) => change.change === kind).length;
    return {
      ...states,
      changes: moves.slice(skip, skip + limit).flatMap((move) =>
        describeChange(move, reader.versions).map((change) => ({
          ...change,
          ...(sides && { isByBoth: isAmong(sides.ours, move) }),
          ...(request.sections && { sections: sectionChanges(move, reader.versions) }),
        })),
      ),
      ...(sides && { others: all.length - moves.length }),
      counts: {
        added: count('added'),
        changed: count('changed'),
        moved: count('moved'),
        removed: count('removed'),
      },
    };
  }

  async restore(...request: Parameters<History['restore']>): Promise<Restoration> {
    return restore(await this.#reader(), ...request);
  }

  async branches(limit: number, skip = 0): ReturnType<History['branches']> {
    return branches(await this.#reader(), limit, skip);
  }

  async squashable(message?: string): Promise<Squashable> {
    this.#history.repository.checkWritable();
    return squashable(await this.#reader(), message);
  }

  async squash(expected: Squashable | undefined, message?: string): ReturnType<History['squash']> {
    return squash(await this.#reader(), expected, message);
  }

  async tangled(): Promise<readonly TangledCommit[]> {
    return tangledCommits(await this.#reader());
  }

  async division(request: DivisionRequest): ReturnType<History['division']> {
    this.#history.repository.checkWritable();
    return division(await this.#reader(), request);
  }

  async divide(
    request: DivisionRequest,
    expected: Division | undefined,
  ): ReturnType<History['divide']> {
    return divide(await this.#reader(), request, expected);
  }

  async resolve(decisions: Decisions): Promise<Resolution> {
    const { resolve } = await import('../sync/resolution.ts');
    return resolve(await this.#reader(), decisions);
  }

  async unmerged(): Promise<readonly UnmergedRecord[]> {
    const { unmerged } = await import('../sync/resolution.ts');
    return unmerged(await this.#reader());
  }

  async unpublished(): Promise<MemoryError | undefined> {
    const { unpublished } = await import('../sync/unpublished.ts');
    return unpublished(await this.#reader());
  }

  async sync(request: SyncRequest): Promise<Synchronization> {
    const { sync } = await import('../sync/synchronize.ts');
    const reader = await this.#reader();
    if (this.#history.memory.settings.squashesBeforeSync) await squashForSync(reader);
    return sync(reader, request);
  }

  async merge(revision: string, decisions: Decisions): Promise<BranchMerge> {
    const { mergeBranch } = await import('../sync/branch-merge.ts');
    return mergeBranch(await this.#reader(), revision, decisions);
  }

  async evidence(request: EvidenceRequest): Promise<EvidenceReport> {
    const reader = await this.#reader();
    const report = await checked(reader, request);
    const docs = await this.#docs(reader, request);
    if (request.fix !== true) return { ...report, ...docs };
    const { fixMoved } = await import('../evidence/evidence-fix.ts');
    const fixed = await fixMoved(reader, report);
    if (fixed.length === 0) return { ...report, ...docs };
    return { ...(await checked(reader, request)), ...docs, fixed };
  }

  /** The claims of instructions and documents, if the caller or the settings ask for them. */
  async #docs(reader: HistoryReader, request: EvidenceRequest) {
    const { settings } = this.#history.memory;
    const isAsked = request.docs ?? (request.path === undefined && settings.checksDocs);
    if (!isAsked || request.only !== undefined) return undefined;
    const { checkDocs } = await import('../instructions/docs-check.ts');
    return { docs: await checkDocs(reader, request) };
  }

  async blame(address: string, revision: string): Promise<readonly BlamedLine[]> {
    const reader = await this.#reader();
    const { path: given, section } = parseAddress(address);
    const path = recordPath(given);
    reader.checkRead(path);
    const head = await reader.resolve(revision);
    const { index, number } = await reader.indexedCommit(head);
    const records = this.#history.records(head);
    const text = this.#history.typeOf(path) && records.text(path);
    if (text === undefined) throw noRecord(path, head);
    const wanted = section === undefined ? undefined : new Sections(path, text).at(section);
    const writers = blame(index, number, { path, blob: records.oid(path) }, reader.versions);
    const lines = numberedLines(text).filter(
      ({ start, end }) => !wanted || (start < wanted.end && end > wanted.start),
    );
    const described = new Map<string, Promise<CommitInfo>>();
    const describe = (commit: number, of?: RecordAddress) => {
      // Most lines next to each other are of one commit and section.
      const key = JSON.stringify([commit, of]);
      const known = described.get(key) ?? reader.describe(index.commit(commit).oid, of);
      described.set(key, known);
      return known;
    };
    const confirmations = new Confirmations(reader, { index, number });
    const whole = confirmations.ofText({ path }, text);
    const sections = path.endsWith('.md') ? namedSections(text) : [];
    const parts = path.endsWith('.md') ? confirmations.inText(path, text) : [];
    return Promise.all(
      lines.map(async ({ text, line, start, end }) => {
        const { commit = number, boundary = true } = writers[line - 1] ?? {};
        const part = parts.findLast(({ section }) => section.start <= start && end <= section.end);
        const by = part ? part.commit : whole;
        const confirmed = by === undefined ? undefined : await describe(by);
        const section = sections.findLast((one) => one.start <= start && start < one.end)?.path;
        const own = { text, line, commit: await describe(commit, { path, section }), boundary };
        return { ...own, ...(confirmed && { confirmed }) };
      }),
    );
  }

  /** Refuses a path that no commit has a record at or below: a misspelt one would never differ. */
  async #checkNamed(below: string, commits: readonly [Oid, ...Oid[]]): Promise<void> {
    for (const commit of commits) {
      const records = this.#history.records(commit);
      await records.refresh();
      if (records.view.paths().some((path) => isBelow(path, below))) return;
    }
    throw noRecord(below, commits[0]);
  }

  async #reader(): Promise<HistoryReader> {
    return new HistoryReader(this.#history, this.#rights, await this.#rights.access());
  }
}

/** Checks the evidence of the records at a path, or that of a section of one. */
async function checked(reader: HistoryReader, request: EvidenceRequest): Promise<EvidenceReport> {
  const { checkEvidence } = await import('../evidence/evidence-check.ts');
  const { path, section } = parseAddress(request.path ?? '');
  if (section === undefined) return checkEvidence(reader, request);
  await reader.history.memory.refresh();
  const { SectionFindings } = await import('../evidence/section-findings.ts');
  const own = new SectionFindings(reader, { path, section });
  return own.of(await checkEvidence(reader, { ...request, path }));
}

/** The lines of a text with their numbers, from 1 on, and their offsets. */
function numberedLines(text: string) {
  let end = 0;
  return linesOf(text).map((text, index) => {
    const start = end;
    end += text.length;
    return { text, line: index + 1, start, end };
  });
}
