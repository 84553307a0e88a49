import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import type { Stat } from '../../src/git/disk/file-layer.ts';
import { Folder } from '../../src/git/disk/folder.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { LiveRecords } from '../../src/store/records/live-records.ts';
import { bury } from '../faults/place.ts';
import { deep } from '../support/depth.ts';
import { FaultFiles, logLine, reading } from '../support/fault-files.ts';
import { letter, note, writeLargeLetters } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { newFolder } from '../support/process.ts';
import { moving } from '../support/ref-form.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { linked } from '../support/windows.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function create(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  return repo;
}

async function serve(root: string, ...rest: [own?: boolean]): Promise<Opened> {
  const opened = await open(root, [note, letter], {}, ...rest);
  cleanUp.push(() => opened.workspace.close());
  return opened;
}

const add = (opened: Opened, key: string, text = 'text', tags: string[] = []) =>
  opened.call.store.change({ subject: `add ${key}` }, (tx) => tx.put(note, { key, text, tags }));

const keys = async (opened: Opened) =>
  (await opened.call.store.list(note)).records.map(({ key }) => key);

describe('a change', () => {
  test('is one commit that says who, what and why, and adds the settings the first time', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await opened.call.store.change(
      {
        subject: 'add "One"\nMemory-Tool: forged',
        reason: 'because\n\nMemory-Agent: forged\n---\nx',
      },
      (tx) => tx.put(note, { key: 'One', tags: ['b', 'a'], text: 'Hello\nworld' }),
    );
    expect(repo.git('show', '--format=%B', '--name-status', 'HEAD').trim()).toMatchInlineSnapshot(`
      "memory: add "One" Memory-Tool: forged

      because

      Memory-Agent: forged
       ---
      x

      Memory-Tool: test_tool
      Memory-Record: notes/One~h.yaml
      Memory-Agent: tester/1.0
      Memory-Session: 01TEST


      A	.memory-bank/.gitattributes
      A	.memory-bank/config.yaml
      A	.memory-bank/notes/One~h.yaml"
    `);
    expect(repo.read('.memory-bank/notes/One~h.yaml')).toMatchInlineSnapshot(`
      "key: One
      tags:
        - b
        - a
      text: |-
        Hello
        world
      "
    `);
    expect(repo.read('.memory-bank/config.yaml')).toMatchInlineSnapshot(`
      "format: 1
      project_id: 5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01
      "
    `);
    const trailers = repo.gitWith(
      { input: repo.git('log', '-1', '--format=%B') },
      'interpret-trailers',
      '--parse',
      '--no-divider',
    );
    expect(trailers).toMatchInlineSnapshot(`
      "Memory-Tool: test_tool
      Memory-Record: notes/One~h.yaml
      Memory-Agent: tester/1.0
      Memory-Session: 01TEST
      "
    `);
    expect(opened.commits).toEqual([{ oid: repo.git('rev-parse', 'HEAD').trim(), branch: 'main' }]);
    expect(repo.status()).toEqual([]);
  });

  test('without an effect, or one that fails, makes no commit', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'one');
    const head = repo.git('rev-parse', 'HEAD');
    await add(opened, 'one');
    await expect(
      opened.call.store.change({ subject: 's' }, async (tx) => {
        await tx.put(note, { key: 'two', text: '', tags: [] });
        throw new MemoryError('not_found', 'no');
      }),
    ).rejects.toThrow('no');
    expect(await keys(opened)).toEqual(['one']);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(repo.status()).toEqual([]);
  });

  test('of many records is one commit, and sees its own writes', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'old');
    await opened.call.store.change({ subject: 'many' }, async (tx) => {
      for (let i = 0; i < 30; i++) await tx.put(note, { key: `k${i}`, text: '', tags: [] });
      expect(await tx.remove(note, 'k3')).toBe(true);
      expect(await tx.remove(note, 'old')).toBe(true);
      expect(await tx.get(note, 'k3')).toBeUndefined();
      expect((await tx.list(note)).records).toHaveLength(29);
    });
    expect(await keys(opened)).toHaveLength(29);
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('3');
  });

  test('keeps comments and unknown keys that a person wrote', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    repo.write('.memory-bank/notes/a.yaml', '# why\nkey: a\ntags: []\nowner: ada\ntext: old\n');
    await add(opened, 'a', 'new');
    expect(repo.read('.memory-bank/notes/a.yaml')).toBe(
      '# why\nkey: a\ntags: []\nowner: ada\ntext: new\n',
    );
    expect(repo.git('log', '--format=%s', '-2').trim().split('\n')).toEqual([
      'memory: add a',
      'memory: keep edit by hand of a.yaml',
    ]);
  });

  test('in a folder without a repository creates one; a read or a change without effect does not', async () => {
    const root = mkdtempSync(join(tmpdir(), 'memory-bank-'));
    cleanUp.push(() => rmSync(root, { recursive: true }));
    const opened = await serve(root);
    await keys(opened);
    await opened.call.store.change({ subject: 's' }, () => undefined);
    const failed = opened.call.store.change({ subject: 's' }, () => {
      throw new MemoryError('not_found', 'no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(existsSync(join(root, '.git'))).toBe(false);
    expect(existsSync(join(root, '.memory-bank'))).toBe(false);
    await add(opened, 'one');
    const repo = new Repo(root);
    expect(repo.fsck()).toBe('');
    expect(repo.status()).toEqual([]);
    expect(repo.git('log', '--format=%s', 'main').trim()).toBe('memory: add one');
  });

  test('that died while it created the repository leaves no lock that blocks git', async () => {
    const repo = new Repo();
    cleanUp.push(() => repo.remove());
    const files = new FaultFiles();
    files.plan = () => {
      return /^rename .*\.git\/HEAD$/.test(files.log.at(-1) ?? '') ? { kind: 'kill' } : undefined;
    };
    const dying = await open(repo.root, [note], { files });
    await expect(add(dying, 'a')).rejects.toThrow();
    expect(existsSync(repo.path('.git/HEAD.lock'))).toBe(true);
    bury(repo.root);
    const opened = await serve(repo.root);
    await opened.call.store.list(note);
    expect(existsSync(repo.path('.git/HEAD.lock'))).toBe(false);
    repo.git('init', '-q', '-b', 'mine');
    await add(opened, 'a');
    expect(repo.git('rev-list', '--count', 'mine').trim()).toBe('1');
  });

  describe('after the repository was moved away is refused by name, and writes nothing', () => {
    // The files of an idle server may disappear.
    const state = (folder: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => !/memory-bank[\\/](?:owner|journal)-/.test(path))
        .sort();

    test.each(['alone', 'below another one'])('%s', async (where) => {
      const outer = create();
      const root = outer.path('project');
      mkdirSync(root);
      if (where === 'alone') renameSync(outer.path('.git'), outer.path('outer.git'));
      new Repo(root).begin();
      const opened = await serve(root);
      await add(opened, 'one');
      renameSync(join(root, '.git'), join(root, 'away'));
      const before = state(outer.root);
      await expect(add(opened, 'two')).rejects.toMatchObject({
        code: 'storage',
        message: `${join(root, '.git')} is missing: the memory is in that repository.`,
      });
      expect(await keys(opened)).toEqual(['one']);
      expect(state(outer.root)).toEqual(before);
      renameSync(join(root, 'away'), join(root, '.git'));
      await add(opened, 'two');
      expect(await keys(opened)).toEqual(['one', 'two']);
    });

    test('with its .git file, in a linked work tree', async () => {
      const repo = create();
      const root = repo.path('linked');
      repo.git('worktree', 'add', '-q', root);
      const opened = await serve(root);
      await add(opened, 'one');
      rmSync(join(root, '.git'));
      const before = state(repo.root);
      await expect(add(opened, 'two')).rejects.toMatchObject({ code: 'storage' });
      expect(state(repo.root)).toEqual(before);
    });

    test("as the user's own store", async () => {
      const root = join(create().root, 'home');
      const opened = await serve(root, true);
      await add(opened, 'one');
      renameSync(root, `${root}-away`);
      await expect(add(opened, 'two')).rejects.toMatchObject({ code: 'storage' });
      expect(existsSync(root)).toBe(false);
    });

    test('with its whole folder', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'memory-bank-'));
      cleanUp.push(() => rmSync(folder, { recursive: true }));
      const root = join(folder, 'project');
      mkdirSync(root);
      const opened = await serve(root);
      rmdirSync(root);
      await expect(add(opened, 'one')).rejects.toMatchObject({
        code: 'no_project',
        message: `The folder ${root} is missing.`,
      });
      expect(existsSync(root)).toBe(false);
    });
  });

  test('makes no repository in a work tree that the environment gives to another one', async () => {
    const repo = create();
    const root = mkdtempSync(join(tmpdir(), 'memory-bank-'));
    cleanUp.push(() => rmSync(root, { recursive: true }));
    const env = { ...gitEnv, GIT_DIR: repo.path('.git'), GIT_WORK_TREE: root };
    const opened = await open(root, [note], { env });
    cleanUp.push(() => opened.workspace.close());
    const line = `gitdir: ${repo.path('.git')}`;
    await expect(add(opened, 'one')).rejects.toMatchObject({
      code: 'unsupported',
      hint: `Nothing was written. Write "${line}" into a file .git in ${root}.`,
    });
    expect(existsSync(join(root, '.git'))).toBe(false);
    writeFileSync(join(root, '.git'), `${line}\n`);
    await add(opened, 'one');
    expect(repo.git('show', '-s', '--format=%s')).toBe('memory: add one\n');
  });

  test('that cannot look for its repository reports it', async () => {
    const repo = create();
    const files = new FaultFiles();
    const opened = await open(repo.root, [note], { files });
    files.plan = () => {
      const due = files.log.at(-1) === logLine('stat', repo.path('.git/HEAD'));
      return due ? { kind: 'error', code: 'EIO' } : undefined;
    };
    await expect(add(opened, 'a')).rejects.toMatchObject({ code: 'storage' });
    files.plan = () => undefined;
    await opened.workspace.close();
    expect(existsSync(repo.path('.memory-bank'))).toBe(false);
  });

  deep(
    'that fails after a confirmation or a restoration has happened acknowledges it',
    async () => {
      const repo = create();
      const earlier = await serve(repo.root);
      await add(earlier, 'a');
      const first = repo.git('rev-parse', 'HEAD').trim();
      await add(earlier, 'a', 'other');
      const files = new FaultFiles();
      const opened = await open(repo.root, [note], { files, warn: () => undefined });
      const { reviews, history } = opened.call;
      let isMoved = false;
      files.plan = (_, operation) => {
        const fault = { kind: 'error', code: 'EIO' } as const;
        if (isMoved && reading.has(operation)) return fault;
        isMoved ||= moving('main').test(files.log.at(-1) ?? '');
        return undefined;
      };
      const { commit } = await reviews.confirm('notes/a.yaml');
      expect(repo.git('rev-parse', 'HEAD').trim()).toBe(commit);
      isMoved = false;
      await history.restore('notes/a.yaml', first);
      expect(isMoved).toBe(true);
      expect(repo.git('rev-parse', 'HEAD~1').trim()).toBe(commit);
      files.plan = () => undefined;
      await opened.workspace.close();
    },
  );

  test('that cannot see the files of a dead process is still read', async () => {
    const repo = create();
    await add(await serve(repo.root), 'a');
    const files = new FaultFiles();
    const warnings: string[] = [];
    const opened = await open(repo.root, [note], { files, warn: (text) => warnings.push(text) });
    files.plan = () => {
      const due = files.log.at(-1) === logLine('list', repo.path('.git/memory-bank'));
      return due ? { kind: 'error', code: 'EIO' } : undefined;
    };
    expect((await opened.call.store.list(note)).records).toHaveLength(1);
    expect(warnings).toEqual([expect.stringContaining('left half done')]);
    files.plan = () => undefined;
    await opened.workspace.close();
  });

  test("of the user's own store goes to its own repository, also if the home folder is a repository", async () => {
    const home = create();
    const opened = await serve(home.path('.memory-bank'), true);
    await add(opened, 'one');
    expect(home.git('log', '--format=%s').trim()).toBe('Begin');
    const own = new Repo(home.path('.memory-bank'));
    expect(own.git('log', '--format=%s').trim()).toBe('memory: add one');
    expect(existsSync(own.path('notes/one.yaml'))).toBe(true);
  });

  test('divides a folder that has become large, also within one change', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await opened.call.store.change({ subject: 'many' }, async (tx) => {
      for (let i = 0; i < 300; i++) await tx.put(note, { key: `k${i}`, text: '', tags: [] });
    });
    const { records } = await opened.call.store.list(note);
    expect(records.filter(({ path }) => !path.includes('+'))).toHaveLength(256);
    await add(opened, 'late');
    const place = repo.git('show', '--format=', '--name-only', 'HEAD').trim();
    expect(place).toMatch(/^\.memory-bank\/notes\/\+[0-3][0-9a-f]\/late\.yaml$/);
    expect((await opened.call.store.get(note, 'late'))?.value.key).toBe('late');
    const again = await serve(repo.root);
    expect((await again.call.store.get(note, 'late'))?.value.key).toBe('late');
    await add(again, 'late', 'changed');
    expect(await keys(again)).toHaveLength(301);
  });

  test('numbers records that would have the same file name', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    for (const id of ['1', '2', '3']) {
      await opened.call.store.change({ subject: 's' }, (tx) =>
        tx.put(letter, { id, title: 'Same', body: id }),
      );
    }
    const { records } = await opened.call.store.list(letter);
    expect(records.map(({ path }) => path)).toEqual([
      'letters/same-2.md',
      'letters/same-3.md',
      'letters/same.md',
    ]);
    expect((await opened.call.store.get(letter, '3'))?.value.body).toBe('3');
  });
});

describe('reading sees', () => {
  test('every edit, addition, removal and renaming by hand at once', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    for (const key of ['a', 'b', 'c']) await add(opened, key);
    expect(await keys(opened)).toEqual(['a', 'b', 'c']);
    for (let round = 0; round < 20; round++) {
      repo.write('.memory-bank/notes/a.yaml', `key: a\ntags: []\ntext: t${round}\n`);
      expect((await opened.call.store.list(note)).records[0]?.value.text).toBe(`t${round}`);
      repo.write('.memory-bank/notes/a.yaml', `key: a\ntags: []\ntext: u${round}\n`);
      expect((await opened.call.store.get(note, 'a'))?.value.text).toBe(`u${round}`);
    }
    renameSync(repo.path('.memory-bank/notes/b.yaml'), repo.path('.memory-bank/notes/moved.yaml'));
    expect((await opened.call.store.get(note, 'b'))?.path).toBe('notes/moved.yaml');
    rmSync(repo.path('.memory-bank/notes/c.yaml'));
    repo.write('.memory-bank/notes/deep/d.yaml', 'key: d\ntags: []\ntext: d\n');
    expect(await keys(opened)).toEqual(['a', 'd', 'b']);
    renameSync(repo.path('.memory-bank'), join(newFolder(), 'removed'));
    expect(await keys(opened)).toEqual([]);
    await add(opened, 'new');
    expect(await keys(opened)).toEqual(['new']);
  });

  test('a checkout of another branch', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a', 'on main');
    repo.git('checkout', '-q', '-b', 'side');
    await add(opened, 'a', 'on side');
    await add(opened, 'only-side');
    repo.git('checkout', '-q', 'main');
    expect(await keys(opened)).toEqual(['a']);
    expect((await opened.call.store.get(note, 'a'))?.value.text).toBe('on main');
    repo.git('checkout', '-q', 'side');
    expect((await opened.call.store.get(note, 'a'))?.value.text).toBe('on side');
    expect(await opened.call.store.get(note, 'only-side')).toBeDefined();
  });

  test('a change in a folder that checkouts have removed and created again', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a', 'first');
    for (let round = 0; round < 5; round++) {
      expect(await keys(opened)).toEqual(['a']);
      repo.git('checkout', '-q', 'HEAD~1');
      repo.git('checkout', '-q', 'main');
      expect(await keys(opened)).toEqual(['a']);
      repo.write('.memory-bank/notes/a.yaml', `key: a\ntags: []\ntext: of ${round}\n`);
      const { records } = await opened.call.store.list(note);
      expect(records.map(({ value }) => value.text)).toEqual([`of ${round}`]);
      repo.git('checkout', '-q', '.');
    }
  });

  deep('a change of another process', async () => {
    const repo = create();
    const [one, two] = [await serve(repo.root), await serve(repo.root)];
    await add(one, 'a');
    expect(await keys(two)).toEqual(['a']);
    await add(two, 'b');
    expect(await keys(one)).toEqual(['a', 'b']);
    expect((await one.call.store.search({ query: 'b' })).hits[0]?.key).toBe('b');
  });
});

test('a watcher is notified of later changes, not of what was read before', async () => {
  const repo = create();
  const opened = await serve(repo.root);
  await add(opened, 'a');
  await add(opened, 'b');
  await keys(opened);
  const told: (readonly string[])[] = [];
  const stop = opened.workspace.watch((paths) => told.push(paths));
  await opened.call.store.list(note);
  repo.write('.memory-bank/notes/b.yaml', 'key: b\ntags: []\ntext: by hand\n');
  await vi.waitFor(() => expect(told.length).toBeGreaterThan(0), 5000);
  expect(told.flat()).toEqual(['notes/b.yaml']);
  stop();
});

describe('a watcher of a memory whose folder is missing is notified', () => {
  /** Watches a memory until its first look is over. */
  async function watch(repo: Repo) {
    const opened = await serve(repo.root);
    const told: (readonly string[])[] = [];
    opened.workspace.watch((paths) => told.push(paths));
    expect(await keys(opened)).toEqual([]);
    await sleep(200);
    expect(told).toEqual([]);
    return { opened, told };
  }

  deep('of a change of its own process', async () => {
    const { opened, told } = await watch(create());
    await add(opened, 'a');
    await vi.waitFor(() => expect(told.flat()).toContain('notes/a.yaml'), 5000);
  });

  deep('of a folder that somebody else creates', async () => {
    const repo = create();
    const { told } = await watch(repo);
    repo.write('.memory-bank/notes/b.yaml', 'key: b\ntags: []\ntext: by hand\n');
    await vi.waitFor(() => expect(told.flat()).toContain('notes/b.yaml'), 10_000);
  });
});

describe('before the clock of the file system has ticked', () => {
  /** A disk on which a path keeps the timestamps of its first stat. */
  class Untimely extends NodeFiles {
    readonly #path: string;
    #time: number | undefined;
    constructor(path: string) {
      super();
      this.#path = path;
    }
    override lstat(path: string) {
      return this.#stopped(path, super.lstat(path));
    }
    override load(path: string, limit: number) {
      const loaded = super.load(path, limit);
      return loaded && { ...loaded, stat: this.#stopped(path, loaded.stat) ?? loaded.stat };
    }
    #stopped(path: string, stat: Stat | undefined): Stat | undefined {
      if (!stat || path !== this.#path) return stat;
      this.#time ??= Date.now();
      return { ...stat, mtimeMs: this.#time, ctimeMs: this.#time };
    }
  }

  test('a search finds what was changed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    cleanUp.push(() => vi.useRealTimers());
    const repo = create();
    const path = repo.path('.memory-bank/notes/a.yaml');
    const opened = await open(repo.root, [note], { files: new Untimely(path) });
    cleanUp.push(() => opened.workspace.close());
    const found = async (query: string) => (await opened.call.store.search({ query })).total;
    repo.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: before\n');
    expect(await found('before')).toBe(1);
    repo.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: behind\n');
    expect([await found('behind'), await found('before')]).toEqual([1, 0]);
  });

  test('a listing finds what was added', async () => {
    const repo = create();
    const bank = repo.path('.memory-bank');
    repo.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: x\n');
    const view = new LiveRecords(new Folder(new Untimely(`${bank}/notes`), bank), [note]);
    const found = () => {
      view.refresh('files');
      return view.all(note).map(({ key }) => key);
    };
    expect(found()).toEqual(['a']);
    repo.write('.memory-bank/notes/b.yaml', 'key: b\ntags: []\ntext: x\n');
    await sleep(50);
    expect(found()).toEqual(['a', 'b']);
  });
});

test.each([['notes'], ['notes/'], ['.memory-bank/notes/**'], ['notes/b.yaml']])(
  'a search is limited to the path %s',
  async (path) => {
    const repo = create();
    const opened = await serve(repo.root);
    repo.write('.memory-bank/notes/b.yaml', 'key: same\ntags: []\ntext: said in b\n');
    const find = (path: string) => opened.call.store.search({ query: 'said', path });
    expect(await find(path)).toMatchObject({ total: 1 });
    expect(await find('letters')).toMatchObject({ total: 0 });
  },
);

test('a search finds the record that counts among several files of the same key', async () => {
  const repo = create();
  const opened = await serve(repo.root);
  const found = async () => {
    const { hits } = await opened.call.store.search({ query: 'said' });
    return hits.map(({ path }) => path);
  };
  const file = (name: string) => `.memory-bank/notes/${name}.yaml`;
  repo.write(file('b'), 'key: same\ntags: []\ntext: said in b\n');
  repo.write(file('c'), 'key: same\ntags: []\ntext: said in c\n');
  expect(await found()).toEqual(['notes/b.yaml']);
  repo.write(file('a'), 'key: same\ntags: []\ntext: said in a\n');
  expect(await found()).toEqual(['notes/a.yaml']);
  rmSync(repo.path(file('a')));
  expect(await found()).toEqual(['notes/b.yaml']);
  rmSync(repo.path(file('b')));
  expect(await found()).toEqual(['notes/c.yaml']);
  repo.write(file('b'), 'key: other\ntags: []\ntext: said in b\n');
  expect(await found()).toEqual(['notes/b.yaml', 'notes/c.yaml']);
});

deep.each([
  'prices 2',
  'prices (1)',
  "prices (Ann's conflicted copy)",
  'Copy of prices',
  'prices - Copy',
  'a name of a person',
])('the file that git has counts, not its copy %j', async (copy) => {
  const repo = create();
  const opened = await serve(repo.root);
  await add(opened, 'prices');
  const path = `notes/${copy}.yaml`;
  repo.write(`.memory-bank/${path}`, 'key: prices\ntags: []\ntext: text of long ago\n');
  const { store } = opened.call;
  const seen = async () => {
    const { records, damaged } = await store.list(note);
    const { hits } = await store.search({ query: 'text' });
    return {
      listed: records.map((one) => one.path),
      found: hits.map((one) => one.path),
      read: (await store.get(note, 'prices'))?.path,
      damaged: damaged.map(({ error }) => error.text),
    };
  };
  const first = {
    listed: ['notes/prices.yaml'],
    found: ['notes/prices.yaml'],
    read: 'notes/prices.yaml',
    damaged: [
      expect.stringMatching(
        /has the same key as notes\/prices\.yaml.* Only notes\/prices\.yaml counts\./,
      ),
    ],
  };
  expect(await seen()).toEqual(first);
  if (copy !== 'a name of a person') {
    expect((await seen()).damaged[0]).toContain('by its name it is a copy');
  }
  // A write reaches the record that is shown.
  await store.change({ subject: 'change prices' }, (draft) =>
    draft.put(note, { key: 'prices', tags: [], text: 'text of today' }),
  );
  expect(repo.read('.memory-bank/notes/prices.yaml')).toContain('text of today');
  expect(await seen()).toEqual(first);
  if (copy !== 'a name of a person') {
    // Among two that git has, or does not have, the copy loses as well.
    repo.git('add', '.');
    repo.write('.memory-bank/notes/touch.yaml', 'key: touch\ntags: []\ntext: other\n');
    expect(await seen()).toMatchObject({ read: 'notes/prices.yaml', damaged: first.damaged });
  }
});

deep(
  'keys are listed also where the values are too large for one list',
  async () => {
    const repo = create();
    writeLargeLetters(repo);
    const opened = await open(repo.root, [letter]);
    cleanUp.push(() => opened.workspace.close());
    expect((await opened.call.store.list(letter)).damaged.length).toBeGreaterThan(0);
    const { keys, damaged } = await opened.call.store.keys(letter);
    expect(keys).toEqual(Array.from({ length: 70 }, (_, i) => `l${i}`).sort());
    expect(damaged).toEqual([]);
  },
  60_000,
);

describe('a damaged file', () => {
  test('fails alone and by name, and is never overwritten', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'good');
    repo.write('.memory-bank/notes/bad.yaml', 'key: [\n');
    repo.write('.memory-bank/notes/merge.yaml', '<<<<<<< a\nkey: x\n=======\nkey: y\n>>>>>>> b\n');
    repo.write('.memory-bank/notes/twin.yaml', 'key: good\ntags: []\ntext: twin\n');
    repo.write(
      '.memory-bank/notes/latin.yaml',
      Buffer.from('key: caf\xe9\ntags: []\ntext: x\n', 'latin1'),
    );
    repo.write('.memory-bank/notes/other-kind.yaml', 'key: other-kind\ntags: none\ntext: x\n');
    const listing = await opened.call.store.list(note);
    expect(listing.records.map(({ key }) => key)).toEqual(['good']);
    expect(listing.damaged.map(({ path, error }) => [path, error.code])).toEqual([
      ['notes/bad.yaml', 'damaged'],
      ['notes/latin.yaml', 'damaged'],
      ['notes/merge.yaml', 'conflict'],
      ['notes/other-kind.yaml', 'damaged'],
      ['notes/twin.yaml', 'conflict'],
    ]);
    await expect(opened.call.store.get(note, 'bad')).rejects.toMatchObject({ code: 'damaged' });
    await expect(add(opened, 'bad')).rejects.toMatchObject({ code: 'damaged' });
    expect(repo.read('.memory-bank/notes/bad.yaml')).toBe('key: [\n');
    await expect(add(opened, 'other-kind')).rejects.toMatchObject({ code: 'damaged' });
    const removal = opened.call.store.change({ subject: 'x' }, (tx) =>
      tx.remove(note, 'other-kind'),
    );
    await expect(removal).rejects.toMatchObject({ code: 'damaged' });
    const afterListing = opened.call.store.change({ subject: 'x' }, async (tx) => {
      await tx.list(note);
      await tx.remove(note, 'other-kind');
    });
    await expect(afterListing).rejects.toMatchObject({ code: 'damaged' });
    expect(repo.read('.memory-bank/notes/other-kind.yaml')).toContain('tags: none\n');
    mkdirSync(repo.path('.memory-bank/notes/folder.yaml'));
    await expect(add(opened, 'folder')).rejects.toMatchObject({ code: 'damaged' });
    await add(opened, 'other');
  });

  linked('that is a link fails alone and by name, and is never overwritten', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'good');
    symlinkSync('/etc/passwd', repo.path('.memory-bank/notes/link.yaml'));
    const { records, damaged } = await opened.call.store.list(note);
    expect(records.map(({ key }) => key)).toEqual(['good']);
    expect(damaged).toMatchObject([{ path: 'notes/link.yaml', error: { code: 'damaged' } }]);
    await expect(add(opened, 'link')).rejects.toMatchObject({ code: 'damaged' });
    await add(opened, 'other');
  });

  test('a memory of a later format is read, and not written', async () => {
    const repo = create();
    await add(await serve(repo.root), 'a');
    const settings = repo.read('.memory-bank/config.yaml');
    const later = settings.replace('format: 1', 'format: 99\nreview: { by: two }\nrequires: 9.1.0');
    repo.write('.memory-bank/config.yaml', later);
    repo.git('commit', '-q', '-am', 'A later program');
    const before = [repo.git('rev-parse', 'HEAD'), repo.status()];
    const opened = await serve(repo.root);
    expect(await keys(opened)).toEqual(['a']);
    const refusal = {
      code: 'unsupported',
      message: expect.stringMatching(
        /^Writing to this memory needs memory-bank 9\.1\.0 or later: /,
      ),
    };
    await expect(add(opened, 'b')).rejects.toMatchObject(refusal);
    await expect(opened.call.project.initialize()).resolves.toBeDefined();
    const merge = opened.call.history.restore('notes/a.yaml', 'HEAD', { removes: true });
    await expect(merge).rejects.toMatchObject(refusal);
    expect([repo.git('rev-parse', 'HEAD'), repo.status()]).toEqual(before);
    expect(repo.read('.memory-bank/config.yaml')).toBe(later);
    expect((await opened.call.project.info()).readOnly).toContain('9.1.0');
  });

  test('a search knows the synonyms of the settings as they are now', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a', 'The Kranplan is checked each morning.');
    const path = '.memory-bank/config.yaml';
    const settings = repo.read(path);
    const found = async (query: string) => {
      const { hits } = await opened.call.store.search({ query });
      return hits.map(({ key }) => key);
    };
    expect(await found('crane')).toEqual([]);
    repo.write(path, `${settings}synonyms:\n  - [crane, Kranplan]\n`);
    expect(await found('crane')).toEqual(['a']);
    repo.write(path, `${settings}synonyms:\n  - [hoist, Kranplan]\n`);
    expect(await found('crane')).toEqual([]);
    expect(await found('hoist')).toEqual(['a']);
  });

  test('synonyms have to be groups of words', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    const path = '.memory-bank/config.yaml';
    const settings = repo.read(path);
    for (const [synonyms, message] of [
      ['[[crane plan, Kranplan]]', /synonyms.*one word of letters and digits/],
      ['[[crane]]', /synonyms/],
      ['[crane, Kranplan]', /synonyms/],
      ["[[crane, '']]", /synonyms/],
      [`[[${Array.from({ length: 21 }, (_, at) => `w${at}`).join(', ')}]]`, /synonyms/],
      [`[${'[a, b], '.repeat(201)}]`, /synonyms/],
    ] as const) {
      repo.write(path, `${settings}synonyms: ${synonyms}\n`);
      const refusal = { code: 'damaged', message: expect.stringMatching(message) };
      await expect(add(opened, 'b')).rejects.toMatchObject(refusal);
    }
    expect(await keys(opened)).toEqual(['a']);
  });

  test('commits are signed off where the settings or git ask for it', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    const signOff = () =>
      repo.git('log', '-1', '--format=%(trailers:key=Signed-off-by,valueonly)').trim();
    await add(opened, 'a');
    expect(signOff()).toBe('');
    repo.git('config', 'format.signOff', 'true');
    await add(opened, 'b');
    expect(signOff()).toBe('Ada Lovelace <ada@example.org>');
    repo.git('config', '--unset', 'format.signOff');
    const path = '.memory-bank/config.yaml';
    repo.write(path, `${repo.read(path)}sign_off: true\n`);
    await add(opened, 'c');
    expect(signOff()).toBe('Ada Lovelace <ada@example.org>');
    // The other trailers stay in the same paragraph.
    expect(repo.git('log', '-1', '--format=%(trailers:only)')).toMatch(
      /^Memory-Tool: .*\n(?:Memory-.*\n)+Signed-off-by: /,
    );
    // An edit by hand that is committed first is signed off as well.
    repo.write('.memory-bank/notes/c.yaml', 'key: c\ntags: []\ntext: by hand\n');
    await opened.call.store.change({ subject: 'change c' }, (draft) =>
      draft.put(note, { key: 'c', tags: [], text: 'again' }),
    );
    const last = repo.git('log', '-2', '--format=%(trailers:key=Signed-off-by)').match(/Ada/g);
    expect(last).toHaveLength(2);
  });

  test('a setting that restricts raises the format with the next change', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    const settings = repo.read('.memory-bank/config.yaml');
    repo.write('.memory-bank/config.yaml', `${settings}# by hand\nreview: required\n`);
    repo.git('commit', '-q', '-am', 'Require reviews');
    await add(opened, 'b');
    expect(repo.git('show', '--name-only', '--format=%s', 'HEAD').trim().split('\n')).toEqual([
      'memory: add b',
      '',
      '.memory-bank/config.yaml',
      '.memory-bank/notes/b.yaml',
    ]);
    const raised = repo.read('.memory-bank/config.yaml');
    expect(raised).toMatch(/^format: 2\nrequires: "1\.1\.0"\n/m);
    expect(raised).toContain('# by hand\nreview: required\n');
    await add(opened, 'c');
    expect(repo.read('.memory-bank/config.yaml')).toBe(raised);
    expect(repo.status()).toEqual([]);
  });

  test.each(['.memory-bank', '.memory-bank/notes'])(
    'a repository in %s is refused by name',
    async (folder) => {
      const repo = create();
      mkdirSync(repo.path(folder), { recursive: true });
      repo.gitWith({ cwd: repo.path(folder) }, 'init', '-q');
      const before = [repo.git('rev-parse', 'HEAD'), repo.status()];
      const opened = await serve(repo.root);
      await expect(add(opened, 'a')).rejects.toMatchObject({
        code: 'cannot_create',
        message: expect.stringContaining(`${repo.path(folder)} is a repository of its own`),
      });
      expect([repo.git('rev-parse', 'HEAD'), repo.status()]).toEqual(before);
      rmSync(repo.path(`${folder}/.git`), { recursive: true });
      await add(opened, 'a');
    },
  );

  linked('a memory folder that is a link is refused', async () => {
    const repo = create();
    mkdirSync(repo.path('elsewhere'));
    symlinkSync('elsewhere', repo.path('.memory-bank'));
    const served = serve(repo.root).then((opened) => add(opened, 'a'));
    await expect(served).rejects.toMatchObject({ code: 'damaged' });
  });
});

describe('modes', () => {
  test('apply to reading, listing, searching and writing', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'secret');
    await add(opened, 'open');
    repo.write(
      '.memory-bank/rules/narrow.yaml',
      'mode: narrow\ninstructions:\n  general: [x]\n  memory_bank:\n    files_to_read: [notes/open.yaml]\n    files_to_update: []\n',
    );
    await opened.call.modes.switch('narrow');
    expect(await keys(opened)).toEqual(['open']);
    expect((await opened.call.store.search({ query: 'text' })).hits.map(({ key }) => key)).toEqual([
      'open',
    ]);
    await expect(opened.call.store.get(note, 'secret')).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(add(opened, 'open', 'changed')).rejects.toMatchObject({ code: 'forbidden' });
    await opened.call.modes.switch(null);
    await add(opened, 'open', 'changed');
  });
});

describe('project facts', () => {
  test('report how far the code has moved since a file of the memory was changed', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    const change = await opened.call.project.lastChange('notes/a.yaml');
    expect(change?.oid).toBe(repo.git('rev-parse', 'HEAD').trim());
    repo.write('src/x.ts', '1');
    repo.git('add', 'src');
    repo.git('commit', '-qm', 'code');
    await add(opened, 'b');
    expect(await opened.call.project.drift(change?.oid ?? '', 10)).toEqual({
      commits: 1,
      files: ['src/x.ts'],
      truncated: false,
    });
    expect((await opened.call.project.lastChange('notes/a.yaml'))?.oid).toBe(change?.oid);
    expect((await opened.call.project.head()).branch).toBe('main');
  });

  test('adopt the id of an earlier program and keep state outside the commits', async () => {
    const repo = create();
    repo.write('.infinity/project_id', '0b0f4b1e-52b5-4e0e-9d0d-0f6b1f6a9a02');
    const opened = await serve(repo.root);
    expect(await opened.call.project.initialize()).toBe('0b0f4b1e-52b5-4e0e-9d0d-0f6b1f6a9a02');
    expect(await opened.call.project.initialize()).toBe('0b0f4b1e-52b5-4e0e-9d0d-0f6b1f6a9a02');
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('2');
    const left = ['aaaa', 'bbbb'].map((id) => repo.path(`.git/memory-bank/state.json.${id}.tmp`));
    for (const path of left) writeFileSync(path, 'of a process that was killed');
    const hours = Date.now() / 1000 - 7200;
    utimesSync(left[0] ?? '', hours, hours);
    expect(await opened.call.store.local.set('used', { at: 1 })).toBe(true);
    expect(left.map((path) => existsSync(path))).toEqual([false, true]);
    const again = await serve(repo.root);
    expect(await again.call.store.local.get('used')).toEqual({ at: 1 });
    expect(repo.status()).toEqual(['?? .infinity/project_id']);
  });

  test('report a memory that a person has created', async () => {
    const repo = create();
    repo.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: t\n');
    const { project } = (await serve(repo.root)).call;
    expect(await project.info()).toMatchObject({ initialized: true, projectId: undefined });
  });

  test('report a project whose earlier id is invalid, and refuse to create a memory with it', async () => {
    const repo = create();
    repo.write('.infinity/project_id', 'no id');
    const { project } = (await serve(repo.root)).call;
    expect(await project.info()).toMatchObject({ initialized: false, projectId: undefined });
    await expect(project.initialize()).rejects.toMatchObject({
      code: 'damaged',
      text: '.infinity/project_id does not contain a UUID. Fix or remove that file; it was not changed.',
    });
    expect(repo.read('.infinity/project_id')).toBe('no id');
  });

  test.each([
    ['mkdir', '.memory-bank', 'EACCES', 'cannot_create'],
    ['mkdir', '.memory-bank', 'EROFS', 'cannot_create'],
    ['mkdir', '.memory-bank', 'ENOSPC', 'storage'],
    ['mkdir', '.git/memory-bank', 'EACCES', 'storage'],
    ['rename', '.memory-bank/config.yaml', 'EPERM', 'storage'],
  ])('report by error code what prevents %s %s: %s', async (operation, path, errno, code) => {
    const repo = create();
    const files = new FaultFiles();
    const { workspace, call } = await open(repo.root, [note], { files });
    files.plan = () => {
      const due = files.log.at(-1)?.startsWith(operation) && files.log.at(-1)?.endsWith(`/${path}`);
      return due ? { kind: 'error', code: errno } : undefined;
    };
    await expect(call.project.initialize()).rejects.toMatchObject({ code, data: { errno } });
    files.plan = () => undefined;
    await workspace.close();
    expect(existsSync(repo.path('.memory-bank'))).toBe(false);
  });

  test('refuse files with two different project ids', async () => {
    const repo = create();
    const [id, other] = ['a', 'b'].map((digit) => `0b0f4b1e-52b5-4e0e-9d0d-0f6b1f6a9a0${digit}`);
    const memories = (project_id = '') => JSON.stringify({ project_id, memories: [] });
    repo.write('.infinity/project_id', `${id}`);
    repo.write('.infinity/memories.json', memories(other));
    const { project } = (await serve(repo.root)).call;
    await expect(project.initialize()).rejects.toMatchObject({
      code: 'damaged',
      text: `.infinity/project_id says project ${id}, but .infinity/memories.json says ${other}. Fix or remove the wrong one; neither was changed.`,
    });
    expect(await project.info()).toMatchObject({ initialized: false });
    repo.write('.infinity/memories.json', memories(id?.toUpperCase()));
    expect(await project.initialize()).toBe(id);
    repo.write('.infinity/memories.json', 'no JSON');
    repo.write('.infinity/project_id', `${other}\n`);
    await expect(project.initialize()).rejects.toMatchObject({
      code: 'damaged',
      text: expect.stringMatching(`project_id says project ${other}, but config.yaml says ${id}`),
    });
    expect(await project.info()).toMatchObject({ projectId: id });
  });
});

test('the server needs no git program', async () => {
  const repo = create();
  const path = process.env.PATH;
  process.env.PATH = '/nonexistent';
  try {
    const opened = await serve(repo.root);
    await add(opened, 'a');
    expect(() => execFileSync('git', ['--version'])).toThrow();
  } finally {
    process.env.PATH = path;
  }
  expect(repo.fsck()).toBe('');
});
