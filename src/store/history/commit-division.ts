import type {
  Division,
  DivisionRequest,
  History,
  TangledCommit,
} from '../../core/memory/history.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Rebuilt, Rewrite } from '../../git/commit/rewrite-plan.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import { isMemoryMessage } from '../records/message-parts.ts';
import type { HistoryReader } from './history-reader.ts';
import {
  changedPaths,
  rebuild,
  type UnpushedCommit,
  type UnpushedCommits,
  unpushedCommits,
} from './unpushed-commits.ts';

/** Length of a subject of the program, in characters. */
const maxSubject = 72;

/** The memory commits of the branch that also change other files and can be divided, newest first. */
export function tangledCommits(reader: HistoryReader): Promise<TangledCommit[]> {
  const { links } = unpushedCommits(reader, reader.history.repository.head().oid);
  const tangled = links.filter(isTangled);
  return Promise.all(
    tangled.map(async ({ oid, outside }) => ({ commit: await reader.describe(oid), outside })),
  );
}

/** The paths that a memory commit changes outside the memory; empty for any other commit. */
export function pathsOutside(reader: HistoryReader, oid: Oid): readonly string[] {
  const { odb } = reader.history.repository;
  const commit = parseCommit(odb.content(oid, 'commit'));
  const [parent, ...others] = commit.parents;
  const isReadable = parent === undefined || odb.has(parent);
  if (others.length > 0 || !isReadable || !isMemoryMessage(commit.message)) return [];
  try {
    const { inside, outside } = changedPaths(reader, oid, parent);
    return isTangled({ commit, inside, outside }) ? outside : [];
  } catch (error) {
    // A partial clone need not have the trees of the code.
    if (error instanceof MemoryError && error.code === 'damaged') return [];
    throw error;
  }
}

/** How a commit would be divided; see `History`. */
export async function division(
  reader: HistoryReader,
  request: DivisionRequest,
): ReturnType<History['division']> {
  return (await plan(reader, reader.history.repository.head().oid, request))?.division;
}

/** Divides a commit; see `History`. */
export async function divide(
  reader: HistoryReader,
  request: DivisionRequest,
  expected: Division | undefined,
): ReturnType<History['divide']> {
  let found: Division | undefined;
  const made = await reader.history.repository.commit(async (head) => {
    const planned = await plan(reader, head.oid, request);
    found = planned?.division;
    const isSame = found?.tip === expected?.tip && found?.commit.oid === expected?.commit.oid;
    if (expected && (!isSame || found?.obstacle !== expected.obstacle)) {
      throw new MemoryError('conflict', 'The commits of the branch are not the ones shown.', {
        hint: 'Nothing was changed. Look at them again.',
      });
    }
    if (found?.obstacle !== undefined) {
      throw new MemoryError('unsupported', `The commit cannot be divided: ${found.obstacle}`);
    }
    return planned?.rewrite;
  }, reader.rights);
  if (!made || !found) return undefined;
  const commit = made;
  reader.rights.onCommit(commit);
  return { ...found, made: commit };
}

interface PlannedDivision {
  readonly division: Division;
  /** Undefined if there is an obstacle. */
  readonly rewrite: Rewrite | undefined;
}

async function plan(
  reader: HistoryReader,
  tip: Oid | undefined,
  { revision, message, amend }: DivisionRequest,
): Promise<PlannedDivision | undefined> {
  if (tip === undefined) return undefined;
  const unpushed = unpushedCommits(reader, tip);
  const { links } = unpushed;
  const tangled = links.filter(isTangled);
  const [newest] = tangled;
  if (revision === undefined && !newest) return undefined;
  const oid = newest && revision === undefined ? newest.oid : await reader.resolve(revision ?? '');
  const found = links.findIndex((link) => link.oid === oid);
  const link = links[found];
  const outside = link?.outside ?? pathsOutside(reader, oid);
  if (!(link ? isTangled(link) : outside.length > 0)) throw notTangled(reader, oid);
  const target = link && codeBelow(links, found);
  const code = message?.trim() ?? codeSubject(outside);
  if (amend && link && !target) {
    throw new MemoryError('not_found', `No unpushed commit of code is below ${short(oid)}.`, {
      hint: 'Nothing was changed. Without the option to amend, the code becomes a commit of its own.',
    });
  }
  const into = amend ? target : undefined;
  const division: Division = {
    tip,
    commit: await reader.describe(oid),
    records: link?.inside ?? changedPaths(reader, oid, parentOf(reader, oid)).inside,
    outside,
    target: target && (await reader.describe(target.oid)),
    message: into && message === undefined ? into.commit.message.trim() : code,
    above: Math.max(found, 0),
    others: tangled.filter((other) => other !== link).length,
    folder: reader.history.memory.inTree(''),
    obstacle: link ? undefined : obstacleTo(reader, oid, unpushed),
  };
  if (!link) return { division, rewrite: undefined };
  return { division, rewrite: rewriteOf(reader, division, links, { link, into }) };
}

function rewriteOf(
  reader: HistoryReader,
  { message }: Division,
  links: UnpushedCommits['links'],
  { link, into }: { readonly link: UnpushedCommit; readonly into: UnpushedCommit | undefined },
): Rewrite {
  const at = links.indexOf(link);
  const onto = (into ?? link).parent;
  // The commit to amend moves above the memory commits, so that HEAD can be amended again.
  const memory = links.slice(at, into ? links.indexOf(into) : at + 1).reverse();
  const code: Rebuilt = {
    files: link.oid,
    folder: link.oid,
    author: into ? into.commit.author : link.commit.committer,
    message: `${message}\n`,
  };
  const above = links.slice(0, at).reverse();
  return {
    onto,
    folder: reader.history.memory.inTree(''),
    rebuilt: [
      ...memory.map((one) => rebuild(one, { files: onto })),
      code,
      ...above.map((one) => rebuild(one)),
    ],
    log: 'untangle: 1 commit of the memory divided',
  };
}

/** Whether a commit has the message of a memory commit, and changes the memory and other files. */
function isTangled({
  commit,
  inside,
  outside,
}: Pick<UnpushedCommit, 'commit' | 'inside' | 'outside'>): boolean {
  if (inside.length === 0 || outside.length === 0 || !isMemoryMessage(commit.message)) return false;
  // The memories of several packages can be in one repository.
  return outside.some((path) => !/(?:^|\/)\.memory-bank\//.test(path));
}

/** The next commit of code, if only memory commits are between it and a commit. */
function codeBelow(links: UnpushedCommits['links'], at: number): UnpushedCommit | undefined {
  const next = links.slice(at + 1).find(({ outside }) => outside.length > 0);
  return next && next.inside.length === 0 ? next : undefined;
}

/** The default message for the code. */
function codeSubject(paths: readonly string[]): string {
  const [path = ''] = paths;
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  const subject = `Change ${path}${more}`;
  return subject.length <= maxSubject ? subject : `Change ${paths.length} files`;
}

function notTangled(reader: HistoryReader, oid: Oid): MemoryError {
  const { message } = parseCommit(reader.history.repository.odb.content(oid, 'commit'));
  const why = isMemoryMessage(message)
    ? 'does not change both the memory and other files'
    : 'is not a commit of the memory';
  return new MemoryError('invalid_input', `${short(oid)} ${why}.`, {
    hint: 'Nothing was changed. Without a commit, the newest one that can be divided is taken.',
  });
}

/** Why a commit is not among those that can be rewritten, in words. */
function obstacleTo(reader: HistoryReader, oid: Oid, { end }: UnpushedCommits): string {
  const { odb, refs } = reader.history.repository;
  const held = reachableCommits(odb, parentOf(reader, oid), refs.others()).get(oid);
  return held === undefined ? end : `${short(oid)} is part of ${held}.`;
}

function parentOf(reader: HistoryReader, oid: Oid): Oid | undefined {
  return parseCommit(reader.history.repository.odb.content(oid, 'commit')).parents[0];
}

function short(oid: Oid): string {
  return oid.slice(0, 12);
}
