import { basename } from 'node:path';
import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import type { NewestCommits } from '../../core/memory/history.ts';
import { describeCopy } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import { homeShape } from '../page/answers.ts';
import { at, commitData, countMakers, entryData, referenceTo } from './answer-data.ts';
import { type Catalogue, defineMemoryOperation } from './operation.ts';
import { type KnownRecord, readState } from './record-source.ts';
import { findUnreviewed } from './review.ts';

/** Maximum number of points of one kind, and of recent commits. */
const maxPoints = 12;
const maxRecent = 40;
/** Maximum number of commits that the first page looks at. */
const maxLooked = 200;
const oneDay = 24 * 60 * 60 * 1000;
/** The age of a recent commit, in milliseconds: since yesterday, and over a weekend. */
const recently = 3 * oneDay;

/** Gives the first page: current work, decisions, recent commits, and files that need a person. */
export const home = defineMemoryOperation({
  method: 'get',
  path: '/memory/home',
  id: 'get_home',
  summary: 'Returns the current work, latest decisions, recent changes and damaged files.',
  input: z.object({ at }),
  answer: homeShape,
  async run(context, { at }, catalogue) {
    const { root, projectId: id } = await context.project.info();
    const { branch, oid: head } = await context.project.head();
    const { records, damaged, copies } = await readState(context, catalogue.types, at);
    const { entries, total, isPart } = await logOf(context, at);
    const isCut = isPart || total > entries.length;
    const [newest] = entries;
    const since = Date.parse(newest?.commit.at ?? '') - recently;
    const yesterday = new Date(context.now().getTime() - oneDay).toISOString().slice(0, 10);
    const late = entries.filter(({ commit }) => commit.at >= yesterday);
    const unreviewed = at === undefined ? await findUnreviewed(context, entries, isCut) : undefined;
    const points = pointsOf(records);
    const dated = points.sort((a, b) => ((b.at ?? '') < (a.at ?? '') ? -1 : 1));
    const ofPart = (wanted: 'now' | 'decision') =>
      dated.filter(({ part }) => part === wanted).slice(0, maxPoints);
    return {
      project: basename(root),
      ...(id !== undefined && { id }),
      branch,
      commit: newest && commitData(newest.commit),
      head,
      records: counts(records, catalogue),
      now: ofPart('now').map(({ part: _, ...point }) => point),
      decisions: ofPart('decision').map(({ part: _, ...point }) => point),
      recent: entries
        .slice(0, maxRecent)
        .filter(({ commit }) => Date.parse(commit.at) >= since)
        .map(entryData),
      since: {
        day: yesterday,
        count: late.length,
        agents: countMakers(late.map(({ commit }) => commit)),
        ...(isCut && late.length === entries.length && { isPart: true }),
      },
      ...(unreviewed && { unreviewed }),
      waiting: at === undefined ? (await context.reviews.list()).length : 0,
      conflicts: at === undefined ? await conflictsOf(context) : [],
      problems: [
        ...damaged.map(({ path, error }) => ({ path, message: error.text })),
        ...copies.map((copy) => ({ path: copy.path, message: describeCopy(copy) })),
      ],
    };
  },
});

/** Returns the newest commits; a memory that was never committed has none. */
async function logOf({ history }: Context, revision: string | undefined): Promise<NewestCommits> {
  try {
    return await history.newest(revision ?? 'HEAD', maxLooked);
  } catch (error) {
    const isNew = error instanceof MemoryError && error.code === 'not_found';
    if (!isNew || revision !== undefined) throw error;
    return { entries: [], total: 0, shallow: false, isPart: false };
  }
}

/** Returns the records in conflict that the session's mode may read. */
async function conflictsOf({ project, history }: Context): Promise<string[]> {
  if ((await project.conflicts()).length === 0) return [];
  return (await history.unmerged()).map(({ path }) => path);
}

function pointsOf(records: readonly KnownRecord[]) {
  return records.flatMap((record) =>
    (record.type.points?.(record.value) ?? []).map(({ part, text, at }) => ({
      ...referenceTo(record),
      part,
      text,
      at,
    })),
  );
}

function counts(records: readonly KnownRecord[], { toolsets, types }: Catalogue) {
  const numbers = new Map<string, number>();
  for (const { type } of records) numbers.set(type.name, (numbers.get(type.name) ?? 0) + 1);
  return types.flatMap(({ name, toolset }) => {
    const title = toolsets.find((one) => one.name === toolset)?.title ?? toolset;
    const count = numbers.get(name);
    return count === undefined ? [] : [{ toolset, title, type: name, count }];
  });
}
