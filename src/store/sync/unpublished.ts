import { MemoryError } from '../../core/values/error.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import { shortName, type Upstream } from '../../git/remote/remote.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { outsideOf } from '../history/last-change.ts';

/** The error of a sync that would publish commits of other files; undefined if none of them is one. */
export function codeRefusal(
  { history: { memory, repository } }: HistoryReader,
  { remote, ref }: Upstream,
  commits: readonly Oid[],
): MemoryError | undefined {
  const { odb } = repository;
  const folder = memory.inTree('');
  const count = commits.filter((oid) => {
    const { parents } = parseCommit(odb.content(oid, 'commit'));
    const known = parents.filter((parent) => odb.has(parent));
    const before = known.map((parent) => outsideOf(odb, parent, folder));
    // A first commit is compared with an empty tree.
    return !(parents.length === 0 ? [''] : before).includes(outsideOf(odb, oid, folder));
  }).length;
  if (count === 0) return undefined;
  const commitsAre = count === 1 ? 'A commit that is' : `${count} commits that are`;
  return new MemoryError(
    'confirmation_required',
    `${commitsAre} not pushed yet would be pushed to ${shortName(remote, ref)} with the memory, and would change other files.`,
    { hint: 'Run "git push" first, or sync with confirm: true, which pushes them also.' },
  );
}

/** Returns why a sync would not publish the commits of this branch; see `History`. */
export function unpublished(reader: HistoryReader): MemoryError | undefined {
  const { repository } = reader.history;
  const { odb, refs, remotes } = repository;
  try {
    const upstream = remotes.upstream();
    const { oid: head } = repository.head();
    const last = upstream.tracking && refs.resolve(upstream.tracking);
    if (head === undefined || !last || !odb.has(last)) return undefined;
    const ahead = reachableCommits(odb, last, [{ name: 'HEAD', oid: head }]);
    return codeRefusal(reader, upstream, [...ahead.keys()]);
  } catch (error) {
    // The exchange itself reports a missing upstream.
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}
