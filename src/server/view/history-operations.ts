import { z } from 'zod';
import { blameShape, type CommitData, comparisonShape, logShape } from '../../page/answers.ts';
import { at, commitData, entryData, path, skip } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';

const limit = z.coerce.number().int().min(1).max(500).default(50);
const revision = z.string().min(1).max(256);

export const log = defineMemoryOperation({
  method: 'get',
  path: '/memory/log',
  id: 'get_log',
  summary: 'Lists the commits of the memory, of a folder or of a record, the newest first.',
  input: z.object({ path: path.optional(), at, skip, limit }),
  answer: logShape,
  async run({ history }, { path, at, skip, limit }) {
    const { entries, total, shallow } = await history.log({
      path,
      revision: at ?? 'HEAD',
      skip,
      limit,
    });
    return { entries: entries.map(entryData), total, shallow };
  },
});

export const compare = defineMemoryOperation({
  method: 'get',
  path: '/memory/compare',
  id: 'compare_states',
  summary: 'Compares two states of the memory, record by record and field by field.',
  input: z.object({
    from: revision,
    to: revision.default('HEAD'),
    path: path.optional(),
    skip,
    limit,
  }),
  answer: comparisonShape,
  async run({ history }, request) {
    const { from, to, changes, counts } = await history.compare(request);
    return {
      from: commitData(from),
      to: commitData(to),
      changes: changes.map(({ type, change, path, from, title, fields }) => ({
        change,
        path,
        ...(from !== undefined && { from }),
        type: type.name,
        ...(title !== undefined && { title }),
        fields: fields.map(({ added, removed, ...field }) => ({
          ...field,
          ...(added && { added: [...added] }),
          ...(removed && { removed: [...removed] }),
        })),
      })),
      counts: { ...counts },
    };
  },
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
