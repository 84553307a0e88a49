import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { Repository } from '../../src/git/commit/repository.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { ProcessLock } from '../../src/git/locks/process-lock.ts';
import { objectId } from '../../src/git/objects/object.ts';
import { findWorkTree } from '../../src/git/repository/discover.ts';
import { bury, litter, serve } from '../faults/place.ts';
import { deep } from '../support/depth.ts';
import { FaultFiles, logLine, reading } from '../support/fault-files.ts';
import { inFiles } from '../support/in-files.ts';
import { note } from '../support/note.ts';
import { moving, refFile, releasing } from '../support/ref-form.ts';
import { gitEnv, objectFormat, Repo } from '../support/repo.ts';
import { create, passing } from './create.ts';

const options = {
  env: gitEnv,
  now: () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
  lockTimeout: 2000,
  calm: 0,
  warn: () => undefined,
};

function open(
  root: string,
  files: Files = new NodeFiles(),
  warn: (message: string) => void = () => undefined,
): Repository {
  const tree = findWorkTree(files, root);
  if (!tree) throw new Error('no work tree');
  return new Repository(new Disk(files, 'full'), tree, { ...options, warn });
}

function put(repository: Repository, path: string, text: string, meanwhile?: () => void) {
  return repository.commit(async () => {
    const seen = new NodeFiles().read(join(repository.tree.top, path));
    meanwhile?.();
    return { message: 'm\n', changes: [{ path, bytes: Buffer.from(text), seen }] };
  });
}

/** Kills a change right before an operation; to other processes, its process is dead. */
async function killBefore(root: string, folder: string, operation: RegExp): Promise<void> {
  const files = new FaultFiles();
  files.plan = () => (operation.test(files.log.at(-1) ?? '') ? { kind: 'kill' } : undefined);
  await expect(put(open(folder, files), 'm/a.md', 'new\n')).rejects.toThrow();
  expect(files.hit).toMatch(operation);
  bury(root);
}

test('a folder of a new repository that cannot be looked at is an error of the disk', async () => {
  const root = mkdtempSync(join(tmpdir(), 'memory-bank-test-'));
  const gitDir = join(root, '.git');
  const files = new FaultFiles();
  files.plan = (_, operation) =>
    operation === 'stat' ? { kind: 'error', code: 'EIO' } : undefined;
  const tree = { top: root, gitDir, commonDir: gitDir };
  const repository = new Repository(new Disk(files, 'full'), tree, options);
  await expect(repository.initialize()).rejects.toMatchObject({ code: 'storage' });
  expect(existsSync(gitDir)).toBe(false);
  rmSync(root, { recursive: true });
});

deep('a first change names the error of the disk, wherever it begins', async () => {
  const errors: unknown[] = [];
  for (let n = 1; ; n++) {
    const root = mkdtempSync(join(tmpdir(), 'memory-bank-test-'));
    const files = new FaultFiles((i) => (i === n ? { kind: 'error', code: 'EIO' } : undefined));
    const opened = await serve(root, files).catch(() => undefined);
    await opened?.call.store
      .change({ subject: 'first' }, (tx) => tx.put(note, { key: 'a', tags: [], text: 'new' }))
      .catch((error: unknown) => errors.push(error));
    await opened?.workspace.close();
    rmSync(root, { recursive: true });
    if (files.hit === undefined) break;
  }
  expect(errors.length).toBeGreaterThan(50);
  expect(errors.filter((error) => !(error instanceof MemoryError))).toEqual([]);
});

describe('the half-done change of a dead process', () => {
  test('is undone at the current path of the repository', async () => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    await killBefore(repo.root, repo.root, moving('main'));
    expect(repo.read('m/a.md')).toBe('new\n');
    const moved = passing(new Repo(`${repo.root}-moved`));
    renameSync(repo.root, moved.root);
    await open(moved.root).repair();
    expect(moved.read('m/a.md')).toBe('old\n');
    expect(moved.status()).toEqual([]);
    expect(litter(moved.root)).toEqual([]);
    expect(existsSync(repo.root)).toBe(false);
  });

  test('is undone in a linked work tree that was moved, and dropped for one that was removed', async () => {
    const repo = create();
    for (const name of ['one', 'two']) {
      repo.git('worktree', 'add', '-q', repo.path(name));
      await put(open(repo.path(name)), 'm/a.md', 'old\n');
    }
    await killBefore(repo.root, repo.path('one'), moving('one'));
    repo.git('worktree', 'move', '-f', repo.path('one'), repo.path('three'));
    await open(repo.root).repair();
    expect(repo.gitWith({ cwd: repo.path('three') }, 'status', '--porcelain')).toBe('');
    await killBefore(repo.root, repo.path('two'), moving('two'));
    repo.git('worktree', 'remove', '-f', repo.path('two'));
    await open(repo.root).repair();
    expect(existsSync(repo.path('two'))).toBe(false);
    expect(litter(repo.root)).toEqual([]);
  });

  test('is finished in the index, also if a person had edited the file before', async () => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    repo.write('m/a.md', 'by hand\n');
    await loseIndex(repo);
    await open(repo.root).repair();
    expect(repo.git('log', '-1', '--format=%s').trim()).toBe('m');
    expect(repo.status()).toEqual([]);
  });

  test('does not hide a later edit of the file', async () => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    await loseIndex(repo);
    repo.write('m/a.md', 'later\n');
    await open(repo.root).repair();
    expect(repo.status()).toEqual([' M m/a.md']);
  });

  test('is undone in the index, which keeps what a person staged later', async () => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    await killBefore(repo.root, repo.root, moving('main'));
    expect(repo.git('show', ':m/a.md')).toBe('new\n');
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    expect(() => repo.git('commit', '-q', '-m', 'by hand')).toThrow();
    await open(repo.root).repair();
    expect(repo.status()).toEqual(['A  staged.txt']);
    expect(repo.git('show', ':m/a.md')).toBe('old\n');
    expect(litter(repo.root)).toEqual([]);
  });

  /** Kills a change after its commit point; a power cut has lost the rename of the index. */
  async function loseIndex(repo: Repo): Promise<void> {
    const index = readFileSync(repo.path('.git/index'));
    await killBefore(repo.root, repo.root, releasing);
    writeFileSync(repo.path('.git/index'), index);
  }
});

describe('between the renames of the index and of the ref', () => {
  const staged = 'staged.txt';
  function createStaged(): Repo {
    const repo = create();
    repo.write(staged, 'staged\n');
    repo.git('add', staged);
    return repo;
  }

  test.each([false, true])(
    'a failure restores the index (operation done: %s)',
    async (performed) => {
      const repo = createStaged();
      await put(open(repo.root), 'm/a.md', 'old\n');
      const target = performed ? /^rename .*\/\.git\/index$/ : moving('main');
      const files = new FaultFiles();
      files.plan = () => {
        return files.hit === undefined && target.test(files.log.at(-1) ?? '')
          ? { kind: 'error', code: 'EIO', performed }
          : undefined;
      };
      await expect(put(open(repo.root, files), 'm/a.md', 'new\n')).rejects.toThrow();
      expect(files.hit).toMatch(target);
      expect(repo.read('m/a.md')).toBe('old\n');
      expect(repo.status()).toEqual(['A  staged.txt']);
      expect(litter(repo.root)).toEqual([]);
      await put(open(repo.root), 'm/a.md', 'later\n');
      expect(repo.status()).toEqual(['A  staged.txt']);
    },
  );
});

deep('a squash that is killed at any step is done completely or not at all', async () => {
  const repo = create();
  const onto = repo.git('rev-parse', 'HEAD').trim();
  for (const text of ['1', '2']) await put(open(repo.root), 'm/a.md', text);
  const tip = repo.git('rev-parse', 'HEAD').trim();
  repo.write('staged.txt', 'staged\n');
  repo.git('add', 'staged.txt');
  repo.write('README.md', 'dirty\n');
  const status = repo.status();
  const author = { name: 'Ada', email: 'ada@example.org', seconds: 1_700_000_000, offset: 0 };
  const joined = { files: tip, folder: tip, author, message: 'one\n' };
  const squash = { onto, folder: 'm', rebuilt: [joined], log: 'squash' };
  let squashed = 0;
  for (let n = 1; ; n++) {
    const files = new FaultFiles((_, operation) => {
      return files.traces === n && !reading.has(operation) ? { kind: 'kill' } : undefined;
    });
    await open(repo.root, files)
      .commit(async () => squash)
      .catch(() => undefined);
    bury(repo.root);
    // A mutation without a change also cleans up.
    await open(repo.root).commit(async () => undefined);
    const head = repo.git('rev-parse', 'HEAD').trim();
    if (head !== tip) {
      squashed += 1;
      expect(repo.git('log', '-1', '--format=%s %P').trim()).toBe(`one ${onto}`);
    }
    expect(repo.git('log', '-g', '-1', '--format=%H').trim(), files.hit).toBe(head);
    expect(repo.status(), files.hit).toEqual(status);
    expect(repo.fsck(), files.hit).toBe('');
    expect(litter(repo.root, false), files.hit).toEqual([]);
    repo.git('reset', '-q', '--soft', tip);
    if (files.hit === undefined) break;
  }
  expect(squashed).toBeGreaterThan(1);
});

describe('a work tree on another file system than its git directory', () => {
  const { dev } = statSync(tmpdir());
  // On Windows, a path without a drive is not one of ours.
  const other = ['/dev/shm', '/tmp'].find(
    (path) => sep === '/' && existsSync(path) && statSync(path).dev !== dev,
  );

  test.skipIf(other === undefined)('is written to like any other', async () => {
    const repo = create();
    const top = mkdtempSync(join(other ?? '', 'memory-bank-'));
    try {
      repo.git('worktree', 'add', '-q', '-b', 'other', top);
      await put(open(top), 'm/a.md', 'text\n');
      expect(repo.git('show', 'other:m/a.md')).toBe('text\n');
      expect(repo.gitWith({ cwd: top }, 'status', '--porcelain')).toBe('');
      expect([...litter(top), ...litter(repo.root)]).toEqual([]);
    } finally {
      rmSync(top, { recursive: true });
    }
  });

  deep('has all of a change or none of it after a server is killed at any step', async () => {
    const repo = create();
    const outcomes = new Set<string>();
    for (let n = 1, killed = true; killed; n++) {
      const before = repo.git('rev-parse', 'HEAD').trim();
      killed = false;
      let crossed = false;
      const files = new FaultFiles((_, operation) => {
        if (files.traces === n && !reading.has(operation)) {
          killed = true;
          return { kind: 'kill' };
        }
        if (crossed || !/^rename .*\/m\/a\.md$/.test(files.log.at(-1) ?? '')) return undefined;
        crossed = true;
        return { kind: 'error', code: 'EXDEV' };
      });
      await put(open(repo.root, files), 'm/a.md', `${n}\n`).catch(() => undefined);
      bury(repo.root);
      await open(repo.root).commit(async () => undefined);
      const outcome = repo.git('rev-parse', 'HEAD').trim() === before ? 'nothing' : 'all';
      outcomes.add(`${outcome}${crossed ? ', beside its place' : ''}`);
      if (outcome === 'all') expect(repo.read('m/a.md')).toBe(`${n}\n`);
      expect(repo.status(), files.hit).toEqual([]);
      expect(repo.fsck(), files.hit).toBe('');
      expect(litter(repo.root, false), files.hit).toEqual([]);
    }
    expect([...outcomes]).toEqual([
      'nothing',
      'nothing, beside its place',
      'all, beside its place',
    ]);
  });
});

describe('a journal that was not written by a server', () => {
  type Edit = (journal: Record<string, unknown>, outside: string) => unknown;
  const blob = (text: string) => objectId('blob', Buffer.from(text), objectFormat);
  const file = (path: string, after: string, before?: string) => {
    return { files: [{ path, after, before, mode: 0o100644 }] };
  };
  const damage: [string, Edit][] = [
    ['is no JSON', () => '{"token":}'],
    ['is a text', () => '"}'],
    ['says nothing', () => ({})],
    ['lacks its files', (journal) => ({ ...journal, files: undefined })],
    ['has files of another kind', (journal) => ({ ...journal, files: [null, 5] })],
    ['names no commit', (journal) => ({ ...journal, commit: 'main' })],
    ['names a file outside', (journal, out) => ({ ...journal, ...file(out, blob('outside')) })],
    ['names a file of git', (journal) => ({ ...journal, ...file('.GIT/note', blob('outside')) })],
    ['names a log elsewhere', (journal) => log(journal, 'logs/../note')],
    ['names a file of git as a log', (journal) => log(journal, 'note')],
    ['names another git directory', (journal) => ({ ...journal, gitDir: '../../other/.git' })],
    ['names a folder outside', (journal) => ({ ...journal, folders: ['../empty'] })],
    ['has another size', (journal) => log(journal, 'logs/HEAD', -1)],
  ];
  function journalIn(folder: string): string {
    const isUnderWay = (name: string) =>
      name.startsWith('journal-') && statSync(join(folder, name)).size > 0;
    return readdirSync(folder).find(isUnderWay) ?? '';
  }
  function log(journal: object, path: string, size = 0): object {
    return { ...journal, logs: [{ path, size }], logLines: 'outside' };
  }

  test.each(damage)('that %s is put aside and not executed', async (_, edit) => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    await killBefore(repo.root, repo.root, moving('main'));
    const name = journalIn(repo.path('.git/memory-bank'));
    const outside = `${repo.root}-outside`;
    for (const path of [outside, repo.path('.git/note')]) writeFileSync(path, 'outside');
    const edited = edit(
      JSON.parse(repo.read(`.git/memory-bank/${name}`)),
      `../${basename(outside)}`,
    );
    const text = typeof edited === 'string' ? edited : JSON.stringify(edited);
    repo.write(`.git/memory-bank/${name}`, `${text}\n`);
    const warnings: string[] = [];
    await open(repo.root, new NodeFiles(), (message) => warnings.push(message)).repair();
    expect(warnings).toEqual([expect.stringContaining(`${name}.damaged`)]);
    expect(litter(repo.root)).toEqual([`.git/memory-bank/${name}.damaged`]);
    for (const path of [outside, repo.path('.git/note')]) {
      expect(readFileSync(path, 'utf8')).toBe('outside');
    }
    rmSync(outside);
    expect(repo.status()).toEqual(['M  m/a.md']);
    await put(open(repo.root), 'm/a.md', 'later\n');
    expect(repo.git('show', 'HEAD~1:m/a.md')).toBe('new\n');
    expect(repo.status()).toEqual([]);
    expect(repo.fsck()).toBe('');
  });

  test('that names a missing blob changes no file', async () => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    await killBefore(repo.root, repo.root, moving('main'));
    const name = journalIn(repo.path('.git/memory-bank'));
    const text = repo.read(`.git/memory-bank/${name}`);
    repo.write(`.git/memory-bank/${name}`, text.replace(blob('old\n'), blob('nowhere')));
    const warnings: string[] = [];
    await open(repo.root, new NodeFiles(), (message) => warnings.push(message)).repair();
    expect(warnings).toEqual([expect.stringMatching(/m[\\/]a\.md was not restored/)]);
    expect(repo.status()).toEqual([' M m/a.md']);
    await put(open(repo.root), 'm/a.md', 'later\n');
    expect(litter(repo.root)).toEqual([]);
  });
});

describe('the repository changes', () => {
  test('while a change is planned: it is planned again', async () => {
    const repo = create();
    let times = 0;
    await put(open(repo.root), 'm/a.md', 'text\n', () => {
      times += 1;
      if (times === 1) repo.git('update-index', '--force-write-index');
      repo.write('README.md', `${times}`);
      if (times === 1) repo.git('add', 'README.md');
    });
    expect(times).toBe(2);
  });

  test('while a file is half written: it is read again', async () => {
    const repo = create();
    let times = 0;
    await put(open(repo.root), 'm/a.md', 'text\n', () => {
      times += 1;
      if (times > 1) return;
      repo.write('staged.txt', 'a checkout at work');
      repo.git('add', 'staged.txt');
      throw new MemoryError('damaged', 'an empty file');
    });
    expect(times).toBe(2);
  });

  test('when a person saves a file at the last moment: that edit is committed first', async () => {
    const repo = create();
    await put(open(repo.root), 'm/a.md', 'old\n');
    const files = new FaultFiles();
    let saved = false;
    files.plan = () => {
      // After that, the file is compared once more.
      if (!saved && /^link .*\/index\.lock$/.test(files.log.at(-1) ?? '')) {
        saved = true;
        repo.write('m/a.md', 'by hand\n');
      }
      return undefined;
    };
    await put(open(repo.root, files), 'm/a.md', 'new\n');
    expect(saved).toBe(true);
    expect(repo.git('show', 'HEAD~1:m/a.md')).toBe('by hand\n');
    expect(repo.status()).toEqual([]);
  });

  inFiles('when git packs the last ref of a folder: the folder is created again', async () => {
    const repo = create();
    repo.git('checkout', '-q', '-b', 'topic/x');
    repo.git('pack-refs', '--all');
    const folder = repo.path('.git/refs/heads/topic');
    const files = new FaultFiles();
    let removed = 0;
    files.plan = () => {
      if (removed < 3 && files.log.at(-1) === logLine('link', join(folder, 'x.lock'))) {
        removed += 1;
        rmdirSync(folder);
      }
      return undefined;
    };
    await put(open(repo.root, files), 'm/a.md', 'text\n');
    expect(removed).toBe(3);
    expect(repo.git('log', '-1', '--format=%s', 'topic/x').trim()).toBe('m');
  });

  /** Files with which a person removes a lock, if there is one, and takes it at a moment. */
  function takenAt(moment: RegExp, repo: Repo, lock: string): FaultFiles {
    const files = new FaultFiles();
    let removed = false;
    files.plan = () => {
      if (!removed && moment.test(files.log.at(-1) ?? '')) {
        removed = true;
        repo.takeAway(lock);
        repo.write(lock, 'his');
      }
      return undefined;
    };
    return files;
  }

  deep('when a person takes the lock of the branch, not even the index is replaced', async () => {
    const repo = create();
    const index = statSync(repo.path('.git/index')).ino;
    const lock = `${refFile('main')}.lock`;
    // Our lock of the index is filled through our own link to it.
    const files = takenAt(/^write .*\/index-(?!mark)/, repo, lock);
    const error = await put(open(repo.root, files), 'm/a.md', 'text\n').catch((thrown) => thrown);
    expect(error).toBeInstanceOf(MemoryError);
    expect(repo.read(lock)).toBe('his');
    expect(files.log.filter((line) => /^(?:rename|replace) .*\/index$/.test(line))).toEqual([]);
    expect(statSync(repo.path('.git/index')).ino).toBe(index);
  });

  deep('when a person removes a lock and takes it: that lock is left alone', async () => {
    const repo = create();
    const lock = '.git/index.lock';
    const files = takenAt(/^rename .*\/m\/a\.md$/, repo, lock);
    const error = await put(open(repo.root, files), 'm/a.md', 'text\n').catch((thrown) => thrown);
    expect(error).toBeInstanceOf(MemoryError);
    expect(repo.read(lock)).toBe('his');
    rmSync(repo.path(lock));
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('1');
    await put(open(repo.root), 'm/b.md', 'text\n');
    expect(repo.status()).toEqual([]);
  });
});

describe('a disk that fails all reads', () => {
  test('once a packed ref of ours is removed: the removal is acknowledged', async () => {
    const repo = create();
    const [ref, from] = ['refs/memory-bank/memories/m', repo.git('rev-parse', 'HEAD').trim()];
    repo.git('update-ref', ref, from);
    repo.git('pack-refs', '--all');
    const files = new FaultFiles();
    let isRemoved = false;
    files.plan = (_, operation) => {
      const fault = { kind: 'error', code: 'EIO' } as const;
      if (isRemoved && reading.has(operation)) return fault;
      isRemoved ||= /^rename .*\/(?:packed-refs|tables\.list)$/.test(files.log.at(-1) ?? '');
      return undefined;
    };
    const { direct } = open(repo.root, files);
    const swap = direct.swapOwnRef({ ref, from, to: undefined });
    await expect(swap).resolves.toBe(true);
    expect(isRemoved).toBe(true);
    expect(repo.git('for-each-ref', 'refs/memory-bank')).toBe('');
  });

  /** Starts to fail at the first operation of this kind. */
  function failFrom(operation: RegExp, lasts = true): FaultFiles {
    const files = new FaultFiles();
    files.plan = () => {
      const due = files.hit === undefined ? operation.test(files.log.at(-1) ?? '') : lasts;
      return due ? { kind: 'error', code: 'EIO' } : undefined;
    };
    return files;
  }

  test.each([
    ['the locks are to be let go', releasing],
    ['the journal is to be ended', /^truncate .*\/journal-/],
    ['it is tidied up', /^unlink .*\/memory-bank\/file0-/],
    ['the next one is let in', /^unlink .*\/memory-bank\/lock$/],
  ])('once %s: the change has happened', async (_, operation) => {
    const repo = create();
    const files = failFrom(operation);
    const made = await put(open(repo.root, files), 'm/a.md', 'text\n');
    expect(files.hit).toBeDefined();
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    bury(repo.root);
    await open(repo.root).repair();
    expect(repo.status()).toEqual([]);
  });

  test('of the configuration for a moment: nothing is committed under another name', async () => {
    const repo = create();
    const files = failFrom(/^read .*\/\.git\/config$/, false);
    await expect(put(open(repo.root, files), 'm/a.md', 'text\n')).rejects.toMatchObject({
      code: 'storage',
    });
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('1');
    expect(repo.status()).toEqual([]);
  });
});

inFiles(
  'an empty ref is not an unborn branch: nothing is committed without the lost history',
  async () => {
    const repo = create();
    const head = repo.git('rev-parse', 'HEAD').trim();
    repo.write('.git/refs/heads/main', '');
    await expect(put(open(repo.root), 'm/a.md', 'text\n')).rejects.toMatchObject({
      code: 'damaged',
    });
    repo.write('.git/refs/heads/main', `${head}\n`);
    expect(repo.git('rev-list', '--all', '--count').trim()).toBe('1');
  },
);

test('a waiter gets the lock although its own file was removed meanwhile', async () => {
  const repo = create();
  const disk = new Disk(new NodeFiles(), 'full');
  const folder = repo.path('.git/memory-bank');
  disk.makeDirectories(folder);
  const [one, other] = [new ProcessLock(disk, folder), new ProcessLock(disk, folder)];
  const first = await one.take({ limit: 1000 });
  let held = true;
  const second = other.take({ limit: 10_000 }).then((token) => {
    expect(held).toBe(false);
    return token;
  });
  while (readdirSync(folder).length < 3) await new Promise((resolve) => setImmediate(resolve));
  for (const name of readdirSync(folder)) {
    if (name.startsWith('owner-') && name !== `owner-${first.id}`) rmSync(join(folder, name));
  }
  held = false;
  one.release(first);
  other.release(await second);
  for (const lock of [one, other]) lock.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('two servers that create a repository at the same time create one', async () => {
  const repo = passing(new Repo());
  const gitDir = repo.path('.git');
  const tree = { top: repo.root, gitDir, commonDir: gitDir };
  const disk = new Disk(new NodeFiles(), 'full');
  const all = Array.from({ length: 4 }, () => new Repository(disk, tree, options).initialize());
  await Promise.all(all);
  await put(open(repo.root), 'm/a.md', 'text\n');
  expect(repo.fsck()).toBe('');
});

test('a repository that has lost its HEAD is not treated as a new one', async () => {
  const repo = create();
  rmSync(repo.path('.git/HEAD'));
  const gitDir = repo.path('.git');
  const tree = { top: repo.root, gitDir, commonDir: gitDir };
  const repository = new Repository(new Disk(new NodeFiles(), 'full'), tree, options);
  await expect(repository.initialize()).rejects.toMatchObject({ code: 'unsupported' });
});
