import { type Oid, parseCommit, taggedBy } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';

/** A name, such as a branch, and the commit or tag that it points to. */
export interface RefName {
  readonly name: string;
  readonly oid: Oid;
}

/** A commit of the walk from the names to their ancestors. */
interface HistoryNode {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly time: number;
  name: string | undefined;
  /** Whether it is the base or an ancestor of it. */
  merged: boolean;
  queued: boolean;
}

/** Number of ancestors of the base that are older than all found commits, and are looked at nevertheless. */
const slop = 16;

/**
 * Maps each commit that is reachable from names but not from a base to one of these names; all that
 * are reachable without a base. The newest commit comes first.
 *
 * The walk takes the newest commit first, so it rarely follows ancestors of the base. It goes on until
 * these are older than all found commits, and some more, because a clock can be wrong.
 */
export function reachableCommits(
  odb: ObjectDatabase,
  base: Oid | undefined,
  names: readonly RefName[],
): ReadonlyMap<Oid, string> {
  const nodes = new Map<Oid, HistoryNode>();
  /** Sorted by time, the newest last. */
  const queue: HistoryNode[] = [];
  /** Number of queued commits that are not known to be ancestors of the base. */
  let open = 0;
  const meet = (oid: Oid, { name, merged }: Pick<HistoryNode, 'name' | 'merged'>) => {
    const node = nodes.get(oid) ?? read(odb, oid);
    if (!node || node.merged || (!merged && node.name !== undefined)) return;
    nodes.set(oid, node);
    if (node.queued) open -= 1;
    else queue.splice(placeOf(queue, node.time), 0, node);
    node.name ??= name;
    node.merged = merged;
    node.queued = true;
    if (!merged) open += 1;
  };
  if (base !== undefined) meet(base, { name: undefined, merged: true });
  for (const { name, oid } of names) {
    const commit = commitBehind(odb, oid);
    if (commit !== undefined) meet(commit, { name, merged: false });
  }
  const found = new Set<HistoryNode>();
  let oldest = Number.POSITIVE_INFINITY;
  for (let left = slop; open > 0 || (found.size > 0 && left > 0); ) {
    const node = queue.pop();
    if (!node) break;
    node.queued = false;
    if (node.merged) {
      found.delete(node);
      left = open > 0 || node.time >= oldest ? slop : left - 1;
    } else {
      open -= 1;
      found.add(node);
      oldest = Math.min(oldest, node.time);
    }
    for (const parent of node.parents) meet(parent, node);
  }
  return new Map([...found].map(({ oid, name = '' }) => [oid, name]));
}

/** Reads a commit; undefined if this clone does not have it. */
function read(odb: ObjectDatabase, oid: Oid): HistoryNode | undefined {
  if (!odb.has(oid)) return undefined;
  const { parents, committer } = parseCommit(odb.content(oid, 'commit'));
  return { oid, parents, time: committer.seconds, name: undefined, merged: false, queued: false };
}

function placeOf(queue: readonly HistoryNode[], time: number): number {
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((queue[middle]?.time ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Follows tags to their commit; undefined if there is none. */
function commitBehind(odb: ObjectDatabase, oid: Oid): Oid | undefined {
  for (let at = oid; odb.has(at); ) {
    const { type, content } = odb.read(at);
    if (type === 'commit') return at;
    if (type !== 'tag') return undefined;
    at = taggedBy(content);
  }
  return undefined;
}
