import { afterEach, expect, test } from 'vitest';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { open } from '../../support/open.ts';
import { Repo } from '../../support/repo.ts';
import type { Answer } from './planner.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

test('find_relevant_paths finds words in any order behind whole phrases, by the search of the store', async () => {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  const opened = await open(repo.root, graph.records);
  cleanUp.push(() => opened.workspace.close());
  const call = async (tool: string, args: object): Promise<Answer> => {
    const context = new TestContext(graph);
    Object.defineProperty(context, 'store', { value: opened.call.store });
    return (await callTool(graph, context, tool, args)).body.data;
  };
  await call('create_paths', {
    paths: [
      { path: 'src/db.ts', type: 'file', description: 'We use Postgres for storage' },
      { path: 'src/files.ts', type: 'file', use_when: ['postgres storage is full'] },
      { path: 'src/ui.ts', type: 'file', description: 'Layout of the pages' },
      { path: 'postgres/storage.md', type: 'file', description: 'An unrelated note' },
    ],
  });
  const { paths } = await call('find_relevant_paths', { query: 'postgres storage' });
  expect(paths.map(({ path }: Answer) => path)).toEqual(['src/files.ts', 'src/db.ts']);
});
