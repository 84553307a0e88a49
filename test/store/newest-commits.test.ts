import { afterEach, expect, test, vi } from 'vitest';
import type { Context } from '../../src/core/declarations/context.ts';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const made: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of made.splice(0)) await one.close();
});

/** Runs work on the memory of a repository in a new process: it has no index in memory. */
async function inNew<R>(repo: Repo, work: (context: Context) => Promise<R>): Promise<R> {
  const app = projectApp(repo.root);
  made.push(app);
  return app.run(app.connect(), 'test', {}, work);
}

/** Makes a repository with commits of the memory and of code, and a merge that changes a record. */
function create(): Repo {
  const repo = Repo.create();
  made.push({ close: () => repo.remove() });
  let clock = 1_700_000_000;
  const commit = (path: string, text: string) => {
    clock += 60;
    repo.write(path, text);
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', `Change ${path}`, `--date=${clock} +0000`);
  };
  for (let i = 0; i < 4; i++) commit(`.memory-bank/note-${i}.md`, `# Note ${i}\n`);
  commit('code.js', '1');
  repo.git('checkout', '-q', '-b', 'side');
  commit('.memory-bank/side.md', '# Side\n');
  repo.git('checkout', '-q', 'main');
  commit('.memory-bank/note-1.md', '# Note of main\n');
  repo.git('merge', '-q', '--no-commit', '--no-ff', 'side');
  commit('.memory-bank/merged.md', '# Merged\n');
  repo.git('mv', '.memory-bank/note-2.md', '.memory-bank/renamed.md');
  commit('code.js', '2');
  return repo;
}

test('the newest commits are the same with and without the index', async () => {
  const repo = create();
  const newest = () =>
    inNew(repo, async ({ history }) => {
      expect(await history.isIndexed('HEAD')).toBe(false);
      // On a slow machine, a walk ends early; the next one finds objects in the cache.
      return vi.waitUntil(async () => {
        const found = await history.newest('HEAD', 50);
        return found.isPart ? undefined : found;
      });
    });
  const { isPart: _, ...found } = await newest();
  const log = await inNew(repo, ({ history }) =>
    history.log({ revision: 'HEAD', limit: 50, skip: 0 }),
  );
  expect(found).toEqual(log);
  expect(log.total).toBe(8);
});

deep('a part of the commits says so, until the index is there', async () => {
  const repo = create();
  await inNew(repo, async ({ history }) => {
    const part = await vi.waitUntil(async () => {
      const found = await history.newest('HEAD', 3);
      return found.total === 3 ? found : undefined;
    });
    expect(part.isPart).toBe(true);
    expect(await history.isIndexed('HEAD')).toBe(false);
    await expect
      .poll(async () => (await history.newest('HEAD', 3, 1)).isPart, { timeout: 10_000 })
      .toBe(false);
    expect(await history.isIndexed('HEAD')).toBe(true);
    const all = await history.newest('HEAD', 3);
    expect(all).toMatchObject({ isPart: false, total: 8, entries: part.entries });
  });
});

deep('a shallow clone says that older commits are missing', async () => {
  const repo = create();
  const folder = newFolder();
  repo.git('clone', '-q', '--depth', '2', `file://${repo.root}`, `${folder}/clone`);
  await inNew({ root: `${folder}/clone` } as Repo, async ({ history }) => {
    expect(await history.newest('HEAD', 50)).toMatchObject({ shallow: true, isPart: false });
  });
});
