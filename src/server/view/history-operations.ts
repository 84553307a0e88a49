import * as z from 'zod';
import {
  activityShape,
  blameShape,
  type CommitData,
  comparisonShape,
  logShape,
} from '../page/answers.ts';
import { branchesShape, modesShape } from '../page/window-answers.ts';
import { at, commitData, entryData, path, skip, sortedAuthors } from './answer-data.ts';
import { compareStates } from './commit-changes.ts';
import { defineMemoryOperation } from './operation.ts';

const limit = z.coerce.number().int().min(1).max(500).default(50);
const revision = z.string().min(1).max(256);

/** How long the first page of the timeline waits for the index of the commits, in milliseconds. */
const maxIndexWaitMs = 150;

const day = z.iso.date().optional();

export const log = defineMemoryOperation({
  method: 'get',
  path: '/memory/log',
  id: 'get_log',
  summary: 'Lists the commits of the memory, of a folder or of a record, the newest first.',
  input: z.object({
    path: path.optional(),
    at,
    agent: z.string().max(200).optional().describe('Only commits of this agent or person'),
    toolset: z.string().max(100).optional().describe('Only commits of its tools'),
    after: day.describe('Only commits since this day'),
    before: day.describe('Only commits until this day'),
    skip,
    limit,
  }),
  answer: logShape,
  async run({ history }, { path, at, skip, limit, toolset, ...filter }, { toolsets }) {
    const named = toolsets.find(({ name }) => name === toolset);
    const tools = toolset === undefined ? undefined : (named?.tools.map(({ name }) => name) ?? []);
    const revision = at ?? 'HEAD';
    const isWhole = [path, tools, ...Object.values(filter)].every((one) => one === undefined);
    if (isWhole && skip === 0 && !(await history.isIndexed(revision))) {
      const newest = await history.newest(revision, limit, maxIndexWaitMs);
      const { entries, total, shallow, isPart } = newest;
      const searched = isPart && { searched: total };
      return { entries: entries.map(entryData), total, shallow, ...searched };
    }
    const request = { path, revision, skip, limit, filter: { ...filter, tools } };
    const { entries, total, shallow } = await history.log(request);
    return { entries: entries.map(entryData), total, shallow };
  },
});

export const activity = defineMemoryOperation({
  method: 'get',
  path: '/memory/activity',
  id: 'get_activity',
  summary: 'Counts the commits by day and by agent.',
  input: z.object({ at }),
  answer: activityShape,
  async run({ history }, { at }) {
    const { days, authors } = await history.counts(at ?? 'HEAD');
    return {
      days: [...days]
        .map(([day, count]) => ({ day, count }))
        .sort((a, b) => (a.day < b.day ? -1 : 1)),
      agents: sortedAuthors(authors),
    };
  },
});

export const branches = defineMemoryOperation({
  method: 'get',
  path: '/memory/branches',
  id: 'get_branches',
  summary: 'Lists the local branches, and how the memory of each differs from the present one.',
  input: z.object({ skip, limit }),
  answer: branchesShape,
  async run({ history }, { skip, limit }) {
    const { branches, total } = await history.branches(limit, skip);
    return {
      branches: branches.map(({ commit, changes, ...branch }) => ({
        ...branch,
        commit: commitData(commit),
        changes: changes.length,
      })),
      total,
    };
  },
});

export const modes = defineMemoryOperation({
  method: 'get',
  path: '/memory/modes',
  id: 'get_modes',
  summary: 'Lists the modes with the files that each may read and change.',
  input: z.object({ at }),
  answer: modesShape,
  async run({ modes, history }, { at }) {
    const current = at === undefined ? await modes.current() : undefined;
    const { modes: all, skipped } =
      at === undefined
        ? await modes.list()
        : await modes.listFrom((await history.at(at)).ruleFiles());
    const files = (patterns: readonly string[] = ['**']) =>
      patterns.includes('**') ? 'all files' : patterns.join(', ') || 'no file';
    return {
      modes: all.map(({ name, source, filesToRead, filesToUpdate }) => ({
        name,
        source,
        read: files(filesToRead),
        write: files(filesToUpdate),
        current: name === current?.name,
      })),
      skipped: skipped.map(({ source, reason }) => ({ path: source, message: reason })),
    };
  },
});

export const compare = defineMemoryOperation({
  method: 'get',
  path: '/memory/compare',
  id: 'compare_states',
  summary: 'Compares two states of the memory, record by record and field by field.',
  input: z.object({
    from: revision.optional().describe('Without it, the state before the commit `to`'),
    to: revision.default('HEAD'),
    since: z
      .enum(['fork'])
      .optional()
      .describe('Leaves out the records that `to` has not changed since both diverged'),
    path: path.optional(),
    skip,
    limit,
  }),
  answer: comparisonShape,
  run: compareStates,
});

export const blame = defineMemoryOperation({
  method: 'get',
  path: '/memory/blame/{path}',
  id: 'get_blame',
  summary: 'Returns the lines of a record with the commit that wrote each.',
  input: z.object({ path, at }),
  answer: blameShape,
  async run({ history }, { path, at }) {
    const commits: CommitData[] = [];
    const numbers = new Map<string, number>();
    const lines = await history.blame(path, at ?? 'HEAD');
    return {
      lines: lines.map(({ text, commit, boundary }) => {
        const number = numbers.get(commit.oid) ?? commits.push(commitData(commit)) - 1;
        numbers.set(commit.oid, number);
        return { text, commit: number, boundary };
      }),
      commits,
    };
  },
});
