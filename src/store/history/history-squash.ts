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
  /** Whether it changes the memory; otherwise it changes only other files. */
  readonly ours: boolean;
}

/** The commits that a squash replaces and those that it moves below them, newest first. */
interface Range {
  readonly links: readonly Link[];
  /** Why the commit before them is not one of them, in words. */
  readonly end: string;
}

/** The commits that `squash` would join; see `History`. */
export async function squashable(visit: Visit, message?: string): Promise<Squashable> {
  return describe(visit, findRange(visit, visit.archive.repository.head().oid), message);
}

/** Joins the unpushed memory commits to one; see `History`. */
export async function squash(
  visit: Visit,
  expected: Squashable | undefined,
  message?: string,
): ReturnType<History['squash']> {
  const { repository } = visit.archive;
  let found: Squashable | undefined;
  const made = await repository.commit(async (head) => {
    const range = findRange(visit, head.oid);
    found = await describe(visit, range, message);
    if (expected && (expected.tip !== found.tip || expected.end !== found.end)) {
      throw new MemoryError('conflict', 'The commits of the branch are not the ones shown.', {
        hint: 'Nothing was changed. Look at them again.',
      });
    }
    return planOf(visit, range, message);
  }, visit.permit.signal);
  if (!made || !found) return undefined;
  const commit = toCommitMade(made);
  visit.permit.onCommit(commit);
  return { ...found, made: commit };
}

async function describe(visit: Visit, range: Range, message?: string): Promise<Squashable> {
  const { links, end } = range;
  const of = (list: readonly Link[]) => Promise.all(list.map(({ oid }) => visit.describe(oid)));
  const below = links.slice(links.findIndex(({ ours }) => ours));
  const commits = await of(below.filter(({ ours }) => ours));
  const moved = await of(below.filter(({ ours }) => !ours));
  const plan = planOf(visit, range, message);
  return { tip: links[0]?.oid, commits, moved, end, message: plan?.message };
}

function planOf(visit: Visit, { links }: Range, message?: string): Squash | undefined {
  const ours = links.filter((link) => link.ours);
  const [newest] = ours;
  const oldest = ours.at(-1);
  if (!newest || !oldest || newest === oldest) return undefined;
  const { odb } = visit.archive.repository;
  const folder = folderOf(visit);
  const top = links.indexOf(newest);
  const records: string[] = [];
  for (const { path } of differences(odb, treeOf(odb, oldest.parent), treeOf(odb, newest.oid))) {
    if (path.startsWith(folder)) records.push(path.slice(folder.length));
  }
  return {
    onto: oldest.parent,
    newest: newest.oid,
    folder: folder.slice(0, -1),
    below: links
      .slice(top)
      .flatMap(({ oid, ours }) => (ours ? [] : oid))
      .reverse(),
    above: links
      .slice(0, top)
      .map(({ oid }) => oid)
      .reverse(),
    author: oldest.commit.author,
    message: squashMessage([...ours].reverse(), records, message),
    log: `squash: ${ours.length} commits of the memory`,
  };
}

/** The unpushed commits down to the oldest one of the memory, and why the next one is not among them. */
function findRange(visit: Visit, tip: Oid | undefined): Range {
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
  const held = reachableCommits(odb, oldest.parent, refs.others());
  const first = links.findIndex(({ oid }) => held.has(oid));
  if (first >= 0) {
    const { oid = '' } = links[first] ?? {};
    end = `${oid.slice(0, 12)} is part of ${held.get(oid)}.`;
    links.length = first;
  }
  const last = links.findLastIndex(({ ours }) => ours);
  return { links: links.slice(0, last + 1), end };
}

/** The commit, if it changes either the memory or other files and can be rewritten; else why not. */
function linkAt(visit: Visit, oid: Oid): Link | string {
  const { odb } = visit.archive.repository;
  const folder = folderOf(visit);
  const bytes = odb.content(oid, 'commit');
  const commit = parseCommit(bytes);
  const [parent, ...others] = commit.parents;
  if (parent === undefined) return 'is the first commit';
  if (others.length > 0) return 'is a merge';
  if (!odb.has(parent)) return 'is where this shallow clone begins';
  let inside = 0;
  let outside: string | undefined;
  for (const { path } of differences(odb, treeOf(odb, parent), treeOf(odb, oid))) {
    if (path.startsWith(folder)) inside += 1;
    else outside ??= path;
    if (inside > 0 && outside !== undefined) return `changes the memory and ${outside}`;
  }
  if (inside === 0 && outside === undefined) return 'changes nothing';
  // A squash would lose another encoding, and also a signature unless the new commit is signed.
  const kept = visit.archive.repository.signs ? withoutSignature(bytes) : bytes;
  const again = formatCommit(commit).toString('latin1');
  const same = again.trimEnd() === kept.toString('latin1').trimEnd();
  return same ? { oid, commit, parent, ours: inside > 0 } : 'is signed, or not in UTF-8';
}

/** The memory folder, with a trailing slash unless it is the whole tree. */
function folderOf(visit: Visit): string {
  const folder = visit.archive.memory.inTree('');
  return folder === '' ? '' : `${folder}/`;
}
