import { type Oid, parseCommit } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';

/** A name, as of a branch, and the commit or tag that it leads to. */
export interface RefName {
  readonly name: string;
  readonly oid: Oid;
}

/** A commit on the way from names to their past. */
interface HistoryNode {
  readonly parents: readonly Oid[];
  readonly time: number;
  name: string | undefined;
  /** Whether it is the base or before it. */
  beneath: boolean;
  queued: boolean;
}

/**
 * The commits after a base that names lead to, each by one of these names.
 *
 * The newest come first, so that what is before the base is mostly met as such and not followed; clocks
 * that went wrong make it slower, not wrong.
 */
export function reachableCommits(
  odb: ObjectDatabase,
  base: Oid,
  names: readonly RefName[],
): ReadonlyMap<Oid, string> {
  const nodes = new Map<Oid, HistoryNode>();
  /** By time, the newest last. */
  const queue: HistoryNode[] = [];
  /** How many in the queue are not known to be before the base. */
  let open = 0;
  const meet = (oid: Oid, { name, beneath }: Pick<HistoryNode, 'name' | 'beneath'>) => {
    const node = nodes.get(oid) ?? read(odb, oid);
    if (!node || node.beneath || (!beneath && node.name !== undefined)) return;
    nodes.set(oid, node);
    if (node.queued) open -= 1;
    else queue.splice(placeOf(queue, node.time), 0, node);
    node.name ??= name;
    node.beneath = beneath;
    node.queued = true;
    if (!beneath) open += 1;
  };
  meet(base, { name: undefined, beneath: true });
  for (const { name, oid } of names) {
    const commit = commitBehind(odb, oid);
    if (commit !== undefined) meet(commit, { name, beneath: false });
  }
  while (open > 0) {
    const node = queue.pop();
    if (!node) break;
    node.queued = false;
    if (!node.beneath) open -= 1;
    for (const parent of node.parents) meet(parent, node);
  }
  const held = [...nodes].flatMap(([oid, { name, beneath }]) =>
    name === undefined || beneath ? [] : [[oid, name] as const],
  );
  return new Map(held);
}

/** Undefined for a commit that this clone does not have. */
function read(odb: ObjectDatabase, oid: Oid): HistoryNode | undefined {
  if (!odb.has(oid)) return undefined;
  const { parents, committer } = parseCommit(odb.content(oid, 'commit'));
  return { parents, time: committer.seconds, name: undefined, beneath: false, queued: false };
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

/** The commit that a tag, or a tag of one, leads to; undefined for what names no commit. */
function commitBehind(odb: ObjectDatabase, oid: Oid): Oid | undefined {
  for (let at = oid; odb.has(at); ) {
    const { type, content } = odb.read(at);
    if (type === 'commit') return at;
    if (type !== 'tag') return undefined;
    at = content.toString('latin1', 7, 47);
  }
  return undefined;
}
