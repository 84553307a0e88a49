import type {
  CommitCounts,
  Log,
  LogEntry,
  LoggedChange,
  LogRequest,
} from '../../core/memory/commit-log.ts';
import type { Confirmed } from '../../core/memory/store.ts';
import { parseAddress, type RecordAddress } from '../../core/names/record-address.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ChangeIndex } from './change-index.ts';
import { pathsOutside } from './commit-division.ts';
import { pairMoves } from './comparison.ts';
import { Confirmations } from './confirmations.ts';
import { changedFields } from './field-changes.ts';
import { type HistoryReader, isBelow } from './history-reader.ts';
import { ancestors, lineage, ownChanges, type Step } from './lineage.ts';
import type { IndexedCommit } from './repository-history.ts';
import { stepsOfSection } from './section-history.ts';

type Page = Pick<LogRequest, 'limit' | 'skip' | 'outside' | 'filter' | 'since'>;

/**
 * The history of one record, or of a section of it; undefined if no commit up to this one has had it.
 *
 * @throws MemoryError `not_found` for a section that no version has.
 */
export async function logOf(
  reader: HistoryReader,
  { index, number }: IndexedCommit,
  { path, section }: RecordAddress,
  { limit, skip, outside = false, filter = {}, since }: Page,
): Promise<Log | undefined> {
  const found = [...stepsOf(reader, { index, number }, path)];
  if (found.length === 0) return undefined;
  const changes = found
    .filter((step) => step.origins && reader.mayRead(step.path))
    .sort((a, b) => index.compare(a.commit, b.commit));
  const readable = section === undefined ? changes : stepsOfSection(reader, changes, section);
  const paths = new Set(found.map((step) => step.path));
  const confirmed = new Confirmations(reader, { index, number })
    .of(paths, section)
    .filter(
      (one) => reader.mayRead(one.path) && !readable.some(({ commit }) => commit === one.commit),
    );
  const all = [...readable, ...confirmed].sort((a, b) => index.compare(a.commit, b.commit));
  const old = await reader.upTo(since);
  const commits = all.flatMap(({ commit }) => (old[commit] ? [] : commit));
  const chosen = new Set(await reader.history.authors.select(index, commits, filter));
  const steps = all.filter(({ commit }) => chosen.has(commit));
  const page = steps.slice(skip, skip + limit);
  const entries = await Promise.all(
    page.map(async (step) => ({
      ...('text' in step
        ? await confirmationEntry(reader, index, step)
        : await stepEntry(reader, index, step, section)),
      ...(outside && outsideOf(reader, index.commit(step.commit).oid)),
    })),
  );
  return { entries, total: steps.length, shallow: found.some(({ origins }) => !origins) };
}

async function confirmationEntry(
  reader: HistoryReader,
  index: ChangeIndex,
  { commit, path }: { readonly commit: number; readonly path: string },
): Promise<LogEntry> {
  const { oid } = index.commit(commit);
  return { commit: await reader.describe(oid), changes: [{ change: 'confirmed', path }] };
}

/** The commits that changed a record, descendants first. */
export function stepsOf(
  reader: HistoryReader,
  { index, number }: IndexedCommit,
  path: string,
): Iterable<Step> {
  const blob = reader.history.records(index.commit(number).oid).oid(path);
  return lineage(index, number, { path, blob }, reader.versions);
}

async function stepEntry(
  reader: HistoryReader,
  index: ChangeIndex,
  step: Step,
  section: string | undefined,
): Promise<LogEntry> {
  const { path, blob: after } = step;
  const commit = await reader.describe(index.commit(step.commit).oid, { path, section });
  const { path: from = path, blob: before } = step.origins?.find(({ blob }) => blob) ?? {};
  if (after === undefined) return { commit, changes: [{ change: 'removed', path }] };
  if (before === undefined) return { commit, changes: [{ change: 'added', path }] };
  const moved = from !== path && reader.mayRead(from) && { from };
  if (before === after)
    return { commit, changes: [{ change: 'moved', path, ...moved, fields: [] }] };
  const now = reader.versions.read(path, after);
  const old = reader.versions.read(from, before);
  const fields = changedFields(path, old, now).map(({ field }) => field);
  return { commit, changes: [{ change: 'changed', path, ...moved, fields }] };
}

/** The history of all records, or of those below a folder; undefined if no commit has had one there. */
export async function logBelow(
  reader: HistoryReader,
  { index, number }: IndexedCommit,
  folder: string | undefined,
  { limit, skip, outside = false, filter = {}, since }: Page,
): Promise<Log | undefined> {
  const { commits, isWanted, shallow } = commitsBelow(reader, { index, number }, folder);
  if (folder !== undefined && commits.length === 0) return undefined;
  const old = await reader.upTo(since);
  const later = commits.filter((commit) => !old[commit]);
  const found = await reader.history.authors.select(index, later, filter);
  const page = found.slice(skip, skip + limit);
  const entries = await Promise.all(
    page.map(async (number) => {
      const changes = ownChanges(index, number).filter(({ path }) => isWanted(path));
      const { oid, confirms } = index.commit(number);
      return {
        commit: await reader.describe(oid),
        ...(outside && outsideOf(reader, oid)),
        changes: [
          ...pairMoves(changes, reader.versions).map(({ change }) => change),
          ...confirmedChanges(confirms, isWanted),
        ],
      };
    }),
  );
  return { entries, total: found.length, shallow };
}

/** The records that a commit confirms, without changing them. */
export function confirmedChanges(
  confirms: readonly Confirmed[],
  isWanted: (path: string) => boolean,
): LoggedChange[] {
  const paths = new Set(confirms.map(({ address }) => parseAddress(address).path));
  return [...paths].filter(isWanted).map((path) => ({ change: 'confirmed', path }));
}

/** The counts of lists of commits that are kept. */
const counted = new WeakMap<readonly number[], Promise<CommitCounts>>();

/** Counts the commits of all records. */
export function countsOf(
  reader: HistoryReader,
  { index, number }: IndexedCommit,
): Promise<CommitCounts> {
  const { commits } = commitsBelow(reader, { index, number }, undefined);
  const kept = counted.get(commits);
  if (kept) return kept;
  const counts = reader.history.authors.count(index, commits);
  counted.set(commits, counts);
  counts.catch(() => counted.delete(commits));
  return counts;
}

/** The commits of the whole memory up to the last one that was asked for, without the rules of a mode. */
const walked = new WeakMap<
  ChangeIndex,
  { readonly number: number; readonly commits: readonly number[]; readonly shallow: boolean }
>();

/** The commits that change a readable record below a folder, the newest first. */
function commitsBelow(
  reader: HistoryReader,
  { index, number }: IndexedCommit,
  folder: string | undefined,
) {
  const wanted = new Map<string, boolean>();
  const isWanted = (path: string) => {
    const known = wanted.get(path) ?? (isBelow(path, folder) && reader.mayRead(path));
    wanted.set(path, known);
    return known;
  };
  const isWhole = folder === undefined && reader.access.mode === undefined;
  const kept = isWhole ? walked.get(index) : undefined;
  if (kept?.number === number) return { ...kept, isWanted };
  const commits: number[] = [];
  let shallow = false;
  for (const [commit, known] of ancestors(index, number).entries()) {
    if (!known) continue;
    if (index.isCut(commit)) shallow = true;
    else if (
      ownChanges(index, commit).some(({ path }) => isWanted(path)) ||
      confirmedChanges(index.commit(commit).confirms, isWanted).length > 0
    ) {
      commits.push(commit);
    }
  }
  commits.sort((a, b) => index.compare(a, b));
  if (isWhole) walked.set(index, { number, commits, shallow });
  return { commits, isWanted, shallow };
}

/** The files outside the memory that a memory commit changes, if there are any. */
function outsideOf(reader: HistoryReader, oid: Oid): Pick<LogEntry, 'outside'> {
  const outside = pathsOutside(reader, oid);
  return outside.length > 0 ? { outside } : {};
}
