import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { letter, note, writeLargeLetters } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

const bank = '.memory-bank';
const page = { revision: 'HEAD', limit: 100, skip: 0 };

function create(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  return repo;
}

async function serve(repo: Repo): Promise<Opened> {
  const opened = await open(repo.root, [note, letter]);
  cleanUp.push(() => opened.workspace.close());
  return opened;
}

function write(repo: Repo, key: string, text: string): void {
  repo.write(`${bank}/notes/${key}.yaml`, `key: ${key}\ntags: []\ntext: ${text}\n`);
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', `Write ${key}`);
}

function clone(repo: Repo, ...options: string[]): Repo {
  const copy = new Repo();
  cleanUp.push(() => copy.remove());
  rmSync(copy.root, { recursive: true });
  repo.git('config', 'uploadpack.allowFilter', 'true');
  repo.git('clone', '-q', ...options, `file://${repo.root}`, copy.root);
  copy.git('config', 'user.name', 'Ada');
  copy.git('config', 'user.email', 'ada@example.org');
  return copy;
}

describe('a shallow clone', () => {
  test('reports that its history ends, and is complete after it was deepened', async () => {
    const repo = create();
    for (let i = 0; i < 5; i++) write(repo, 'one', `text ${i}`);
    write(repo, 'old', 'of before');
    write(repo, 'two', 'x');
    const shallow = clone(repo, '--depth', '2');
    const opened = await serve(shallow);
    const { history } = opened.call;
    expect(await history.log(page)).toMatchObject({ total: 1, shallow: true });
    expect(await history.log({ ...page, path: 'notes/one.yaml' })).toMatchObject({
      entries: [],
      shallow: true,
    });
    const [line] = await history.blame('notes/one.yaml', 'HEAD');
    expect(line).toMatchObject({ boundary: true });
    await expect(history.at('2001-01-01')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('shallow'),
    });
    await expect(history.at('HEAD~2')).rejects.toMatchObject({ code: 'not_found' });
    shallow.git('fetch', '-q', '--unshallow');
    const whole = await opened.call.history.log({ ...page, path: 'notes/one.yaml' });
    expect(whole).toMatchObject({ total: 5, shallow: false });
  });
});

test('objects that a partial clone does not have are named, and nothing is changed', async () => {
  const repo = create();
  write(repo, 'one', 'old');
  write(repo, 'one', 'new');
  const partial = clone(repo, '--filter=blob:none', '--no-checkout');
  partial.git('checkout', '-q');
  const old = repo.git('rev-parse', `HEAD~1:${bank}/notes/one.yaml`).trim();
  const { history } = (await serve(partial)).call;
  expect((await history.log({ ...page, revision: 'HEAD' })).total).toBe(2);
  const snapshot = await history.at('HEAD~1');
  const head = partial.git('rev-parse', 'HEAD');
  const missing = { code: 'damaged', data: { oid: old } };
  await expect(snapshot.read('notes/one.yaml')).rejects.toMatchObject(missing);
  await expect(history.restore('notes/one.yaml', 'HEAD~1')).rejects.toMatchObject(missing);
  await expect(history.blame('notes/one.yaml', 'HEAD')).rejects.toMatchObject(missing);
  expect(partial.git('rev-parse', 'HEAD')).toBe(head);
  expect(partial.status()).toEqual([]);
});

test('a clone without trees names the missing object, and writes nothing', async () => {
  const repo = create();
  write(repo, 'one', 'old');
  write(repo, 'one', 'new');
  const partial = clone(repo, '--filter=tree:0', '--no-checkout');
  partial.git('checkout', '-q');
  const { history } = (await serve(partial)).call;
  const tree = repo.git('rev-parse', 'HEAD~1^{tree}').trim();
  const head = partial.git('rev-parse', 'HEAD');
  const missing = { code: 'damaged', data: { oid: tree }, hint: expect.stringContaining('fetch') };
  await expect(history.log(page)).rejects.toMatchObject(missing);
  await expect(history.restore('notes/one.yaml', 'HEAD~1')).rejects.toMatchObject(missing);
  await expect(
    history.compare({ from: 'HEAD~1', to: 'HEAD', limit: 1, skip: 0 }),
  ).rejects.toMatchObject(missing);
  expect(partial.git('rev-parse', 'HEAD')).toBe(head);
  expect(partial.status()).toEqual([]);
});

test('unrelated histories can still be compared', async () => {
  const repo = create();
  write(repo, 'one', 'here');
  repo.git('checkout', '-q', '--orphan', 'other');
  repo.git('rm', '-rfq', '.');
  write(repo, 'one', 'there');
  const { history } = (await serve(repo)).call;
  const compared = await history.compare({ from: 'main', to: 'other', limit: 10, skip: 0 });
  expect(compared.changes).toMatchObject([{ change: 'changed', path: 'notes/one.yaml' }]);
});

test('paths outside the memory folder, and of files that are not records, are refused', async () => {
  const repo = create();
  write(repo, 'one', 'x');
  repo.write(
    `${bank}/config.yaml`,
    'format: 1\nproject_id: 5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01\n',
  );
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Settings');
  const { history } = (await serve(repo)).call;
  for (const path of ['../README.md', '/etc/passwd', 'a/../../b', '.git/config', 'a\\b', 'a\0b']) {
    const code = { code: 'invalid_input' };
    await expect(history.log({ ...page, path })).rejects.toMatchObject(code);
    await expect(history.blame(path, 'HEAD')).rejects.toMatchObject(code);
    await expect(history.restore(path, 'HEAD')).rejects.toMatchObject(code);
    await expect((await history.at('HEAD')).read(path)).rejects.toMatchObject(code);
    await expect(
      history.compare({ from: 'HEAD', to: 'HEAD', path, limit: 1, skip: 0 }),
    ).rejects.toMatchObject(code);
  }
  for (const path of ['config.yaml', 'README.md', 'notes/none.yaml', 'nothing']) {
    const code = { code: 'not_found' };
    await expect(history.log({ ...page, path })).rejects.toMatchObject(code);
    await expect(history.blame(path, 'HEAD')).rejects.toMatchObject(code);
    await expect((await history.at('HEAD')).read(path)).rejects.toMatchObject(code);
    await expect(history.restore(path, 'HEAD')).rejects.toMatchObject(code);
  }
});

test('a link in a commit is not followed', async () => {
  const repo = create();
  write(repo, 'one', 'x');
  repo.git('update-index', '--add', '--cacheinfo', `120000,${blob(repo)},${bank}/notes/link.yaml`);
  repo.git('commit', '-qm', 'Link');
  const snapshot = await (await serve(repo)).call.history.at('HEAD');
  const { records } = await snapshot.list('notes', 10);
  expect(records).toMatchObject([{ error: { code: 'damaged' } }, { key: 'one' }]);
  await expect(snapshot.read('notes/link.yaml')).rejects.toMatchObject({ code: 'damaged' });
});

function blob(repo: Repo): string {
  return repo.gitWith({ input: '/etc/passwd' }, 'hash-object', '-w', '--stdin').trim();
}

describe('the rules of a mode', () => {
  async function restricted(): Promise<{ repo: Repo; opened: Opened }> {
    const repo = create();
    repo.write(
      `${bank}/rules/narrow.yaml`,
      [
        'mode: narrow',
        'instructions:',
        '  general: [ "Read letters" ]',
        '  memory_bank:',
        '    files_to_read: [ "letters/**" ]',
        '    files_to_update: [ "letters/open.md" ]',
        '',
      ].join('\n'),
    );
    write(repo, 'secret', 'hidden words');
    repo.write(`${bank}/letters/open.md`, '---\nid: o\ntitle: Open\n---\nvisible words\n');
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', 'A letter');
    repo.write(`${bank}/letters/open.md`, '---\nid: o\ntitle: Open\n---\nvisible words, more\n');
    repo.write(`${bank}/notes/secret.yaml`, 'key: secret\ntags: []\ntext: hidden still\n');
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', 'About the secret\n\nand why');
    const opened = await serve(repo);
    await opened.call.modes.switch('narrow');
    return { repo, opened };
  }

  test('apply to everything that is read from the history', async () => {
    const { opened } = await restricted();
    const { history } = opened.call;
    const forbidden = { code: 'forbidden' };
    await expect(history.log({ ...page, path: 'notes/secret.yaml' })).rejects.toMatchObject(
      forbidden,
    );
    await expect(history.blame('notes/secret.yaml', 'HEAD')).rejects.toMatchObject(forbidden);
    const snapshot = await history.at('HEAD');
    await expect(snapshot.read('notes/secret.yaml')).rejects.toMatchObject(forbidden);
    expect(await snapshot.list(undefined, 10)).toMatchObject({ total: 1 });
    expect((await snapshot.search({ query: 'hidden' })).total).toBe(0);
    expect((await snapshot.search({ query: 'visible' })).total).toBe(1);
    const compared = await history.compare({ from: 'HEAD~2', to: 'HEAD', limit: 10, skip: 0 });
    expect(compared.changes.map(({ path }) => path)).toEqual(['letters/open.md']);
    const all = await history.log(page);
    expect(all.entries.map(({ changes }) => changes.map(({ path }) => path))).toEqual([
      ['letters/open.md'],
      ['letters/open.md'],
    ]);
    expect(JSON.stringify([all, compared])).not.toMatch(/secret|and why/);
    expect(all.entries[1]?.commit.subject).toBe('A letter');
    expect(await history.branches(10)).toMatchObject({ branches: [{ ahead: 0, changes: [] }] });
  });

  test('apply to a restoration', async () => {
    const { repo, opened } = await restricted();
    const { history } = opened.call;
    const head = repo.git('rev-parse', 'HEAD');
    const forbidden = { code: 'forbidden' };
    await expect(history.restore('notes/secret.yaml', 'HEAD~1')).rejects.toMatchObject(forbidden);
    await expect(history.restore(undefined, 'HEAD~1')).rejects.toMatchObject(forbidden);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(await history.restore('letters/open.md', 'HEAD~1')).toMatchObject({
      restored: ['letters/open.md'],
    });
  });
});

test('two servers of one repository share one index, also with concurrent writes', async () => {
  const repo = create();
  const here = await serve(repo);
  const there = await serve(repo);
  const expected = () => repo.git('log', '--format=%H', '--', bank).split('\n').filter(Boolean);
  const ask = async (opened: Opened) =>
    (await opened.call.history.log(page)).entries.map(({ commit }) => commit.oid);
  for (let i = 0; i < 4; i++) {
    write(repo, `note-${i}`, 'x');
    const answers = await Promise.all([ask(here), ask(there)]);
    expect(answers).toEqual([expected(), expected()]);
    expect(await ask(await serve(repo))).toEqual(expected());
  }
});

test('a commit that adds, changes, moves and removes records is read from the index as it was written', async () => {
  const repo = create();
  for (const key of ['one', 'two', 'three']) write(repo, key, `text of ${key}`);
  repo.git('rm', '-q', `${bank}/notes/two.yaml`);
  repo.git('mv', `${bank}/notes/three.yaml`, `${bank}/notes/moved.yaml`);
  repo.write(`${bank}/notes/one.yaml`, 'key: one\ntags: []\ntext: another\n');
  write(repo, 'four', 'x');
  const ask = async () => (await (await serve(repo)).call.history.log(page)).entries;
  const built = await ask();
  expect(built[0]?.changes.map(({ change, path }) => `${change} ${path}`)).toEqual([
    'added notes/four.yaml',
    'moved notes/moved.yaml',
    'changed notes/one.yaml',
    'removed notes/two.yaml',
  ]);
  expect(await ask()).toEqual(built);
});

deep.each([
  ['cut off in the middle of a line', (text: string) => text.slice(0, -20)],
  [
    'with a repeated line',
    (text: string) => text + text.slice(text.lastIndexOf('\n', text.length - 2) + 1),
  ],
  ['of another form', (text: string) => text.replace(/"format":\d+/, '"format":0')],
  ['with ids that are cut', (text: string) => text.replace(/[0-9a-f]{8}"\]\]\]\n$/, '"]]]\n')],
  ['with another path number', (text: string) => text.replace(/\[\[\[\d+\]/, '[[["0"]')],
  ['full of something else', () => 'nonsense\n\0\0'],
  ['empty', () => ''],
])('an index %s is repaired', async (_, spoil) => {
  const repo = create();
  write(repo, 'one', 'x');
  write(repo, 'two', 'y');
  await (await serve(repo)).call.history.log(page);
  const names = readdirSync(repo.path('.git/memory-bank'));
  const file = join('.git/memory-bank', names.find((name) => name.endsWith('.jsonl')) ?? '');
  const spoilt = spoil(repo.read(file));
  expect(spoilt).not.toBe(repo.read(file));
  repo.write(file, spoilt);
  for (let i = 0; i < 2; i++) {
    const { entries } = await (await serve(repo)).call.history.log(page);
    expect(entries.map(({ changes }) => changes[0]?.path)).toEqual([
      'notes/two.yaml',
      'notes/one.yaml',
    ]);
    write(repo, 'two', String(i));
    repo.git('reset', '-q', '--hard', 'HEAD~1');
  }
});

test('a cancelled call keeps what it has indexed', async () => {
  const repo = create();
  write(repo, 'one', 'x');
  const opened = await serve(repo);
  const controller = new AbortController();
  controller.abort(new Error('given up'));
  const bound = opened.workspace.bind({
    session: opened.session,
    tool: 't',
    signal: controller.signal,
    onCommit() {},
    progress() {},
  });
  await bound.history.log(page).catch(() => undefined);
  expect((await opened.call.history.log(page)).total).toBe(1);
});

deep(
  'a restore reads a bounded amount, names the rest, and lets other calls through',
  async () => {
    const repo = create();
    writeLargeLetters(repo);
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', 'Write letters');
    repo.git('rm', '-rq', `${bank}/letters`);
    repo.git('commit', '-q', '-m', 'Remove letters');
    const { history } = (await serve(repo)).call;
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const full = repo.git('rev-parse', 'HEAD~1').trim();
    const { restored, damaged } = await history.restore('letters', full);
    clearInterval(timer);
    expect(restored.length + damaged.length).toBe(70);
    expect(damaged.length).toBeGreaterThan(0);
    for (const { error } of damaged) expect(error.code).toBe('too_large');
    expect(turns).toBeGreaterThan(10);
    const left = damaged[0]?.path;
    expect(await history.restore(left, full)).toMatchObject({ restored: [left] });
  },
  60_000,
);
