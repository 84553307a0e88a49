import type { Log, LogEntry, LogRequest } from '../../core/history.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ChangeIndex } from './change-index.ts';
import { pathsOutside } from './commit-division.ts';
import { changedFields, pairMoves } from './comparison.ts';
import { ancestors, lineage, ownChanges, type Step } from './lineage.ts';
import { type IndexedCommit, isBelow, type Visit } from './visit.ts';

type Page = Pick<LogRequest, 'limit' | 'skip' | 'outside'>;

/** The history of one record; undefined if no commit up to this one has had it. */
export async function logOf(
  visit: Visit,
  { index, number }: IndexedCommit,
  path: string,
  { limit, skip, outside = false }: Page,
): Promise<Log | undefined> {
  const found = [...stepsOf(visit, { index, number }, path)];
  if (found.length === 0) return undefined;
  const steps = found
    .filter((step) => step.origins && visit.mayRead(step.path))
    .sort((a, b) => index.compare(a.commit, b.commit));
  const page = steps.slice(skip, skip + limit);
  const entries = await Promise.all(
    page.map(async (step) => ({
      ...(await stepEntry(visit, index, step)),
      ...(outside && outsideOf(visit, index.commit(step.commit).oid)),
    })),
  );
  return { entries, total: steps.length, shallow: found.some(({ origins }) => !origins) };
}

/** The commits that changed a record, descendants first. */
export function stepsOf(
  visit: Visit,
  { index, number }: IndexedCommit,
  path: string,
): Iterable<Step> {
  const blob = visit.archive.records(index.commit(number).oid).oid(path);
  return lineage(index, number, { path, blob }, visit.versions);
}

async function stepEntry(visit: Visit, index: ChangeIndex, step: Step): Promise<LogEntry> {
  const commit = await visit.describe(index.commit(step.commit).oid);
  const { path, blob: after } = step;
  const { path: from = path, blob: before } = step.origins?.find(({ blob }) => blob) ?? {};
  if (after === undefined) return { commit, changes: [{ change: 'removed', path }] };
  if (before === undefined) return { commit, changes: [{ change: 'added', path }] };
  const moved = from !== path && visit.mayRead(from) && { from };
  if (before === after)
    return { commit, changes: [{ change: 'moved', path, ...moved, fields: [] }] };
  const now = visit.versions.read(path, after);
  const fields = changedFields(visit.versions.read(from, before), now).map(({ field }) => field);
  return { commit, changes: [{ change: 'changed', path, ...moved, fields }] };
}

/** The history of all records below a folder. */
export async function logBelow(
  visit: Visit,
  { index, number }: IndexedCommit,
  folder: string | undefined,
  { limit, skip, outside = false }: Page,
): Promise<Log> {
  const wanted = new Map<string, boolean>();
  const isWanted = (path: string) => {
    const known = wanted.get(path) ?? (isBelow(path, folder) && visit.mayRead(path));
    wanted.set(path, known);
    return known;
  };
  const found: number[] = [];
  let shallow = false;
  for (const [commit, known] of ancestors(index, number).entries()) {
    if (!known) continue;
    if (index.isCut(commit)) shallow = true;
    else if (ownChanges(index, commit).some(({ path }) => isWanted(path))) found.push(commit);
  }
  found.sort((a, b) => index.compare(a, b));
  const page = found.slice(skip, skip + limit);
  const entries = await Promise.all(
    page.map(async (number) => {
      const changes = ownChanges(index, number).filter(({ path }) => isWanted(path));
      const { oid } = index.commit(number);
      return {
        commit: await visit.describe(oid),
        ...(outside && outsideOf(visit, oid)),
        changes: pairMoves(changes, visit.versions).map(({ change }) => change),
      };
    }),
  );
  return { entries, total: found.length, shallow };
}

/** The files outside the memory that a memory commit changes, if there are any. */
function outsideOf(visit: Visit, oid: Oid): Pick<LogEntry, 'outside'> {
  const outside = pathsOutside(visit, oid);
  return outside.length > 0 ? { outside } : {};
}
