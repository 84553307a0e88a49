import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LogRequest } from '../../src/core/memory/commit-log.ts';
import { ObjectDatabase } from '../../src/git/objects/odb.ts';
import { deep } from '../support/depth.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const bank = '.memory-bank';
let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [note, letter]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

const put = (key: string, text: string, tags: string[] = []) =>
  opened.call.store.change({ subject: `write ${key}`, reason: 'because' }, (tx) =>
    tx.put(note, { key, text, tags }),
  );
const drop = (key: string) =>
  opened.call.store.change({ subject: `drop ${key}` }, (tx) => tx.remove(note, key));
const head = () => repo.git('rev-parse', 'HEAD').trim();
const commit = (message: string) => {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
};
const log = (request: Partial<LogRequest>) =>
  opened.call.history.log({ revision: 'HEAD', limit: 100, skip: 0, ...request });
const oids = async (request: Partial<LogRequest>) =>
  (await log(request)).entries.map((entry) => entry.commit.oid);
const native = (...args: string[]) =>
  repo
    .git('log', '--format=%H', ...args)
    .split('\n')
    .filter(Boolean);

describe('the history', () => {
  test('of a record says who changed what, when, why, by which tool', async () => {
    await put('one', 'first');
    await put('one', 'second');
    const { entries, total, shallow } = await log({ path: 'notes/one.yaml' });
    expect({ total, shallow }).toEqual({ total: 2, shallow: false });
    expect(entries[0]).toEqual({
      commit: {
        oid: head(),
        at: new Date(Number(repo.git('log', '-1', '--format=%ct')) * 1000).toISOString(),
        author: 'Ada Lovelace <ada@example.org>',
        subject: 'memory: write one',
        reason: 'because',
        tool: 'test_tool',
        agent: 'tester/1.0',
        session: '01TEST',
      },
      changes: [{ change: 'changed', path: 'notes/one.yaml', fields: ['text'] }],
    });
    expect(entries[1]?.changes).toEqual([{ change: 'added', path: 'notes/one.yaml' }]);
  });

  test('of everything equals git log, and that of a folder has what is below it', async () => {
    await put('one', 'first');
    repo.write('src/code.ts', 'code');
    commit('Code');
    await put('two', 'second');
    repo.write(`${bank}/letters/x.md`, '---\nid: x\ntitle: X\n---\nHello\n');
    commit('A letter by hand');
    expect(await oids({})).toEqual(native('--', bank));
    expect(await oids({ path: 'letters' })).toEqual([head()]);
    expect(await oids({ path: '.memory-bank/letters/' })).toEqual([head()]);
    expect(await oids({ path: 'letters/**' })).toEqual([head()]);
    expect(await oids({ limit: 1, skip: 1 })).toEqual([native('--', bank)[1]]);
    expect((await log({ limit: 1 })).total).toBe(3);
  });

  test('follows a move, edited or not, as long as the key is the same', async () => {
    await put('one', 'a\nb\nc\n');
    repo.git('mv', `${bank}/notes/one.yaml`, `${bank}/notes/elsewhere.yaml`);
    commit('Move it');
    const { entries } = await log({ path: 'notes/elsewhere.yaml' });
    expect(entries.map(({ changes }) => changes)).toEqual([
      [{ change: 'moved', path: 'notes/elsewhere.yaml', from: 'notes/one.yaml', fields: [] }],
      [{ change: 'added', path: 'notes/one.yaml' }],
    ]);
    expect(await oids({ path: 'notes/elsewhere.yaml' })).toEqual(
      native('--follow', '--', `${bank}/notes/elsewhere.yaml`),
    );
    repo.git('mv', `${bank}/notes/elsewhere.yaml`, `${bank}/notes/third.yaml`);
    repo.write(`${bank}/notes/third.yaml`, 'key: one\ntags: []\ntext: all of it is new\n');
    commit('Move and edit');
    expect((await log({ path: 'notes/third.yaml' })).entries[0]?.changes).toEqual([
      {
        change: 'changed',
        path: 'notes/third.yaml',
        from: 'notes/elsewhere.yaml',
        fields: ['text'],
      },
    ]);
    expect((await log({})).entries[0]?.changes).toEqual([
      { change: 'changed', path: 'notes/third.yaml', from: 'notes/elsewhere.yaml' },
    ]);
  });

  test('of a removed record ends with its removal', async () => {
    await put('one', 'first');
    await drop('one');
    const { entries } = await log({ path: 'notes/one.yaml' });
    expect(entries.map(({ changes }) => changes[0]?.change)).toEqual(['removed', 'added']);
  });

  test('is correct after a rebase, a reset, a switch and gc, and without its index file', async () => {
    await put('one', 'first');
    repo.checkout('side');
    await put('two', 'on the side');
    const lost = head();
    repo.checkout('main');
    await put('three', 'on main');
    expect(await oids({})).toEqual(native('--', bank));
    repo.git('rebase', '-q', 'main', 'side');
    expect(await oids({})).toEqual(native('--', bank));
    expect(await oids({})).not.toContain(lost);
    repo.git('reset', '-q', '--hard', 'HEAD~1');
    expect(await oids({})).toEqual(native('--', bank));
    repo.git('-c', 'gc.reflogExpire=now', 'gc', '-q', '--prune=now');
    expect(await oids({})).toEqual(native('--', bank));
    const folder = repo.path('.git/memory-bank');
    for (const name of readdirSync(folder)) {
      if (name.startsWith('history-')) rmSync(join(folder, name));
    }
    const again = await open(repo.root, [note, letter]);
    const { entries } = await again.call.history.log({ revision: 'HEAD', limit: 100, skip: 0 });
    expect(entries.map((entry) => entry.commit.oid)).toEqual(native('--', bank));
    expect(readdirSync(folder).some((name) => name.startsWith('history-'))).toBe(true);
    await again.workspace.close();
  });

  test('creates nothing in a repository without a commit', async () => {
    const empty = new Repo();
    empty.git('init', '-q');
    const bare = await open(empty.root, [note]);
    const asked = bare.call.history.log({ revision: 'HEAD', limit: 1, skip: 0 });
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
    expect(existsSync(empty.path('.git/memory-bank'))).toBe(false);
    await bare.workspace.close();
    empty.remove();
  });
});

describe('an earlier state', () => {
  test('is searched without unpacking a file that is too large for the index', async () => {
    await put('one', 'the old otter');
    repo.write(`${bank}/notes/large.yaml`, `key: large\ntext: ${'x '.repeat(800_000)}\ntags: []\n`);
    commit('Write much');
    const large = repo.git('rev-parse', `HEAD:${bank}/notes/large.yaml`).trim();
    repo.git('rm', '-q', `${bank}/notes/large.yaml`);
    commit('Remove it');
    const content = vi.spyOn(ObjectDatabase.prototype, 'content');
    try {
      const snapshot = await opened.call.history.at('HEAD~1');
      const { hits, leftOut } = await snapshot.search({ query: 'otter' });
      expect(hits).toMatchObject([{ key: 'one' }]);
      expect(leftOut).toMatchObject({ paths: ['notes/large.yaml'] });
      expect(content.mock.calls.map(([oid]) => oid)).not.toContain(large);
    } finally {
      content.mockRestore();
    }
  });

  test('is read, listed and searched without a checkout', async () => {
    await put('one', 'the old otter');
    const old = head();
    await put('one', 'the new badger');
    await put('two', 'another');
    repo.write(`${bank}/notes/broken.yaml`, 'key: [');
    commit('Break one');
    const snapshot = await opened.call.history.at('HEAD~3');
    expect(snapshot.commit.oid).toBe(old);
    expect(await snapshot.read('notes/one.yaml')).toMatchObject({
      key: 'one',
      value: { text: 'the old otter' },
      text: repo.git('show', `${old}:${bank}/notes/one.yaml`),
      last: { oid: old },
    });
    const listed = await snapshot.list(undefined, 10);
    expect(listed.records.map(({ path }) => path)).toEqual(['notes/one.yaml']);
    expect((await snapshot.search({ query: 'otter' })).hits).toMatchObject([{ key: 'one' }]);
    expect((await snapshot.search({ query: 'badger' })).total).toBe(0);
    const now = await opened.call.history.at('HEAD');
    expect((await now.search({ query: 'badger' })).damaged).toMatchObject([
      { path: 'notes/broken.yaml' },
    ]);
    expect(await now.read('notes/broken.yaml')).toMatchObject({ text: 'key: [', key: undefined });
    await expect(snapshot.read('notes/two.yaml')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a comparison', () => {
  const compare = (from: string, to = 'HEAD', path?: string) =>
    opened.call.history.compare({ from, to, path, limit: 100, skip: 0 });

  test('lists records and fields', async () => {
    await put('one', 'line 1\nline 2\nline 3\n', ['a', 'b']);
    await put('gone', 'x');
    await put('moved', 'y');
    const old = head();
    await put('one', 'line 1\nline two\nline 3\n', ['b', 'c']);
    await drop('gone');
    repo.git('mv', `${bank}/notes/moved.yaml`, `${bank}/notes/there.yaml`);
    commit('Move');
    await put('new', 'z');
    const { changes, counts } = await compare(old);
    expect(counts).toEqual({ added: 1, changed: 1, moved: 1, removed: 1 });
    expect(changes).toMatchObject([
      { change: 'removed', path: 'notes/gone.yaml', key: 'gone' },
      { change: 'added', path: 'notes/new.yaml', title: 'new' },
      {
        change: 'changed',
        path: 'notes/one.yaml',
        fields: [
          { field: 'tags', removed: ['a'], added: ['c'] },
          { field: 'text', diff: '@@ -1,3 +1,3 @@\n line 1\n-line 2\n+line two\n line 3\n' },
        ],
      },
      { change: 'moved', path: 'notes/there.yaml', from: 'notes/moved.yaml' },
    ]);
    expect((await compare(old, 'HEAD', 'notes/one.yaml')).changes).toHaveLength(1);
    expect((await compare('HEAD')).changes).toEqual([]);
  });

  test('since the fork leaves out what only the other side has changed', async () => {
    for (const key of ['both', 'equal', 'gone']) await put(key, 'old');
    repo.checkout('idea');
    await put('both', 'by the idea');
    await put('equal', 'new');
    await put('learnt', 'x');
    await drop('gone');
    repo.checkout('main');
    await put('both', 'by main');
    await put('equal', 'new');
    await put('own', 'y');
    const since = (from: string, to: string) =>
      opened.call.history.compare({ from, to, sinceFork: true, limit: 100, skip: 0 });
    const learnt = await since('main', 'idea');
    expect(learnt.changes.map(({ path, isByBoth }) => [path, isByBoth])).toEqual([
      ['notes/both.yaml', true],
      ['notes/gone.yaml', false],
      ['notes/learnt.yaml', false],
    ]);
    expect(learnt).toMatchObject({
      others: 1,
      counts: { added: 1, changed: 1, moved: 0, removed: 1 },
    });
    const own = await since('idea', 'main');
    expect(own.changes.map(({ path }) => path)).toEqual(['notes/both.yaml', 'notes/own.yaml']);
    expect((await compare('main', 'idea')).counts.removed).toBe(2);
    repo.git('checkout', '-q', '--orphan', 'apart');
    await put('own', 'of another history');
    const unrelated = await since('main', 'apart');
    expect(unrelated.changes).toEqual((await compare('main', 'apart')).changes);
    expect(unrelated.others).toBeUndefined();
  });

  test('of records that cannot be decoded compares their text', async () => {
    await put('one', 'fine');
    repo.write(`${bank}/notes/one.yaml`, 'key: [\n');
    commit('Break it');
    const [change] = (await compare('HEAD~1')).changes;
    expect(change?.fields).toMatchObject([
      { field: 'text', diff: expect.stringContaining('+key: [\n') },
    ]);
  });
});

describe('a restoration', () => {
  const restore = (path: string | undefined, revision?: string) =>
    opened.call.history.restore(path, revision);

  test('is a new commit with the exact bytes of the earlier state', async () => {
    repo.write(`${bank}/notes/one.yaml`, '# by hand\nkey: one\ntags: []\ntext: old\nmore: kept\n');
    commit('By hand');
    const old = head();
    await put('one', 'new');
    const before = head();
    expect(await restore('notes/one.yaml', 'HEAD~1')).toMatchObject({
      commit: { oid: old },
      restored: ['notes/one.yaml'],
      removed: [],
    });
    expect(repo.read(`${bank}/notes/one.yaml`)).toContain('# by hand');
    expect(repo.git('rev-parse', 'HEAD~1').trim()).toBe(before);
    expect(repo.git('log', '-1', '--format=%B')).toContain(`Memory-Restored: ${old}`);
    expect(opened.commits.at(-1)?.oid).toBe(head());
    expect(repo.status()).toEqual([]);
  });

  test('of an unchanged record makes no commit', async () => {
    await put('one', 'text');
    const before = head();
    expect(await restore('notes/one.yaml', 'HEAD')).toMatchObject({ restored: [] });
    expect(await restore(undefined, 'HEAD')).toMatchObject({ restored: [], removed: [] });
    expect(head()).toBe(before);
  });

  deep('brings back a record that was removed a thousand commits ago', async () => {
    await put('one', 'precious');
    await drop('one');
    const stream: string[] = [];
    for (let i = 0; i < 1000; i++) {
      const data = `text ${i}`;
      stream.push(
        `commit refs/heads/main\ncommitter A <a@example.org> ${1_800_000_000 + i} +0000`,
        `data 1\nx${i === 0 ? '\nfrom refs/heads/main^0' : ''}`,
        `M 100644 inline ${bank}/notes/other.yaml\ndata ${data.length}\n${data}`,
      );
    }
    repo.gitWith({ input: `${stream.join('\n')}\n` }, 'fast-import', '--quiet');
    repo.git('reset', '-q', '--hard');
    expect(await restore('notes/one.yaml')).toMatchObject({ restored: ['notes/one.yaml'] });
    expect((await opened.call.store.get(note, 'one'))?.value.text).toBe('precious');
    await expect(restore('notes/one.yaml')).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('of everything undoes all later changes, in one commit', async () => {
    await put('one', 'old');
    await put('two', 'stays');
    const old = head();
    await put('one', 'new');
    await put('three', 'added');
    await drop('two');
    const before = head();
    expect(await restore(undefined, old)).toMatchObject({
      restored: ['notes/one.yaml', 'notes/two.yaml'],
      removed: ['notes/three.yaml'],
    });
    expect(repo.git('rev-parse', 'HEAD~1').trim()).toBe(before);
    expect(repo.git('diff', old, 'HEAD')).toBe('');
  });

  test('repairs a file that cannot be read, and writes to the current path of the record', async () => {
    await put('one', 'good');
    repo.write(`${bank}/notes/one.yaml`, 'key: [');
    expect(await restore('notes/one.yaml', 'HEAD')).toMatchObject({ restored: ['notes/one.yaml'] });
    expect((await opened.call.store.get(note, 'one'))?.value.text).toBe('good');
    expect(repo.git('show', `HEAD~1:${bank}/notes/one.yaml`)).toBe('key: [');
    repo.git('mv', `${bank}/notes/one.yaml`, `${bank}/notes/moved.yaml`);
    commit('Move');
    await put('one', 'better');
    expect(await restore('notes/moved.yaml', 'HEAD~2')).toMatchObject({
      restored: ['notes/moved.yaml'],
    });
    expect((await opened.call.store.list(note)).records).toMatchObject([
      { path: 'notes/moved.yaml', value: { text: 'good' } },
    ]);
  });

  test.each([true, false])(
    'finds a damaged record that had another path by its key; committed: %s',
    async (isCommitted) => {
      await put('one', 'good');
      const good = head();
      repo.git('mv', `${bank}/notes/one.yaml`, `${bank}/notes/moved.yaml`);
      commit('Move');
      repo.write(`${bank}/notes/moved.yaml`, 'key: [');
      if (isCommitted) commit('Broken');
      await expect(restore('notes/moved.yaml', good)).resolves.toMatchObject({
        restored: ['notes/moved.yaml'],
      });
      expect((await opened.call.store.list(note)).records).toMatchObject([
        { path: 'notes/moved.yaml', value: { text: 'good' } },
      ]);
      expect(repo.status()).toEqual([]);
    },
  );

  test('of a record that cannot be read, or never existed, changes nothing', async () => {
    repo.write(`${bank}/notes/one.yaml`, 'key: [');
    commit('Broken');
    await put('two', 'x');
    const before = head();
    await expect(restore('notes/one.yaml', 'HEAD')).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(/^In commit [0-9a-f]{12}, it cannot be read/),
    });
    await expect(restore('notes/no.yaml', 'HEAD')).rejects.toMatchObject({ code: 'not_found' });
    await expect(restore('notes/no.yaml')).rejects.toMatchObject({ code: 'not_found' });
    await expect(restore('nothing', 'HEAD')).rejects.toMatchObject({ code: 'not_found' });
    await expect(restore('notes')).rejects.toMatchObject({ code: 'invalid_input' });
    for (const never of ['nothing', 'notes/no', 'notes/no.txt']) {
      await expect(restore(never)).rejects.toMatchObject({
        code: 'not_found',
        hint: expect.stringContaining('record_history'),
      });
    }
    expect(head()).toBe(before);
  });
});

test('branches are listed with the records that they add, lack and change', async () => {
  await put('one', 'common');
  repo.checkout('side');
  await put('two', 'only there');
  await put('one', 'changed there');
  repo.checkout('main');
  await put('three', 'only here');
  repo.git('checkout', '-q', '--orphan', 'stranger');
  repo.git('rm', '-rfq', '.');
  repo.write('x', 'x');
  commit('Another history');
  repo.checkout('main');
  const { branches, total } = await opened.call.history.branches(10);
  expect(total).toBe(3);
  expect(branches.map(({ name }) => name)[0]).toBe('main');
  expect(branches.find(({ name }) => name === 'main')).toMatchObject({
    current: true,
    ahead: 0,
    behind: 0,
    changes: [],
  });
  expect(branches.find(({ name }) => name === 'side')).toMatchObject({
    current: false,
    ahead: 2,
    behind: 1,
    unrelated: false,
    changes: [
      { change: 'changed', path: 'notes/one.yaml' },
      { change: 'removed', path: 'notes/three.yaml' },
      { change: 'added', path: 'notes/two.yaml' },
    ],
  });
  expect(branches.find(({ name }) => name === 'stranger')).toMatchObject({
    unrelated: true,
    behind: 2,
  });
});

test('blame finds the commit of each line, through moves and merges, as git does', async () => {
  const path = `${bank}/letters/a.md`;
  const write = (lines: string[]) =>
    repo.write(path, `---\nid: a\ntitle: A\n---\n${lines.join('\n')}\n`);
  write(['one', 'two', 'three', 'four', 'five', 'six']);
  commit('First');
  write(['one', 'TWO', 'three', 'four', 'five', 'six']);
  commit('Second');
  repo.checkout('side');
  write(['one', 'TWO', 'three', 'four', 'five', 'SIX', 'seven']);
  commit('On the side');
  repo.checkout('main');
  write(['zero', 'one', 'TWO', 'three', 'four', 'five', 'six']);
  commit('On main');
  repo.git('merge', '-q', '-m', 'Merge', 'side');
  repo.git('mv', path, `${bank}/letters/b.md`);
  commit('Move');
  const lines = await opened.call.history.blame('letters/b.md', 'HEAD');
  const expected = repo
    .git('blame', '--line-porcelain', '-M', `${bank}/letters/b.md`)
    .split('\n')
    .filter((line) => /^[0-9a-f]{40,64} /.test(line))
    .map((line) => line.split(' ', 1)[0]);
  expect(lines.map((line) => line.commit.oid)).toEqual(expected);
  expect(lines.map(({ text }) => text).join('')).toBe(repo.read(`${bank}/letters/b.md`));
});
