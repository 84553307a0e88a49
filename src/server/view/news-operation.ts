import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { authorName, isOfAgent } from '../../core/memory/author-name.ts';
import type { CommitInfo, LogEntry, NewestCommits } from '../../core/memory/commit-log.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import { type News, newsShape } from '../page/answers.ts';
import { at, commitData, commitId, entryData } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';

/** Maximum number of commits that are looked at, of sources, and of the listed commits of each. */
export const maxLooked = 200;
const maxSources = 8;
const maxEntries = 6;
/** Without a commit that was seen, the newest commits and those of the days before them. */
const maxRecent = 40;
const recentlyMs = 3 * 24 * 60 * 60 * 1000;

/** Gives the changes since a person last looked. */
export const news = defineMemoryOperation({
  method: 'get',
  path: '/memory/news',
  id: 'get_news',
  summary: 'Returns the changes since a commit that was seen, by agent and session.',
  input: z.object({
    at,
    seen: commitId.optional().describe('Without it, the changes of the last days'),
  }),
  answer: newsShape,
  async run(context, { at, seen }) {
    const known = seen === undefined ? undefined : await findCommit(context, seen);
    const { entries, total, isPart } = known
      ? await changesSince(context, at ?? 'HEAD', known.oid)
      : recentOf(await newestOf(context, at));
    const sources = sourcesOf(entries);
    const listed = sources.slice(0, maxSources);
    return {
      ...(known && { seen: commitData(known) }),
      sources: listed,
      others: total - listed.reduce((sum, { count }) => sum + count, 0),
      ...(isPart && { isPart }),
    };
  },
});

/** Returns the newest commits; a memory that was never committed has none. */
export async function newestOf(
  { history }: Pick<Context, 'history'>,
  revision: string | undefined,
): Promise<NewestCommits> {
  try {
    return await history.newest(revision ?? 'HEAD', maxLooked);
  } catch (error) {
    const isNew = error instanceof MemoryError && error.code === 'not_found';
    if (!isNew || revision !== undefined) throw error;
    return { entries: [], total: 0, shallow: false, isPart: false };
  }
}

/** Returns the commit of a revision; undefined if this clone does not have it. */
export async function findCommit(
  { history }: Pick<Context, 'history'>,
  revision: string,
): Promise<CommitInfo | undefined> {
  const state = await history.at(revision).catch(() => undefined);
  return state?.commit;
}

type Found = Pick<NewestCommits, 'entries' | 'total' | 'isPart'>;

/** The commits that a state does not have, also those that a merge has brought. */
async function changesSince({ history }: Context, revision: string, seen: string): Promise<Found> {
  if (await history.isIndexed(revision)) {
    const log = await history.log({ revision, since: seen, limit: maxLooked, skip: 0 });
    return { ...log, isPart: false };
  }
  const newest = await history.newest(revision, maxLooked);
  const end = newest.entries.findIndex(({ commit }) => commit.oid === seen);
  const entries = end < 0 ? newest.entries : newest.entries.slice(0, end);
  return { entries, total: entries.length, isPart: end < 0 };
}

function recentOf({ entries }: NewestCommits): Found {
  const since = Date.parse(entries[0]?.commit.at ?? '') - recentlyMs;
  const recent = entries.slice(0, maxRecent).filter(({ commit }) => Date.parse(commit.at) >= since);
  return { entries: recent, total: recent.length, isPart: false };
}

/** Groups commits by the session of an agent, or by person. */
function sourcesOf(entries: readonly LogEntry[]): News['sources'] {
  const groups = new Map<string, LogEntry[]>();
  for (const entry of entries) addTo(groups, sourceOf(entry.commit), entry);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { agent, session } = first.commit;
    const paths = new Set(group.flatMap(({ changes }) => changes.map(({ path }) => path)));
    return [
      {
        name: nameOf(first.commit),
        ...(isOfAgent(agent) && session !== undefined && { session }),
        count: group.length,
        records: paths.size,
        entries: group.slice(0, maxEntries).map(entryData),
      },
    ];
  });
}

function sourceOf(commit: CommitInfo): string {
  return isOfAgent(commit.agent) ? `${nameOf(commit)}\0${commit.session}` : nameOf(commit);
}

/** The name of an agent, or of the person that works in a program of ours. */
function nameOf(commit: CommitInfo): string {
  return authorName(isOfAgent(commit.agent) ? commit : { author: commit.author });
}
