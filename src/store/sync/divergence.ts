import { MemoryError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import { ancestors } from '../history/lineage.ts';
import type { Visit } from '../history/visit.ts';

/** The relation of two lines of history. */
export interface Divergence {
  /** The last common commit; undefined if there is only one line. */
  readonly base: Oid | undefined;
  /** The commits that only ours has. */
  readonly ahead: readonly Oid[];
}

/**
 * Finds where two lines of history diverge.
 *
 * @param theirs undefined if there is no other line.
 * @throws MemoryError `conflict` if they have no common commit, as far as the clone reaches.
 */
export async function divergence(
  visit: Visit,
  ours: Oid,
  theirs: Oid | undefined,
): Promise<Divergence> {
  const here = await visit.place(ours);
  const there = theirs === undefined ? undefined : await visit.place(theirs);
  const { index } = there ?? here;
  const own = ancestors(index, here.number);
  const others = there ? ancestors(index, there.number) : [];
  const known = [...Array(Math.max(own.length, others.length)).keys()];
  const base = known.findLast((commit) => own[commit] && others[commit]);
  if (there && base === undefined) {
    throw unrelated(known.some((one) => (own[one] || others[one]) && index.isCut(one)));
  }
  const ahead = known.filter((commit) => own[commit] && !others[commit]);
  return {
    base: base === undefined ? undefined : index.commit(base).oid,
    ahead: ahead.map((commit) => index.commit(commit).oid),
  };
}

function unrelated(shallow: boolean): MemoryError {
  return shallow
    ? new MemoryError(
        'conflict',
        'The clone is shallow: it does not contain the commit where both sides diverged.',
        {
          hint: 'Run "git fetch --unshallow", then sync again.',
        },
      )
    : new MemoryError('conflict', 'The branch and its upstream have no commit in common.', {
        hint: 'Check that the remote is the right one: "git remote -v". To join unrelated histories, run "git pull --allow-unrelated-histories".',
      });
}
