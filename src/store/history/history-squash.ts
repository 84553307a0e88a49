import { MemoryError } from '../../core/error.ts';
import type { History, Squashable } from '../../core/history.ts';
import { withoutSignature } from '../../git/commit/signing.ts';
import type { Squash } from '../../git/commit/squash-plan.ts';
import { type Commit, formatCommit, type Oid, parseCommit } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import { squashMessage } from '../records/message.ts';
import { toCommitMade } from '../records/permit.ts';
import type { Visit } from './visit.ts';

/** Limit of commits that one squash joins. */
const maxCommits = 1000;

interface Link {
  readonly oid: Oid;
  readonly commit: Commit;
  readonly parent: Oid;
}

/** Lists the commits that `squash` would join into one; see `History`. */
export async function squashable(visit: Visit): Promise<Squashable> {
  const { links, end } = findLinks(visit, visit.archive.repository.head().oid);
  const commits = await Promise.all(links.map(({ oid }) => visit.describe(oid)));
  return { commits, end, message: planOf(visit, links)?.message };
}

/** Joins the memory commits at the tip into one; see `History`. */
export async function squash(
  visit: Visit,
  expected: Squashable | undefined,
): ReturnType<History['squash']> {
  const { repository } = visit.archive;
  let found: Squashable | undefined;
  const made = await repository.commit(async (head) => {
    const { links, end } = findLinks(visit, head.oid);
    const same = links.every(({ oid }, i) => expected?.commits[i]?.oid === oid);
    if (expected && (!same || links.length !== expected.commits.length)) {
      throw new MemoryError(
        'conflict',
        'The commits at the tip have changed since they were listed.',
        {
          hint: 'Nothing was changed. List them again, then squash.',
        },
      );
    }
    const plan = planOf(visit, links);
    const commits = links.map(({ oid }) => visit.archive.commit(oid));
    found = { commits, end, message: plan?.message };
    return plan;
  }, visit.permit.signal);
  if (!made || !found) return undefined;
  const commit = toCommitMade(made);
  visit.permit.onCommit(commit);
  return { ...found, made: commit };
}

function planOf(visit: Visit, links: readonly Link[]): Squash | undefined {
  const [newest] = links;
  const oldest = links.at(-1);
  if (!newest || !oldest || newest === oldest) return undefined;
  const { odb } = visit.archive.repository;
  const folder = folderOf(visit);
  const records: string[] = [];
  for (const { path } of differences(odb, treeOf(odb, oldest.parent), treeOf(odb, newest.oid))) {
    records.push(path.slice(folder.length));
  }
  const message = squashMessage([...links].reverse(), records);
  const log = `squash: ${links.length} commits of the memory`;
  return { onto: oldest.parent, author: oldest.commit.author, message, log };
}

/** The commits at a tip that can be squashed, newest first, and why the next one cannot. */
function findLinks(
  visit: Visit,
  tip: Oid | undefined,
): { readonly links: readonly Link[]; readonly end: string } {
  const { odb, refs } = visit.archive.repository;
  const links: Link[] = [];
  let end = 'There is no commit yet.';
  for (let at = tip; at !== undefined; at = links.at(-1)?.parent) {
    const found = linkAt(visit, at);
    end =
      typeof found === 'string'
        ? `${at.slice(0, 12)} ${found}.`
        : `The limit is ${maxCommits} commits.`;
    if (typeof found === 'string' || links.length === maxCommits) break;
    links.push(found);
  }
  const oldest = links.at(-1);
  if (!oldest) return { links, end };
  const shared = reachableCommits(odb, oldest.parent, refs.others());
  const first = links.findIndex(({ oid }) => shared.has(oid));
  if (first < 0) return { links, end };
  const { oid = '' } = links[first] ?? {};
  return {
    links: links.slice(0, first),
    end: `${oid.slice(0, 12)} is part of ${shared.get(oid)}.`,
  };
}

/** The commit if it can be squashed, else why not: it may touch only the memory and lose nothing. */
function linkAt(visit: Visit, oid: Oid): Link | string {
  const { odb } = visit.archive.repository;
  const folder = folderOf(visit);
  const bytes = odb.content(oid, 'commit');
  const commit = parseCommit(bytes);
  const [parent, ...others] = commit.parents;
  if (parent === undefined) return 'is the first commit';
  if (others.length > 0) return 'is a merge';
  if (!odb.has(parent)) return 'is the first one in this shallow clone';
  let count = 0;
  for (const { path } of differences(odb, treeOf(odb, parent), treeOf(odb, oid))) {
    if (!path.startsWith(folder)) return `touches ${path}`;
    count += 1;
  }
  if (count === 0) return 'changes nothing';
  // A squash would lose another encoding, and a signature unless the new commit is signed.
  const kept = visit.archive.repository.signs ? withoutSignature(bytes) : bytes;
  const again = formatCommit(commit).toString('latin1');
  const same = again.trimEnd() === kept.toString('latin1').trimEnd();
  return same ? { oid, commit, parent } : 'is signed, or not in UTF-8';
}

/** The memory folder, with a trailing slash unless it is the whole tree. */
function folderOf(visit: Visit): string {
  const folder = visit.archive.memory.inTree('');
  return folder === '' ? '' : `${folder}/`;
}
