import type { History, Squashable } from '../../core/memory/history.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Rewrite } from '../../git/commit/rewrite-plan.ts';
import type { Oid } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { confirmationsIn, squashMessage } from '../records/message.ts';
import type { HistoryReader } from './history-reader.ts';
import {
  rebuild,
  type UnpushedCommit,
  type UnpushedCommits,
  unpushedCommits,
} from './unpushed-commits.ts';

/** The commits that `squash` would join; see `History`. */
export async function squashable(reader: HistoryReader, message?: string): Promise<Squashable> {
  return describe(reader, findRange(reader, reader.history.repository.head().oid), message);
}

/** Joins the unpushed memory commits to one; see `History`. */
export async function squash(
  reader: HistoryReader,
  expected: Squashable | undefined,
  message?: string,
): ReturnType<History['squash']> {
  const { repository } = reader.history;
  let found: Squashable | undefined;
  const made = await repository.commit(async (head) => {
    const range = findRange(reader, head.oid);
    found = await describe(reader, range, message);
    if (expected && (expected.tip !== found.tip || expected.end !== found.end)) {
      throw new MemoryError('conflict', 'The commits of the branch are not the ones shown.', {
        hint: 'Nothing was changed. Look at them again.',
      });
    }
    return planOf(reader, range, message)?.rewrite;
  }, reader.rights);
  if (!made || !found) return undefined;
  const commit = made;
  reader.rights.onCommit(commit);
  return { ...found, made: commit };
}

/**
 * Joins the unpushed memory commits to one, but only if no commit of the user would move.
 *
 * Where `squash` would be refused, the commits stay as they are.
 */
export async function squashForSync(reader: HistoryReader): Promise<void> {
  try {
    const found = await squashable(reader);
    if (found.moved.length === 0) await squash(reader, found);
  } catch (error) {
    const harmless = ['unsupported', 'conflict', 'not_found'];
    if (!(error instanceof MemoryError) || !harmless.includes(error.code)) throw error;
  }
}

async function describe(
  reader: HistoryReader,
  range: UnpushedCommits,
  message?: string,
): Promise<Squashable> {
  const { links, end } = range;
  const of = (list: readonly UnpushedCommit[]) =>
    Promise.all(list.map(({ oid }) => reader.describe(oid)));
  const below = links.slice(links.findIndex(isOurs));
  const commits = await of(below.filter(isOurs));
  const moved = await of(below.filter((link) => !isOurs(link)));
  const plan = planOf(reader, range, message);
  return { tip: links[0]?.oid, commits, moved, end, message: plan?.message };
}

/** The message of the squashed commit, and how to make it; undefined for fewer than two commits. */
function planOf(
  reader: HistoryReader,
  { links }: UnpushedCommits,
  given?: string,
): { readonly message: string; readonly rewrite: Rewrite } | undefined {
  const ours = links.filter(isOurs);
  const [newest] = ours;
  const oldest = ours.at(-1);
  const onto = oldest?.parent;
  if (!newest || !oldest || newest === oldest || onto === undefined) return undefined;
  const { odb } = reader.history.repository;
  const folder = reader.history.memory.inTree('');
  const prefix = folder === '' ? '' : `${folder}/`;
  const records: string[] = [];
  for (const { path } of differences(odb, treeOf(odb, onto), treeOf(odb, newest.oid))) {
    if (path.startsWith(prefix)) records.push(path.slice(prefix.length));
  }
  const confirmed = ours.flatMap(({ commit }) => confirmationsIn(commit.message));
  const kept = confirmed.map(({ address }) => parseAddress(address).path);
  const named = new Set([...records, ...kept]);
  const top = links.indexOf(newest);
  const moved = links.slice(top).filter((link) => !isOurs(link));
  const message = squashMessage([...ours].reverse(), [...named], given);
  const { author } = oldest.commit;
  const above = links.slice(0, top).reverse();
  const rebuilt = [
    // Each with the folder as it was before the memory commits.
    ...moved.reverse().map((link) => rebuild(link, { folder: onto })),
    { files: newest.oid, folder: newest.oid, author, message },
    ...above.map((link) => rebuild(link)),
  ];
  const log = `squash: ${ours.length} commits of the memory`;
  return { message, rewrite: { onto, folder, rebuilt, log } };
}

/** Whether a commit changes the memory or confirms a part of it; otherwise it changes only other files. */
function isOurs({ inside, outside, commit }: UnpushedCommit): boolean {
  return inside.length > 0 || (outside.length === 0 && confirmationsIn(commit.message).length > 0);
}

/** The unpushed commits down to the oldest one of the memory, and why the next one is not among them. */
function findRange(reader: HistoryReader, tip: Oid | undefined): UnpushedCommits {
  const { links, end } = unpushedCommits(reader, tip, (link) => {
    const { parent, inside, outside } = link;
    if (parent === undefined) return 'is the first commit';
    if (inside.length === 0 && outside.length === 0 && !isOurs(link)) return 'changes nothing';
    const mixed = inside.length > 0 && outside.length > 0;
    return mixed ? `changes the memory and ${outside[0]}` : undefined;
  });
  return { links: links.slice(0, links.findLastIndex(isOurs) + 1), end };
}
