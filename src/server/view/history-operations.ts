import { z } from 'zod';
import {
  activityShape,
  blameShape,
  branchesShape,
  type CommitData,
  comparisonShape,
  evidenceShape,
  logShape,
  modesShape,
} from '../page/answers.ts';
import { at, commitData, countMakers, entryData, makerOf, path, skip } from './answer-data.ts';
import { compareStates } from './commit-changes.ts';
import { defineMemoryOperation } from './operation.ts';

const limit = z.coerce.number().int().min(1).max(500).default(50);
const revision = z.string().min(1).max(256);

/** Maximum number of commits that a filter and the activity look at: each is read from git. */
const maxSearched = 10_000;

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
  async run({ history }, { path, at, skip, limit, ...filter }, { toolsets }) {
    const request = { path, revision: at ?? 'HEAD' };
    const { agent, toolset, after = '', before = '9999-12-31' } = filter;
    if (Object.values(filter).every((value) => value === undefined)) {
      const { entries, total, shallow } = await history.log({ ...request, skip, limit });
      return { entries: entries.map(entryData), total, shallow };
    }
    const tools = toolsets.find(({ name }) => name === toolset)?.tools.map(({ name }) => name);
    const all = await history.log({ ...request, skip: 0, limit: maxSearched });
    const found = all.entries.filter(({ commit }) => {
      const made = commit.at.slice(0, 10);
      return (
        (agent === undefined || makerOf(commit) === agent) &&
        (toolset === undefined || tools?.includes(commit.tool ?? '')) &&
        made >= after &&
        made <= before
      );
    });
    return {
      entries: found.slice(skip, skip + limit).map(entryData),
      total: found.length,
      shallow: all.shallow,
      ...(all.total > maxSearched && { searched: maxSearched }),
    };
  },
});

export const activity = defineMemoryOperation({
  method: 'get',
  path: '/memory/activity',
  id: 'get_activity',
  summary: 'Counts the newest commits by day and by agent.',
  input: z.object({ at }),
  answer: activityShape,
  async run({ history }, { at }) {
    const days = new Map<string, number>();
    const { entries } = await history.log({ revision: at ?? 'HEAD', skip: 0, limit: maxSearched });
    for (const { commit } of entries) {
      const day = commit.at.slice(0, 10);
      days.set(day, (days.get(day) ?? 0) + 1);
    }
    return {
      days: [...days]
        .map(([day, count]) => ({ day, count }))
        .sort((a, b) => (a.day < b.day ? -1 : 1)),
      agents: countMakers(entries.map(({ commit }) => commit)),
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

export const evidence = defineMemoryOperation({
  method: 'get',
  path: '/memory/evidence',
  id: 'get_evidence',
  summary:
    'Lists what a check finds about records: code that has changed, moved or gone, and problems of their texts.',
  input: z.object({ path: path.optional() }),
  answer: evidenceShape,
  async run({ history }, request) {
    const { records } = await history.evidence(request);
    return {
      findings: records.flatMap(({ path, findings }) =>
        findings
          .map((finding) => ({
            path,
            verdict: finding.kind === 'evidence' ? finding.verdict : finding.kind,
            severity: finding.severity,
            message: finding.message,
          }))
          .filter(({ verdict }) => verdict !== 'fresh'),
      ),
    };
  },
});

export const modes = defineMemoryOperation({
  method: 'get',
  path: '/memory/modes',
  id: 'get_modes',
  summary: 'Lists the modes with the files that each may read and change.',
  input: z.object({}),
  answer: modesShape,
  async run({ modes }) {
    const current = await modes.current();
    const { modes: all, skipped } = await modes.list();
    const files = (patterns: readonly string[] | undefined) => patterns?.join(', ') ?? 'all files';
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
