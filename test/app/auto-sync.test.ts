import { renameSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AutoSync, type SyncClock, type SyncPace } from '../../src/app/session/auto-sync.ts';
import type { Session } from '../../src/core/memory/session.ts';
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
  maxBriefWaitMs: 5_000,
  interval: 0,
  recent: 0,
  gather: [100, 500],
  pauses: [50, 500],
  closing: 60_000,
};

async function serve(repo: Repo, pace = quick, clock?: SyncClock) {
  const opened = await open(repo.root, [note], { now: () => new Date() });
  const problems: string[] = [];
  const sync = new AutoSync(opened.workspace, (problem) => problems.push(problem), pace, clock);
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
  const [at, tried] = [expect.any(String), expect.any(String)];
  expect(await state(there.opened)).toEqual({ at, tried, problem: undefined });
});

deep('a server that writes nothing learns what others push, as long as it runs', async () => {
  const here = await serve(clone());
  const planned = new Set<NodeJS.Timeout>();
  const delays: number[] = [];
  const clock: SyncClock = {
    now: () => new Date(),
    after(delay, work) {
      delays.push(delay);
      const timer = setTimeout(() => {
        planned.delete(timer);
        void work();
      }, delay);
      planned.add(timer);
      return () => {
        planned.delete(timer);
        clearTimeout(timer);
      };
    },
  };
  const there = await serve(clone(), { ...quick, interval: 60 }, clock);
  await there.sync.begin();
  await add(here.opened, here.sync, 'a');
  const learned = () => there.opened.call.store.get(note, 'a');
  await expect.poll(learned, { timeout: 20_000 }).toBeDefined();
  // The pauses are short after a change, and then double.
  await expect.poll(() => delays, { timeout: 20_000 }).toContain(40);
  expect(delays.join()).toMatch(/60,5(?:,5)*,10(?:,10)*,20(?:,20)*,40/);
  await expect.poll(() => delays.at(-1), { timeout: 20_000 }).toBe(60);
  await there.sync.close();
  expect(planned.size).toBe(0);
});

deep('a change that the exchange under way takes along causes no further one', async () => {
  const delays: number[] = [];
  const clock: SyncClock = {
    now: () => new Date(),
    after(delay) {
      delays.push(delay);
      return () => undefined;
    },
  };
  const pace = { ...quick, interval: 60_000, maxWaitMs: 60_000 };
  const { opened, sync } = await serve(clone(), pace, clock);
  const { workspace } = opened;
  const bind = workspace.bind.bind(workspace);
  workspace.bind = (call) => {
    const bound = bind(call);
    const exchange = bound.history.sync.bind(bound.history);
    bound.history.sync = async (request) => {
      await add(opened, sync, 'during');
      return exchange(request);
    };
    return bound;
  };
  await sync.begin();
  expect(remoteNotes()).toHaveLength(2);
  // After it only a look at what others do is planned, sooner because something has changed.
  expect(delays).toEqual([quick.gather[0], 5_000]);
});

deep(
  'a brief first gets what others have pushed, but does not wait for a slow remote',
  async () => {
    const here = await serve(clone());
    const there = await serve(clone(), { ...quick, interval: 60_000 });
    await add(here.opened, here.sync, 'a');
    await here.sync.close();
    await there.sync.catchUp();
    expect(await there.opened.call.store.get(note, 'a')).toBeDefined();
    const slow = await serve(clone(), { ...quick, interval: 60_000, maxBriefWaitMs: 1 });
    await slow.sync.catchUp();
    expect(await state(slow.opened)).toMatchObject({ at: undefined, tried: undefined });
    await slow.sync.close();
    // The next process does not wait for the same remote again.
    expect(await state(slow.opened)).toMatchObject({ tried: expect.any(String) });
    const off = await serve(clone());
    await off.sync.catchUp();
    expect((await state(off.opened)).tried).toBeUndefined();
  },
);

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
  expect(problems[0]).toMatch(/would change other files\. Run "git push": /);
  expect(problems[0]).not.toContain('confirm');
  expect(pushes()).toBe(before);
  repo.git('push', '-q', 'origin', 'HEAD~1:main');
  await expect.poll(remoteNotes).toHaveLength(2);
});

deep('a write says once in each session why it is not pushed', async () => {
  const repo = clone();
  repo.write('code.ts', 'secret plan\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'Code');
  const app = projectApp(repo.root);
  const session = app.connect();
  const write = async (by: Session, key: string) => {
    const entry = { category: 'patterns', key, value: 'v', reason: 'r' };
    return (await app.call(by, 'memory_write', entry))?.note ?? '';
  };
  const reason = /The remote does not have the change: A commit .* Run "git push"/;
  expect(await write(session, 'a')).toMatch(reason);
  expect(await write(session, 'b')).toBe('');
  expect(await write(app.connect(), 'c')).toMatch(reason);
  await app.close();
});

deep('the end of the process pushes what is left', async () => {
  const { opened, sync } = await serve(clone(), { ...quick, gather: [60_000, 60_000] });
  await add(opened, sync, 'a');
  await sync.close();
  expect(remoteNotes()).toHaveLength(2);
});

deep('a server does it where the configuration asks for it', async () => {
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
