import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isObject, type JsonObject } from '../../src/core/values/json.ts';
import { listen } from '../../src/server/http/http.ts';
import { ResourceFeed } from '../../src/server/mcp/resources.ts';
import { deep } from '../support/depth.ts';
import { ask, key } from '../support/http.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

/** The first read after a change, through each interface of the program. */

const repo = Repo.create();
const app = projectApp(repo.root);
const session = app.connect();
const feed = new ResourceFeed(app, session, { listChanged: () => {}, updated: () => {} });
let server: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    keys: [key],
    hosts: [],
    origins: [],
    folders: [],
    limits: { minute: 1_000_000, hour: 1_000_000 },
    headTimeout: 10_000,
    requestTimeout: 30_000,
    readTimeout: 30_000,
    version: '0.0.0',
    log: () => {},
  });
  // The index and the listings exist before anything is written.
  expect(await found('anything')).toEqual([]);
  await feed.list({});
});

afterAll(async () => {
  await server.close();
  await app.close();
  repo.remove();
});

async function call(tool: string, args: JsonObject): Promise<JsonObject> {
  const reply = await app.call(session, tool, args, { unlisted: true });
  if (!reply || reply.error !== undefined) throw new Error(JSON.stringify(reply?.body));
  return reply.body;
}

async function found(query: string): Promise<unknown[]> {
  const { results } = await call('search_memory', { query });
  return (Array.isArray(results) ? results : []).map((result) => isObject(result) && result.path);
}

deep(
  'knowledge: the first entry of each category, and entries past the size of a full folder',
  async () => {
    for (const category of ['patterns', 'corrections', 'project-learnings']) {
      await call('memory_write', { category, key: `first-${category}`, value: `zq${category}` });
      const { results } = await call('memory_search', { query: `zq${category}` });
      expect(results).toMatchObject([{ key: `first-${category}` }]);
    }
    for (let i = 0; i < 250; i++) {
      repo.write(
        `.memory-bank/knowledge/patterns/n${i}.md`,
        repo
          .read('.memory-bank/knowledge/patterns/first-patterns.md')
          .replace('first-patterns', `n${i}`),
      );
    }
    expect((await call('memory_search', { query: 'n249', fuzzy: false })).results).toMatchObject([
      { key: 'n249' },
    ]);
    const missed: number[] = [];
    for (let i = 0; i < 40; i++) {
      await call('memory_write', { category: 'patterns', key: `more${i}`, value: `wv${i}x` });
      const { results } = await call('memory_search', { query: `wv${i}x`, fuzzy: false });
      if (!Array.isArray(results) || results.length !== 1) missed.push(i);
    }
    expect(missed).toEqual([]);
  },
);

test('a nested feature, a path in a new directory and a first document', async () => {
  await call('create_features', { features: [{ slug: 'outer', name: 'Outer qvorb' }] });
  expect(await found('qvorb')).toHaveLength(1);
  await call('create_features', {
    features: [{ slug: 'inner', name: 'Inner plimk', parent_slug: 'outer' }],
  });
  expect(await found('plimk')).toHaveLength(1);
  await call('create_paths', {
    paths: [{ path: 'src/new/deep/file.ts', type: 'file', description: 'drazz' }],
  });
  expect(await found('drazz')).toHaveLength(1);
  await call('activate_project', {});
  await call('store_memory', { title: 'First', type: 'analysis', content: 'gnurl' });
  expect(await found('gnurl')).toHaveLength(1);
});

test('resources and REST see files from edits by hand, checkouts and merges', async () => {
  const uris = async () => (await feed.list({})).map(({ uri }) => uri);
  const files = async () => (await ask('GET', `${server.url}/memory-bank/files`)).body.files;
  const git = (...args: string[]) => repo.git(...args);
  git('add', '-A');
  git('commit', '-qm', 'All', '--allow-empty');
  git('checkout', '-qb', 'side');
  repo.write('.memory-bank/notes/by/hand.md', '# Hand\n\nxylophagous\n');
  expect(await found('xylophagous')).toEqual(['notes/by/hand.md']);
  expect((await uris()).some((uri) => uri.endsWith('notes/by/hand.md'))).toBe(true);
  expect(await files()).toContain('notes/by/hand.md');
  git('add', '-A');
  git('commit', '-qm', 'Hand');
  git('checkout', '-q', 'main');
  expect(await files()).not.toContain('notes/by/hand.md');
  expect(await found('xylophagous')).toEqual([]);
  git('merge', '-q', '--no-ff', '-m', 'Merge', 'side');
  const { body } = await ask('GET', `${server.url}/memory-bank/file/notes/by/hand.md`);
  expect(body.content).toContain('xylophagous');
  expect(await found('xylophagous')).toEqual(['notes/by/hand.md']);
  rmSync(repo.path('.memory-bank/notes'), { recursive: true });
  expect((await uris()).some((uri) => uri.endsWith('notes/by/hand.md'))).toBe(false);
  expect(await found('xylophagous')).toEqual([]);
});
