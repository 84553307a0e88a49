import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { listTree } from '../../git/objects/tree.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import type { Refs } from '../../git/refs/refs.ts';
import { eachBranch, memoryBranch } from '../../git/repository/memory-place.ts';
import { commonAncestor } from '../history/branch-work.ts';
import { entryAt } from '../history/last-change.ts';
import { codeCommitOf } from '../records/message.ts';

/** The name of the branch of the memory, if the user gives none. */
const usualBranch = 'memory';
/** Limit of the branches that the search for the nearest one compares. */
const maxCompared = 50;

const local = 'refs/heads/';
const remotes = 'refs/remotes/';

/** A branch with a commit. */
export interface Tip {
  /** Full name: local or remote-tracking. */
  readonly ref: string;
  readonly oid: Oid;
}

/** Returns a branch by its short name: the local one, else the remote-tracking one of `origin` or another remote. */
export function tipOf(refs: Refs, branch: string): Tip | undefined {
  const own = refs.resolve(local + branch);
  if (own !== undefined) return { ref: local + branch, oid: own };
  const names = new Set(['origin', ...remoteNames(refs)]);
  for (const remote of names) {
    const ref = `${remotes}${remote}/${branch}`;
    const oid = refs.find(ref);
    if (oid !== undefined) return { ref, oid };
  }
  return undefined;
}

function remoteNames(refs: Refs): string[] {
  return refs.list(remotes).map(({ ref }) => ref.slice(remotes.length).split('/', 1)[0] ?? '');
}

/**
 * Finds out whether a repository has a memory on branches of its own, as a fresh clone of such a project.
 *
 * @param folder the memory folder, relative to the top of the work tree.
 * @returns the branch, or `memory/*`.
 */
export function branchesOfMemory(
  refs: Refs,
  odb: ObjectDatabase,
  folder: string,
): string | undefined {
  const isMemory = ({ oid }: Tip) => holdsOnly(odb, oid, folder);
  const single = tipOf(refs, usualBranch);
  if (single && isMemory(single)) return usualBranch;
  const prefixes = [local, ...new Set(remoteNames(refs).map((name) => `${remotes}${name}/`))];
  const found = prefixes
    .flatMap((prefix) => refs.list(`${prefix}${usualBranch}/`))
    .slice(0, maxCompared);
  return found.some(isMemory) ? usualBranch + eachBranch : undefined;
}

/** Whether a commit has the memory, and nothing outside of it. */
export function holdsOnly(odb: ObjectDatabase, commit: Oid, folder: string): boolean {
  if (!odb.has(commit)) return false;
  const top = odb.content(treeOf(odb, commit), 'tree');
  const names = listTree(top, odb.format).map(({ name }) => name);
  const isAlone = names.every((name) => name === folder.split('/', 1)[0]);
  return isAlone && entryAt(odb, commit, `${folder}/config.yaml`) !== undefined;
}

/** The memory of the branch that is nearest to a commit of the code: the one with the latest common commit. */
export function nearestMemory(
  refs: Refs,
  odb: ObjectDatabase,
  pattern: string,
  head: Oid,
): (Tip & { readonly branch: string }) | undefined {
  const prefix = local + memoryBranch(pattern, '');
  let best: { readonly branch: string; readonly tip: Tip; readonly time: number } | undefined;
  for (const branch of candidates(refs, prefix)) {
    const code = tipOf(refs, branch);
    const tip = tipOf(refs, memoryBranch(pattern, branch));
    const common = code && tip && commonAncestor(odb, head, code.oid);
    if (!tip || common === undefined) continue;
    const time = parseCommit(odb.content(common, 'commit')).committer.seconds;
    if (best === undefined || time > best.time) best = { branch, tip, time };
  }
  return best && { ...best.tip, branch: best.branch };
}

/** The branches of the code that have a memory; main branches first, because they win a tie. */
function candidates(refs: Refs, prefix: string): string[] {
  const shared = remoteNames(refs).map((name) => prefix.replace(local, `${remotes}${name}/`));
  const all = [prefix, ...new Set(shared)].flatMap((start) =>
    refs.list(start).map(({ ref }) => ref.slice(start.length)),
  );
  const isMain = (branch: string) => /^(?:main|master)$/.test(branch);
  const sorted = [...new Set(all)].sort((a, b) => Number(isMain(b)) - Number(isMain(a)));
  return sorted.slice(0, maxCompared);
}

/**
 * Lists the branches of the memory whose code is merged into a branch of the code, and whose changes the
 * memory of that branch lacks.
 *
 * Only what is certain counts: the history of the code has the tip of the other branch, which has moved
 * since its first change of the memory, or which was deleted; and it has each commit of the code at which
 * the memory was changed.
 *
 * @param branch of the memory that is checked out.
 * @param head of the code.
 */
export function finishedBranches(
  refs: Refs,
  odb: ObjectDatabase,
  pattern: string,
  branch: string,
  head: Oid,
): readonly string[] {
  const current = refs.resolve(local + branch);
  const isMerged = (oid: Oid) =>
    odb.has(oid) && reachableCommits(odb, head, [{ name: '', oid }]).size === 0;
  const names = candidates(refs, local + memoryBranch(pattern, ''));
  const isFinished = (code: string) => {
    const name = memoryBranch(pattern, code);
    const tip = name === branch ? undefined : tipOf(refs, name)?.oid;
    if (tip === undefined || current === undefined) return false;
    const own = [...reachableCommits(odb, current, [{ name, oid: tip }]).keys()].map((oid) =>
      parseCommit(odb.content(oid, 'commit')),
    );
    const oldest = own.at(-1);
    const first = oldest && codeCommitOf(oldest.message);
    const end = tipOf(refs, code)?.oid;
    if (first === undefined || end === first || (end !== undefined && !isMerged(end))) return false;
    return own.every(({ message }) => {
      const commit = codeCommitOf(message);
      return commit === undefined || isMerged(commit);
    });
  };
  return names.filter(isFinished).map((code) => memoryBranch(pattern, code));
}
