import { setTimeout as delay } from 'node:timers/promises';
import { linesOf } from '../../core/diff/unified-diff.ts';
import type { EvidenceReport, EvidenceRequest } from '../../core/evidence/verdict.ts';
import { namedSections } from '../../core/markdown/section-path.ts';
import {
  parseAddress,
  type RecordAddress,
  Sections,
} from '../../core/markdown/section-statements.ts';
import type { Decisions } from '../../core/memory/conflict.ts';
import type {
  BlamedLine,
  BranchMerge,
  ChangeKind,
  CommitCounts,
  CommitInfo,
  CompareRequest,
  Comparison,
  Division,
  DivisionRequest,
  History,
  Log,
  LogRequest,
  NewestCommits,
  Resolution,
  Restoration,
  Snapshot,
  Squashable,
  Synchronization,
  SyncRequest,
  TangledCommit,
  UnmergedRecord,
} from '../../core/memory/history.ts';
import type { SearchHit } from '../../core/memory/store.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { Archive } from '../history/archive.ts';
import { branches } from '../history/branch-tips.ts';
import { divide, division, tangledCommits } from '../history/commit-division.ts';
import { CommitSnapshot } from '../history/commit-snapshot.ts';
import { describeChange, pairMoves, sectionChanges } from '../history/comparison.ts';
import { Confirmations } from '../history/confirmations.ts';
import { changedSides, isAmong } from '../history/fork.ts';
import { squash, squashable, squashForSync } from '../history/history-squash.ts';
import { blame } from '../history/line-authors.ts';
import { countsOf, logBelow, logOf } from '../history/log-walk.ts';
import { newestCommits } from '../history/newest-commits.ts';
import { restore } from '../history/restoration.ts';
import { sectionChange } from '../history/section-comparison.ts';
import { isBelow, memoryPath, noRecord, recordPath, Visit } from '../history/visit.ts';
import type { CallRights } from '../records/call-rights.ts';

/** The history of the memory, for one call of one session. */
export class SessionHistory implements History {
  readonly #archive: Archive;
  readonly #rights: CallRights;

  constructor(archive: Archive, rights: CallRights) {
    this.#archive = archive;
    this.#rights = rights;
  }

  async log(request: LogRequest): Promise<Log> {
    const visit = await this.#visit();
    const { path: given, section } = parseAddress(request.path ?? '');
    const path = memoryPath(given);
    const head = await visit.resolve(request.revision);
    const place = await visit.place(head);
    if (path === undefined || !this.#archive.typeOf(path)) {
      const log = await logBelow(visit, place, path, request);
      if (!log) throw noRecord(path ?? '', head);
      return log;
    }
    visit.checkRead(path);
    const log = await logOf(visit, place, { path, section }, request);
    if (!log) throw noRecord(path, head);
    return log;
  }

  async newest(revision: string, limit: number, maxWaitMs = 0): Promise<NewestCommits> {
    const visit = await this.#visit();
    const head = await visit.resolve(revision);
    // Whether a mode hides a part of a commit is known from the index only.
    const isOpen = visit.access.mode === undefined;
    if (isOpen && !this.#archive.known(head)) {
      const newest = await newestCommits(visit, head, limit);
      if (!newest.isPart || maxWaitMs === 0) return newest;
      // It continues after the answer. Its error shows when a call needs the index.
      const indexing = visit.place(head).catch(() => undefined);
      await Promise.race([indexing, delay(maxWaitMs)]);
      if (!this.#archive.known(head)) return newest;
    }
    return { ...(await this.log({ revision, limit, skip: 0 })), isPart: false };
  }

  async isIndexed(revision: string): Promise<boolean> {
    const visit = await this.#visit();
    return this.#archive.known(await visit.resolve(revision)) !== undefined;
  }

  async counts(revision: string): Promise<CommitCounts> {
    const visit = await this.#visit();
    return countsOf(visit, await visit.place(await visit.resolve(revision)));
  }

  async at(revision: string): Promise<Snapshot> {
    const visit = await this.#visit();
    const oid = await visit.resolve(revision);
    const dated = async (hits: readonly SearchHit[]) => {
      const { HitChanges } = await import('./hit-changes.ts');
      return new HitChanges().addTo(visit, hits, oid);
    };
    const records = this.#archive.records(oid);
    return new CommitSnapshot(await visit.describe(oid), visit, records, dated);
  }

  async compare(request: CompareRequest): Promise<Comparison> {
    const { from, to, limit, skip } = request;
    const visit = await this.#visit();
    const { path: given, section } = parseAddress(request.path ?? '');
    const below = memoryPath(given);
    if (below !== undefined && this.#archive.typeOf(below)) visit.checkRead(below);
    const [old, now] = [await visit.resolve(from), await visit.resolve(to)];
    const states = { from: await visit.describe(old), to: await visit.describe(now) };
    if (below !== undefined && section !== undefined) {
      const change = sectionChange(visit, { path: below, section }, old, now);
      const counts = { added: 0, changed: 0, moved: 0, removed: 0 };
      if (change) counts[change.change] = 1;
      return { ...states, changes: change ? [change].slice(skip) : [], counts };
    }
    const all = pairMoves(visit.changes(old, now, below), visit.versions);
    if (below !== undefined && all.length === 0) await this.#checkNamed(below, [now, old]);
    const sides = request.sinceFork ? await changedSides(visit, old, now) : undefined;
    const moves = sides ? all.filter((move) => isAmong(sides.theirs, move)) : all;
    const count = (kind: ChangeKind) => moves.filter(({ change }) => change.change === kind).length;
    return {
      ...states,
      changes: moves.slice(skip, skip + limit).flatMap((move) =>
        describeChange(move, visit.versions).map((change) => ({
          ...change,
          ...(sides && { isByBoth: isAmong(sides.ours, move) }),
          ...(request.sections && { sections: sectionChanges(move, visit.versions) }),
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
    return restore(await this.#visit(), ...request);
  }

  async branches(limit: number, skip = 0): ReturnType<History['branches']> {
    return branches(await this.#visit(), limit, skip);
  }

  async squashable(message?: string): Promise<Squashable> {
    this.#archive.repository.checkWritable();
    return squashable(await this.#visit(), message);
  }

  async squash(expected: Squashable | undefined, message?: string): ReturnType<History['squash']> {
    return squash(await this.#visit(), expected, message);
  }

  async tangled(): Promise<readonly TangledCommit[]> {
    return tangledCommits(await this.#visit());
  }

  async division(request: DivisionRequest): ReturnType<History['division']> {
    this.#archive.repository.checkWritable();
    return division(await this.#visit(), request);
  }

  async divide(
    request: DivisionRequest,
    expected: Division | undefined,
  ): ReturnType<History['divide']> {
    return divide(await this.#visit(), request, expected);
  }

  async resolve(decisions: Decisions): Promise<Resolution> {
    const { resolve } = await import('../sync/resolution.ts');
    return resolve(await this.#visit(), decisions);
  }

  async unmerged(): Promise<readonly UnmergedRecord[]> {
    const { unmerged } = await import('../sync/resolution.ts');
    return unmerged(await this.#visit());
  }

  async sync(request: SyncRequest): Promise<Synchronization> {
    const { sync } = await import('../sync/synchronize.ts');
    const visit = await this.#visit();
    if (this.#archive.memory.settings.squashesBeforeSync) await squashForSync(visit);
    return sync(visit, request);
  }

  async merge(revision: string, decisions: Decisions): Promise<BranchMerge> {
    const { mergeBranch } = await import('../sync/branch-merge.ts');
    return mergeBranch(await this.#visit(), revision, decisions);
  }

  async evidence(request: EvidenceRequest): Promise<EvidenceReport> {
    const visit = await this.#visit();
    const report = await checked(visit, request);
    const docs = await this.#docs(visit, request);
    if (request.fix !== true) return { ...report, ...docs };
    const { fixMoved } = await import('../evidence/evidence-fix.ts');
    const fixed = await fixMoved(visit, report);
    if (fixed.length === 0) return { ...report, ...docs };
    return { ...(await checked(visit, request)), ...docs, fixed };
  }

  /** The claims of instructions and documents, if the caller or the settings ask for them. */
  async #docs(visit: Visit, request: EvidenceRequest) {
    const { settings } = this.#archive.memory;
    const isAsked = request.docs ?? (request.path === undefined && settings.checksDocs);
    if (!isAsked || request.only !== undefined) return undefined;
    const { checkDocs } = await import('../instructions/docs-check.ts');
    return { docs: await checkDocs(visit, request) };
  }

  async blame(address: string, revision: string): Promise<readonly BlamedLine[]> {
    const visit = await this.#visit();
    const { path: given, section } = parseAddress(address);
    const path = recordPath(given);
    visit.checkRead(path);
    const head = await visit.resolve(revision);
    const { index, number } = await visit.place(head);
    const records = this.#archive.records(head);
    const text = this.#archive.typeOf(path) && records.text(path);
    if (text === undefined) throw noRecord(path, head);
    const wanted = section === undefined ? undefined : new Sections(path, text).at(section);
    const writers = blame(index, number, { path, blob: records.oid(path) }, visit.versions);
    const lines = numberedLines(text).filter(
      ({ start, end }) => !wanted || (start < wanted.end && end > wanted.start),
    );
    const described = new Map<string, Promise<CommitInfo>>();
    const describe = (commit: number, of?: RecordAddress) => {
      // Most lines next to each other are of one commit and section.
      const key = JSON.stringify([commit, of]);
      const known = described.get(key) ?? visit.describe(index.commit(commit).oid, of);
      described.set(key, known);
      return known;
    };
    const confirmations = new Confirmations(visit, { index, number });
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
      const records = this.#archive.records(commit);
      await records.refresh();
      if (records.view.paths().some((path) => isBelow(path, below))) return;
    }
    throw noRecord(below, commits[0]);
  }

  async #visit(): Promise<Visit> {
    return new Visit(this.#archive, this.#rights, await this.#rights.access());
  }
}

/** Checks the evidence of the records at a path, or that of a section of one. */
async function checked(visit: Visit, request: EvidenceRequest): Promise<EvidenceReport> {
  const { checkEvidence } = await import('../evidence/evidence-check.ts');
  const { path, section } = parseAddress(request.path ?? '');
  if (section === undefined) return checkEvidence(visit, request);
  await visit.archive.memory.refresh();
  const { SectionFindings } = await import('../evidence/section-findings.ts');
  const own = new SectionFindings(visit, { path, section });
  return own.of(await checkEvidence(visit, { ...request, path }));
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
