import { renameSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AutoSync, type SyncPace } from '../../src/app/session/auto-sync.ts';
import { readSyncState } from '../../src/core/memory/sync-state.ts';
import { deep } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

let bare: Repo;
let clones = 0;

/** Makes a bare repository with a memory that syncs by itself. */
beforeEach(async () => {
  const first = Repo.create();
  cleanUp.push(() => first.remove());
  const { workspace, call } = await open(first.root, [note]);
  await call.store.change({ subject: 'begin' }, (draft) =>
    draft.put(note, { key: 'first', tags: [], text: 'x' }),
  );
  await workspace.close();
  first.write('.memory-bank/config.yaml', `${first.read('.memory-bank/config.yaml')}sync: auto\n`);
  first.git('add', '-A');
  first.git('commit', '-q', '-m', 'Sync by itself');
  bare = Repo.in(`${first.root}-hub`);
  cleanUp.push(() => bare.remove());
  bare.git('init', '-q', '--bare', '-b', 'main');
  bare.git('config', 'core.logAllRefUpdates', 'always');
  first.git('remote', 'add', 'origin', bare.root);
  first.git('push', '-q', '-u', 'origin', 'main');
});

function clone(): Repo {
  const repo = Repo.in(`${bare.root}-${clones++}`);
  cleanUp.push(() => repo.remove());
  repo.git('clone', '-q', bare.root, '.');
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  return repo;
}

const quick: SyncPace = {
  maxWaitMs: 5_000,
  recent: 0,
  gather: [100, 500],
  pauses: [50, 500],
  closing: 60_000,
};

async function serve(repo: Repo, pace = quick) {
  const opened = await open(repo.root, [note], { now: () => new Date() });
  const problems: string[] = [];
  const sync = new AutoSync(opened.workspace, (problem) => problems.push(problem), pace);
  cleanUp.push(async () => {
    await sync.close();
    await opened.workspace.close();
  });
  return { opened, sync, problems };
}

async function add(opened: Opened, sync: AutoSync, key: string): Promise<void> {
  await opened.call.store.change({ subject: `add ${key}` }, (draft) =>
    draft.put(note, { key, tags: [], text: 'text' }),
  );
  sync.changed();
}

const state = ({ call }: Opened) => readSyncState(call.store.local);

/** The pushes that the bare repository has accepted. */
const pushes = () => bare.git('reflog', 'main').trim().split('\n').length;
const remoteNotes = () =>
  bare.git('ls-tree', '--name-only', 'main', '.memory-bank/notes/').trim().split('\n');

test('changes are gathered, pushed, and reach the next session elsewhere', async () => {
  const here = await serve(clone());
  const there = await serve(clone());
  const before = pushes();
  for (const key of ['a', 'b', 'c']) await add(here.opened, here.sync, key);
  await expect.poll(remoteNotes).toHaveLength(4);
  expect(pushes() - before).toBe(1);
  expect(await there.opened.call.store.get(note, 'c')).toBeUndefined();
  await there.sync.begin();
  expect((await there.opened.call.store.get(note, 'c'))?.value.text).toBe('text');
  expect(await state(there.opened)).toEqual({ at: expect.any(String), problem: undefined });
});

deep('a session does not wait for a slow remote, nor ask again after a moment', async () => {
  const { opened, sync } = await serve(clone(), { ...quick, maxWaitMs: 1, recent: 60_000 });
  await sync.begin();
  expect((await state(opened)).at).toBeUndefined();
  await expect.poll(async () => (await state(opened)).at).toBeDefined();
  const { at } = await state(opened);
  await sync.begin();
  expect((await state(opened)).at).toBe(at);
});

deep(
  'without a connection everything works, says why it is not pushed, and is pushed later',
  async () => {
    const { opened, sync, problems } = await serve(clone());
    renameSync(bare.root, `${bare.root}-away`);
    await sync.begin();
    await add(opened, sync, 'a');
    await expect.poll(() => problems.length).toBe(1);
    await expect.poll(async () => (await state(opened)).problem).toContain('cannot be used');
    await add(opened, sync, 'b');
    renameSync(`${bare.root}-away`, bare.root);
    await expect.poll(remoteNotes).toHaveLength(3);
    await expect.poll(async () => (await state(opened)).problem).toBeUndefined();
    expect(problems).toHaveLength(1);
  },
);

deep('commits of code are never pushed without being asked', async () => {
  const repo = clone();
  const { opened, sync, problems } = await serve(repo);
  repo.write('code.ts', 'secret plan\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'Code');
  const before = pushes();
  await add(opened, sync, 'a');
  await expect.poll(() => problems.length).toBe(1);
  expect(problems[0]).toContain('would change other files');
  expect(pushes()).toBe(before);
  repo.git('push', '-q', 'origin', 'HEAD~1:main');
  await expect.poll(remoteNotes).toHaveLength(2);
});

deep('the end of the process pushes what is left', async () => {
  const { opened, sync } = await serve(clone(), { ...quick, gather: [60_000, 60_000] });
  await add(opened, sync, 'a');
  await sync.close();
  expect(remoteNotes()).toHaveLength(2);
});

test('a server does it where the configuration asks for it', async () => {
  const repo = clone();
  const app = projectApp(repo.root);
  const session = app.connect();
  const written = { category: 'patterns', key: 'k', value: 'v', reason: 'r' };
  expect((await app.call(session, 'memory_write', written))?.error).toBeUndefined();
  await app.close();
  expect(bare.git('log', '-1', '--format=%s', 'main')).toContain('memory:');
  const other = clone();
  expect(other.read('.memory-bank/knowledge/patterns/k.md')).toContain('v');
  repo.write(
    '.memory-bank/config.yaml',
    repo.read('.memory-bank/config.yaml').replace('auto', 'manual'),
  );
  const manual = projectApp(repo.root);
  const before = pushes();
  await manual.call(manual.connect(), 'memory_write', { ...written, key: 'l' });
  await manual.close();
  expect(pushes()).toBe(before);
});
