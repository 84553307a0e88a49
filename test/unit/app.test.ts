import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { warmSoon } from '../../src/server/mcp/warming.ts';
import { probeApp } from '../support/app.ts';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'app-')));
});

describe('a call', () => {
  test('answers in the wire format of the toolset, with the commit beside it', async () => {
    const { app } = probeApp({ cwd: folder });
    const reply = await app.call(app.connect(), 'note_write', { name: 'a', text: 'x' });
    expect(reply).toEqual({
      body: { ok: true, agent: null },
      error: undefined,
      meta: { 'memory-bank/commit': '1'.padStart(40, '0'), 'memory-bank/branch': 'main' },
    });
  });

  test('that changes nothing has no commit to tell of', async () => {
    const { app } = probeApp({ cwd: folder });
    const session = app.connect();
    await app.call(session, 'note_write', { name: 'a', text: 'x' });
    const again = await app.call(session, 'note_write', { name: 'a', text: 'x' });
    expect(again).toMatchObject({ error: undefined, meta: {} });
    expect(await app.call(session, 'note_read', { name: 'a' })).toMatchObject({ meta: {} });
  });

  test('with wrong arguments fails in the wire format of the toolset', async () => {
    const { app, workspaces } = probeApp({ cwd: folder });
    const session = app.connect();
    for (const args of [{ name: 5 }, null, 'text', [], { name: '', text: '' }]) {
      const reply = await app.call(session, 'note_write', args);
      expect(reply).toMatchObject({
        error: 'invalid_input',
        body: { ok: false, code: 'invalid_input' },
        note: expect.stringMatching(/^It failed\./),
      });
    }
    expect(workspaces.get(join(folder, '.memory-bank'))?.store.commits).toEqual([]);
  });

  test('of a tool that is not there has no reply', async () => {
    const { app } = probeApp({ cwd: folder });
    expect(await app.call(app.connect(), 'nothing', {})).toBeUndefined();
  });

  test.each(['mcp__note_write', 'mcp__memory__note_write', 'mcp__a__b__note_write'])(
    'reaches the tool by its printed name %s',
    async (name) => {
      const { app } = probeApp({ cwd: folder });
      const reply = await app.call(app.connect(), name, { name: 'a', text: 'x' });
      expect(reply).toMatchObject({ error: undefined });
      expect(await app.call(app.connect(), name.slice(1), {})).toBeUndefined();
    },
  );

  test('keeps what was thrown for the log of the server', async () => {
    const { app, messages } = probeApp({ cwd: folder });
    const caught: unknown[] = [];
    const keep = (reason: unknown) => caught.push(reason);
    process.once('unhandledRejection', keep);
    const reply = await app.call(app.connect(), 'fail', {});
    expect(reply).toMatchObject({ error: 'internal', body: { code: 'internal' } });
    expect(JSON.stringify(reply)).not.toContain('private detail');
    expect(messages.join()).toMatch(/fail: Error: private detail\n.*probe\.ts/);
  });

  test('is one line at debug for the person who runs the server, without what was sent', async () => {
    const { app, messages } = probeApp({ cwd: folder });
    const session = app.connect();
    const told: string[] = [];
    const log = (level: string) => told.push(level);
    await app.call(session, 'note_write', { name: 'private', text: 'private' }, { log });
    await app.call(session, 'note_read', { name: 'private' }, { log });
    await app.call(session, 'note_read', { name: 'private gone' }, { log });
    expect(messages.map((line) => line.replace(/\d+ ms/, '# ms'))).toEqual([
      `debug: note_write: ok, # ms, commit ${'1'.padStart(40, '0')}`,
      'debug: note_read: ok, # ms',
      'debug: note_read: not_found, # ms',
    ]);
    expect(told).toEqual([]);
  });

  test('on a detached HEAD warns in the answer and in the log', async () => {
    const { app, workspaces } = probeApp({ cwd: folder });
    const session = app.connect();
    await app.call(session, 'note_read', { name: 'a' });
    Object.assign(workspaces.get(join(folder, '.memory-bank')) ?? {}, { branch: undefined });
    const told: string[] = [];
    const log = (level: string, message: string) => told.push(`${level} ${message}`);
    const reply = await app.call(session, 'note_write', { name: 'a', text: 'x' }, { log });
    expect(Object.keys(reply?.meta ?? {})).toEqual(['memory-bank/commit', 'memory-bank/warning']);
    expect(reply?.meta['memory-bank/warning']).toContain('git switch -c');
    expect(told).toEqual([`warning ${reply?.meta['memory-bank/warning']}`]);
  });
});

describe('the calls of a session', () => {
  test('take effect in the order in which they came', async () => {
    const { app } = probeApp({ cwd: folder });
    const session = app.connect();
    const texts = ['1', '2', '3'];
    const replies = await Promise.all(
      texts.flatMap((text) => [
        app.call(session, 'note_write', { name: 'a', text }),
        app.call(session, 'note_read', { name: 'a' }),
      ]),
    );
    const read = replies.filter((_, i) => i % 2 === 1).map((reply) => reply?.body.text);
    expect(read).toEqual(texts);
  });

  test('run concurrently for a client that waits for answers', async () => {
    const { app } = probeApp({ cwd: folder });
    const session = app.connect({ waits: true });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = app.call(session, 'wait', {}, { signal });
    expect(await app.call(session, 'note_read', { name: 'q' })).toMatchObject({
      body: { code: 'not_found' },
    });
    controller.abort();
    expect(await waiting).toMatchObject({ error: 'cancelled' });
  });

  test('go on when one that waits is cancelled', async () => {
    const { app } = probeApp({ cwd: folder });
    const session = app.connect();
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = app.call(session, 'wait', {}, { signal });
    const queued = app.call(session, 'note_write', { name: 'q', text: '' }, { signal });
    const next = app.call(session, 'note_read', { name: 'q' });
    controller.abort();
    expect(await waiting).toMatchObject({ error: 'cancelled', body: { code: 'cancelled' } });
    expect(await queued).toMatchObject({ error: 'cancelled', body: { code: 'cancelled' } });
    expect(await next).toMatchObject({ body: { code: 'not_found' } });
  });

  test('are finished before the app closes', async () => {
    const { app, workspaces } = probeApp({ cwd: folder });
    const running = app.call(app.connect(), 'wait', {}, { log: () => process.emit('SIGUSR2') });
    await app.close();
    expect(workspaces.get(join(folder, '.memory-bank'))?.closed).toBe(true);
    expect(await running).toMatchObject({ body: { waited: true } });
  });
});

describe('the workspaces', () => {
  test('are shared by the sessions of one root', async () => {
    const { app, workspaces } = probeApp({ cwd: folder });
    await app.call(app.connect(), 'note_write', { name: 'a', text: 'x' });
    const reply = await app.call(app.connect(), 'note_read', { name: 'a' });
    expect(reply).toMatchObject({ body: { text: 'x' } });
    expect(workspaces.size).toBe(1);
  });

  test('where there is no project, the toolset says so, and the home store works', async () => {
    const { app, workspaces } = probeApp({ cwd: '/' });
    const session = app.connect();
    expect(await app.call(session, 'note_read', { name: 'a' })).toMatchObject({
      error: 'no_project',
      body: { code: 'no_project', message: expect.stringContaining('MEMORY_BANK_ROOT') },
    });
    expect(await app.call(session, 'home_write', { name: 'a', text: 'x' })).toMatchObject({
      error: undefined,
      meta: { 'memory-bank/branch': 'main' },
    });
    const home = workspaces.get('/home/somebody/.memory-bank');
    expect(home?.options).toMatchObject({ root: '/home/somebody/.memory-bank', repository: 'own' });
    expect(home?.store.commits).toHaveLength(1);
  });

  test('one is opened in the background if no call has to look for it', async () => {
    const { app, workspaces } = probeApp({ cwd: folder });
    const session = app.connect();
    await app.warm(session);
    expect(workspaces.size).toBe(0);
    mkdirSync(join(folder, '.memory-bank'));
    const unnamed = () => Promise.reject(new Error('not named'));
    await expect(app.warm(app.connect(), unnamed)).rejects.toThrow('not named');
    expect(workspaces.size).toBe(0);
    await app.warm(session);
    expect(workspaces.get(join(folder, '.memory-bank'))?.warmed).toBe(true);
    await app.call(session, 'note_read', { name: 'a' });
    expect(workspaces.size).toBe(1);
  });

  test('one is opened in the background only while no call is running', async () => {
    vi.useFakeTimers();
    try {
      mkdirSync(join(folder, '.memory-bank'));
      const { app, workspaces } = probeApp({ cwd: folder });
      const [one, other] = [app.connect(), app.connect()];
      const warm = vi.spyOn(app, 'warm');
      const controller = new AbortController();
      const waiting = app.call(one, 'wait', {}, { signal: controller.signal });
      const cancel = warmSoon(app, other, () => false);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(warm).not.toHaveBeenCalled();
      controller.abort();
      await waiting;
      await vi.advanceTimersByTimeAsync(1_000);
      await warm.mock.results[0]?.value;
      expect(workspaces.get(join(folder, '.memory-bank'))?.warmed).toBe(true);
      cancel();
    } finally {
      vi.useRealTimers();
    }
  });

  test('one that is placed elsewhere is left to the first call', async () => {
    mkdirSync(join(folder, '.memory-bank'));
    for (const name of ['objects', 'refs'])
      mkdirSync(join(folder, '.git', name), { recursive: true });
    writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
    const { app, workspaces } = probeApp({ cwd: folder });
    const config = '[memory-bank "placement"]\n\tbranch = memory\n';
    writeFileSync(join(folder, '.git/config'), config);
    await app.warm(app.connect());
    expect(workspaces.size).toBe(0);
    writeFileSync(join(folder, '.git/config'), '');
    await app.warm(app.connect());
    expect(workspaces.size).toBe(1);
  });

  test('the home store is opened when it is needed', async () => {
    const { app, workspaces } = probeApp({ cwd: folder });
    await app.call(app.connect(), 'note_read', { name: 'a' });
    expect([...workspaces.keys()]).toEqual([join(folder, '.memory-bank')]);
  });

  test('one that could not be opened is tried again', async () => {
    const { app } = probeApp({ cwd: join(folder, 'later') });
    const session = app.connect();
    expect(await app.call(session, 'note_read', { name: 'a' })).toMatchObject({
      body: { code: 'no_project' },
    });
    mkdirSync(join(folder, 'later'));
    expect(await app.call(session, 'note_read', { name: 'a' })).toMatchObject({
      body: { code: 'not_found' },
    });
  });
});

describe('another folder', () => {
  test('is used by the rest of the call and by the session, and by no other', async () => {
    const { app } = probeApp({ cwd: folder });
    const [one, two] = [app.connect(), app.connect()];
    mkdirSync(join(folder, 'sub'));
    const sub = join(folder, 'sub');
    expect(await app.call(one, 'where', { path: 'sub' })).toMatchObject({ body: { root: sub } });
    expect(await app.call(one, 'where', {})).toMatchObject({ body: { root: sub } });
    expect(await app.call(two, 'where', {})).toMatchObject({ body: { root: folder } });
    const bank = join(sub, '.memory-bank');
    expect(await app.call(two, 'where', { path: bank })).toMatchObject({ body: { root: sub } });
  });

  test('is created only when that is asked for', async () => {
    const { app } = probeApp({ cwd: folder });
    const session = app.connect();
    const path = join(folder, 'new', 'er');
    expect(await app.call(session, 'where', { path })).toMatchObject({
      body: { code: 'invalid_input' },
    });
    expect(existsSync(path)).toBe(false);
    expect(await app.call(session, 'where', { path, create: true })).toMatchObject({
      body: { root: path },
    });
  });

  test.each([
    ['a file', 'invalid_input', () => join(folder, 'file')],
    ['a folder below a file', 'invalid_input', () => join(folder, 'file', 'sub')],
    ['a name with NUL', 'invalid_input', () => 'a\0b'],
    ['the root of the file system', 'no_project', () => '/'],
    ['the home directory', 'no_project', () => '/home/somebody'],
  ])('is refused: %s', async (_, code, path) => {
    writeFileSync(join(folder, 'file'), '');
    const { app } = probeApp({ cwd: folder });
    const session = app.connect();
    const reply = await app.call(session, 'where', { path: path(), create: true });
    expect(reply).toMatchObject({ error: code, body: { code } });
    expect(await app.call(session, 'where', {})).toMatchObject({ body: { root: folder } });
  });
});

describe('the roots of the client', () => {
  test('decide when nothing else does, and again when they change', async () => {
    const { app } = probeApp({ cwd: '/' });
    const roots: string[] = [];
    const session = app.connect({ roots: async () => roots });
    expect(await app.call(session, 'where', {})).toMatchObject({ body: { code: 'no_project' } });
    roots.push(pathToFileURL(folder).href);
    expect(await app.call(session, 'where', {})).toMatchObject({ body: { root: folder } });
    mkdirSync(join(folder, 'b'));
    roots[0] = pathToFileURL(join(folder, 'b')).href;
    app.rootsChanged(session);
    expect(await app.call(session, 'where', {})).toMatchObject({
      body: { root: join(folder, 'b') },
    });
    await app.call(session, 'where', { path: folder });
    app.rootsChanged(session);
    expect(await app.call(session, 'where', {})).toMatchObject({ body: { root: folder } });
  });
});

describe('the toolsets', () => {
  test('are narrowed in their own order', async () => {
    const { app } = probeApp({ enabled: ['other', 'probe'] });
    expect((await app.toolsets()).map(({ name }) => name)).toEqual(['probe', 'other']);
    const only = probeApp({ cwd: folder, enabled: ['other'] }).app;
    expect(await only.call(only.connect(), 'note_read', {})).toBeUndefined();
  });

  test('a name that is none is refused with the ones there are', async () => {
    await expect(probeApp({ enabled: ['probe', 'grahp'] }).app.toolsets()).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'There is no toolset "grahp".',
      hint: 'The toolsets are: probe, other.',
    });
  });

  test('the store knows the records of those that are switched off', async () => {
    const { app, workspaces } = probeApp({ cwd: folder, enabled: ['probe'] });
    await app.call(app.connect(), 'note_read', { name: 'a' });
    expect(workspaces.get(join(folder, '.memory-bank'))?.options.records).toHaveLength(2);
  });
});

test('a mode of the start that no rule file describes fails the calls that need the project', async () => {
  const { app } = probeApp({ cwd: folder, mode: 'nowhere' });
  const session = app.connect();
  expect(await app.call(session, 'note_read', { name: 'a' })).toMatchObject({
    error: 'not_found',
    body: { code: 'not_found', message: expect.stringContaining('"nowhere"') },
  });
});
