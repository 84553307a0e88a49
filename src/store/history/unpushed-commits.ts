import type { Rebuilt } from '../../git/commit/rewrite-plan.ts';
import { withoutSignature } from '../../git/commit/signing.ts';
import { type Commit, formatCommit, type Oid, parseCommit } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import type { HistoryReader } from './history-reader.ts';

/** Limit of commits that one rewrite replaces. */
export const maxCommits = 1000;

/** A commit that can be rewritten, and the files that it changes. */
export interface UnpushedCommit {
  readonly oid: Oid;
  readonly commit: Commit;
  /** Undefined for the first commit. */
  readonly parent: Oid | undefined;
  /** Paths in the memory, relative to it, and other paths of the repository. */
  readonly inside: readonly string[];
  readonly outside: readonly string[];
}

/** The last commits of a branch that only this branch has, newest first. */
export interface UnpushedCommits {
  readonly links: readonly UnpushedCommit[];
  /** Why the commit before them is not one of them, in words. */
  readonly end: string;
}

/**
 * Lists the commits that can be rewritten: no other ref has them, and nothing would be lost.
 *
 * @param obstacle why the list ends before a commit; undefined to go on.
 */
export function unpushedCommits(
  reader: HistoryReader,
  tip: Oid | undefined,
  obstacle: (link: UnpushedCommit) => string | undefined = () => undefined,
): UnpushedCommits {
  const { odb, refs } = reader.history.repository;
  const links: UnpushedCommit[] = [];
  let end = 'There is no commit yet.';
  for (let at = tip; at !== undefined; at = links.at(-1)?.parent) {
    const found = linkAt(reader, at);
    const reason = typeof found === 'string' ? found : obstacle(found);
    const isFull = links.length === maxCommits;
    if (isFull) end = `The limit is ${maxCommits} commits.`;
    else if (reason !== undefined) end = `${at.slice(0, 12)} ${reason}.`;
    if (isFull || reason !== undefined || typeof found === 'string') break;
    end = `${at.slice(0, 12)} is the first commit.`;
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
  return { links, end };
}

/** Reads a commit that can be rewritten; returns why it cannot, if so. */
function linkAt(reader: HistoryReader, oid: Oid): UnpushedCommit | string {
  const { odb, signs } = reader.history.repository;
  const bytes = odb.content(oid, 'commit');
  const commit = parseCommit(bytes);
  const [parent, ...others] = commit.parents;
  if (others.length > 0) return 'is a merge';
  if (parent !== undefined && !odb.has(parent)) return 'is where this shallow clone begins';
  // A rewrite would lose another encoding, and also a signature unless the new commit is signed.
  const kept = signs ? withoutSignature(bytes) : bytes;
  const again = formatCommit(commit).toString('latin1');
  const same = again.trimEnd() === kept.toString('latin1').trimEnd();
  if (!same) return 'is signed, or not in UTF-8';
  return { oid, commit, parent, ...changedPaths(reader, oid, parent) };
}

/** The paths that a commit changes, in the memory and outside it. */
export function changedPaths(
  reader: HistoryReader,
  oid: Oid,
  parent: Oid | undefined,
): Pick<UnpushedCommit, 'inside' | 'outside'> {
  const { odb } = reader.history.repository;
  const folder = folderOf(reader);
  const inside: string[] = [];
  const outside: string[] = [];
  const before = parent === undefined ? undefined : treeOf(odb, parent);
  for (const { path } of differences(odb, before, treeOf(odb, oid))) {
    if (path.startsWith(folder)) inside.push(path.slice(folder.length));
    else outside.push(path);
  }
  return { inside, outside };
}

/** The same commit for other parents, with the files or the folder of other commits. */
export function rebuild(
  { oid, commit: { author, committer, message } }: UnpushedCommit,
  from: Partial<Pick<Rebuilt, 'files' | 'folder'>> = {},
): Rebuilt {
  return { files: oid, folder: oid, ...from, author, committer, message };
}

/** The memory folder, with a trailing slash unless it is the whole tree. */
function folderOf(reader: HistoryReader): string {
  const folder = reader.history.memory.inTree('');
  return folder === '' ? '' : `${folder}/`;
}
