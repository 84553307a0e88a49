import { afterEach, expect, test } from 'vitest';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { deep } from '../../support/depth.ts';
import { open } from '../../support/open.ts';
import { Repo } from '../../support/repo.ts';
import type { Answer } from '../../unit/graph/planner.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** Returns the calls of the graph's tools on a store on disk. */
async function onDisk(): Promise<(tool: string, args: object) => Promise<Answer>> {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  const opened = await open(repo.root, graph.records);
  cleanUp.push(() => opened.workspace.close());
  return async (tool, args) => {
    const context = new TestContext(graph);
    Object.defineProperty(context, 'store', { value: opened.call.store });
    return (await callTool(graph, context, tool, args)).body.data;
  };
}

test('find_relevant_paths finds words in any order behind whole phrases, by the search of the store', async () => {
  const call = await onDisk();
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

test('find_relevant_paths finds no path by its own text, nor by a piece of a word', async () => {
  const call = await onDisk();
  const described = (path: string, description: string) => ({ path, type: 'file', description });
  await call('create_paths', {
    paths: [
      described('src/one.ts', 'two boats'),
      described('src/one.js', 'two boats'),
      described('login/z.ts', 'Over there: the userId of the API v1'),
      described('a/b.ts', 'Signs out: the session of the API v2 ends'),
      described('a/login.ts', 'The session'),
    ],
  });
  const found = async (query: string) =>
    (await call('find_relevant_paths', { query })).paths.map(({ path }: Answer) => path);
  expect(await found('p57.ts')).toEqual([]);
  expect(await found('one ts')).toEqual([]);
  expect(await found('v2')).toEqual(['a/b.ts']);
  expect(await found('login session')).toEqual(['a/b.ts', 'a/login.ts']);
  expect(await found('boats one')).toEqual(['src/one.js', 'src/one.ts']);
  expect(await found('user name')).toEqual(['login/z.ts']);
});

deep(
  'find_relevant_paths finds a description however many paths have the words in their own text',
  async () => {
    const call = await onDisk();
    const create = (paths: readonly (readonly [path: string, description: string])[]) => {
      const described = paths.map(([path, description]) => ({ path, type: 'file', description }));
      return call('create_paths', { paths: described });
    };
    for (let at = 0; at < 1_100; at += 100) {
      await create(
        Array.from({ length: 100 }, (_, i) => [`session/login/p${at + i}.ts`, 'Something else']),
      );
    }
    await create([['z.ts', 'The page of a login, after which it goes on']]);
    const { paths } = await call('find_relevant_paths', { query: 'session login' });
    expect(paths.map(({ path }: Answer) => path)).toEqual(['z.ts']);
  },
);
