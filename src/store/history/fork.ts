import type { Oid } from '../../git/objects/object.ts';
import type { Move } from './comparison.ts';
import type { HistoryReader } from './history-reader.ts';
import { ancestors } from './lineage.ts';

/** The records that each of two sides has changed since they diverged, by path. */
export interface ChangedSides {
  readonly ours: ReadonlySet<string>;
  readonly theirs: ReadonlySet<string>;
}

/** Finds what two commits have changed since their last common one; undefined without one. */
export async function changedSides(
  reader: HistoryReader,
  ours: Oid,
  theirs: Oid,
): Promise<ChangedSides | undefined> {
  const here = await reader.indexedCommit(ours);
  const { index, number } = await reader.indexedCommit(theirs);
  const own = ancestors(index, here.number);
  // The descendants of a commit have greater numbers.
  const fork = ancestors(index, number).findLastIndex((known, commit) => known && own[commit]);
  if (fork < 0) return undefined;
  const { oid } = index.commit(fork);
  const changed = (tip: Oid) =>
    new Set(reader.changes(oid, tip, undefined).map(({ path }) => path));
  return { ours: changed(ours), theirs: changed(theirs) };
}

/** Whether a change is about one of these records. */
export function isAmong(paths: ReadonlySet<string>, { change: { path, from } }: Move): boolean {
  return paths.has(path) || (from !== undefined && paths.has(from));
}
