import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Repository } from '../../src/git/commit/repository.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { Refs } from '../../src/git/refs/refs.ts';
import { findWorkTree } from '../../src/git/repository/discover.ts';
import { bury } from '../faults/place.ts';
import { deep } from '../support/depth.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { locking, moving, refFile, refLocks } from '../support/ref-form.ts';
import { gitEnv, hasTables, type Repo } from '../support/repo.ts';
import { create } from './create.ts';

function open(repo: Pick<Repo, 'root'>, files: Files = new NodeFiles(), lockTimeout = 100) {
  const tree = findWorkTree(files, repo.root);
  if (!tree) throw new Error('no work tree');
  return new Repository(new Disk(files, 'full'), tree, {
    env: gitEnv,
    now: () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
    lockTimeout,
    calm: 0,
    warn: () => undefined,
  });
}

function put(repo: Pick<Repo, 'root'>, files?: Files, lockTimeout?: number) {
  const path = 'm/a.md';
  return open(repo, files, lockTimeout).commit(async () => {
    const seen = new NodeFiles().read(join(repo.root, path));
    return { message: 'm\n', changes: [{ path, bytes: Buffer.from('text\n'), seen }] };
  });
}

/** A disk on which an action runs once, right before an operation. */
function when(operation: RegExp, happens: () => void): FaultFiles {
  const files = new FaultFiles();
  let happened = false;
  files.plan = () => {
    if (!happened && operation.test(files.log.at(-1) ?? '')) {
      happened = true;
      happens();
    }
    return undefined;
  };
  return files;
}

const beforeTheIndex = /^link .*\/index\.lock$/;

describe('between the plan and the locks', () => {
  test('a person moves the branch: that commit stays', async () => {
    const repo = create();
    // The journal has the lengths of the reflogs and would also detect it.
    repo.git('config', 'core.logAllRefUpdates', 'false');
    rmSync(repo.path('.git/logs'), { recursive: true, force: true });
    let his = '';
    const files = when(locking, () => {
      his = repo.git('commit-tree', '-m', 'his', '-p', 'HEAD', 'HEAD^{tree}').trim();
      repo.git('update-ref', 'refs/heads/main', his);
    });
    const made = await put(repo, files);
    expect(repo.git('log', '--format=%H', 'main').trim().split('\n').slice(0, 2)).toEqual([
      made?.oid,
      his,
    ]);
  });

  test('a person commits before the change is ready: git meets no lock meanwhile', async () => {
    const repo = create();
    const files = when(/^fsync .*journal-/, () =>
      repo.git('commit', '-q', '--allow-empty', '-m', 'his'),
    );
    await put(repo, files);
    expect(repo.git('log', '--format=%s', 'main').trim().split('\n').slice(0, 2)).toEqual([
      'm',
      'his',
    ]);
    expect(files.log.filter((one) => locking.test(one))).toHaveLength(1);
  });

  test('a person checks out another branch: the change goes there', async () => {
    const repo = create();
    repo.git('branch', 'side');
    const main = repo.git('rev-parse', 'main');
    const files = when(locking, () => repo.git('symbolic-ref', 'HEAD', 'refs/heads/side'));
    expect((await put(repo, files))?.branch).toBe('side');
    expect(repo.git('rev-parse', 'main')).toBe(main);
  });

  test('a person stages a file: it stays staged', async () => {
    const repo = create();
    const files = when(beforeTheIndex, () => {
      repo.write('staged.txt', 'staged\n');
      repo.git('add', 'staged.txt');
    });
    await put(repo, files);
    expect(repo.status()).toEqual(['A  staged.txt']);
  });

  test('a merge begins: nothing is committed', async () => {
    const repo = create();
    const head = repo.git('rev-parse', 'HEAD');
    const files = when(locking, () => repo.write('.git/MERGE_HEAD', head));
    await expect(put(repo, files)).rejects.toMatchObject({ code: 'busy' });
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    rmSync(repo.path('.git/MERGE_HEAD'));
    expect(repo.status()).toEqual([]);
  });
});

describe('the lock of the index', () => {
  test('is the finished index, and under it are only looks and renames', async () => {
    const repo = create();
    repo.write('m/a.md', 'by hand\n');
    repo.git('add', 'm/a.md');
    repo.git('commit', '-q', '-m', 'by hand');
    const files = new FaultFiles();
    const locked: Buffer[] = [];
    const lock = repo.path('.git/index.lock');
    files.plan = () => {
      if (existsSync(lock)) locked.push(readFileSync(lock));
      return undefined;
    };
    await put(repo, files);
    const from = files.log.findIndex((line) => beforeTheIndex.test(line));
    const to = files.log.findIndex((line) => /^rename .*\/index$/.test(line));
    const held = files.log.slice(from + 1, to);
    expect(held.filter((line) => !/^(?:stat|read|rename) /.test(line))).toEqual([]);
    expect(held.length).toBeLessThan(10);
    const index = readFileSync(repo.path('.git/index'));
    expect(locked).toHaveLength(to - from);
    expect(locked.every((bytes) => bytes.equals(index))).toBe(true);
  });

  test('comes after those of the ref, which are free while another program holds it', async () => {
    const repo = create();
    const files = new FaultFiles();
    const lock = repo.path('.git/index.lock');
    const taken = () => refLocks('main').filter((path) => existsSync(repo.path(path)));
    const seen: string[][] = [];
    files.plan = () => {
      const last = files.log.at(-1) ?? '';
      if (seen.length === 0 && beforeTheIndex.test(last)) {
        seen.push(taken());
        repo.write('.git/index.lock', 'his');
      } else if (/^stat .*\/index\.lock$/.test(last) && existsSync(lock)) {
        if (readFileSync(lock, 'utf8') !== 'his') return undefined;
        // The first look is that of the one that met it.
        seen.push(taken());
        if (seen.length === 4) rmSync(lock);
      }
      return undefined;
    };
    const made = await put(repo, files, 10_000);
    expect(seen).toEqual([refLocks('main'), refLocks('main'), [], []]);
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(repo.status()).toEqual([]);
    expect(taken()).toEqual([]);
  });
});

test('refs that a person packs during a listing are listed', () => {
  const repo = create();
  repo.git('branch', 'side/way');
  const files = when(/^list .*\/refs\/heads$/, () => repo.git('pack-refs', '--all', '--prune'));
  const refs = new Refs(files, repo.path('.git'), repo.path('.git'));
  const found = refs.list('refs/heads/').map(({ ref }) => ref);
  expect(found).toEqual(['refs/heads/main', 'refs/heads/side/way']);
});

deep.each(['index', 'HEAD'])('after a lost race for %s, a change does not starve', async (what) => {
  const repo = create();
  const files = new FaultFiles();
  let races = 0;
  files.plan = () => {
    const last = files.log.at(-1) ?? '';
    if (!(what === 'index' ? beforeTheIndex : locking).test(last)) return undefined;
    races += 1;
    if (what === 'index') {
      repo.git('update-index', '--force-write-index');
    } else {
      const his = repo.git('commit-tree', '-m', 'his', '-p', 'HEAD', 'HEAD^{tree}').trim();
      repo.git('update-ref', 'HEAD', his);
    }
    return undefined;
  };
  expect(await put(repo, files)).toBeDefined();
  // After many lost races, the attempt that succeeds is planned under the locks.
  expect(races).toBe(16);
  expect(repo.status()).toEqual([]);
});

test('a git directory that is moved away at the last moment is not created again', async () => {
  const repo = create();
  const repository = open(repo);
  renameSync(repo.path('.git'), repo.path('away'));
  await expect(repository.commit(async () => undefined)).rejects.toMatchObject({ code: 'storage' });
  expect(existsSync(repo.path('.git'))).toBe(false);
});

test('unmerged files without a merge under way are refused', async () => {
  const repo = create();
  repo.write('README.md', 'stashed\n');
  repo.git('stash', '-q');
  repo.write('README.md', 'committed\n');
  repo.git('commit', '-qam', 'other');
  expect(() => repo.git('stash', 'pop', '-q')).toThrow();
  await expect(put(repo)).rejects.toMatchObject({ code: 'busy' });
  expect(repo.status()).toEqual(['UU README.md']);
});

test('a lock with which a person has replaced that of a dead server is kept', async () => {
  const repo = create();
  await put(repo);
  const files = new FaultFiles();
  files.plan = () => {
    return /^rename .*\/\.git\/index$/.test(files.log.at(-1) ?? '') ? { kind: 'kill' } : undefined;
  };
  repo.write('m/a.md', 'by hand\n');
  await expect(put(repo, files)).rejects.toThrow();
  bury(repo.root);
  const locks = ['.git/index.lock', ...refLocks('main')];
  for (const lock of locks) {
    rmSync(repo.path(lock));
    repo.write(lock, 'his');
  }
  await expect(put(repo)).rejects.toMatchObject({ code: 'busy' });
  for (const lock of locks) expect(repo.read(lock)).toBe('his');
});

test('locks of a person are kept when those of a dead server in a linked work tree are removed', async () => {
  const repo = create();
  repo.git('worktree', 'add', '-q', repo.path('linked'));
  const linked = { root: repo.path('linked') };
  const files = new FaultFiles();
  files.plan = () => {
    return moving('linked').test(files.log.at(-1) ?? '') ? { kind: 'kill' } : undefined;
  };
  await expect(put(linked, files)).rejects.toThrow();
  bury(repo.root);
  const his = ['.git/index.lock', ...(hasTables ? [] : refLocks('other'))];
  const dead = refLocks('linked', '.git/worktrees/linked');
  for (const lock of his) repo.write(lock, 'his');
  for (const lock of dead) expect(existsSync(repo.path(lock))).toBe(true);
  await put(linked);
  for (const lock of dead) expect(existsSync(repo.path(lock))).toBe(false);
  for (const lock of his) expect(repo.read(lock)).toBe('his');
});

test.each([
  ['index', /^rename .*\/\.git\/index$/],
  ['ref', moving('main')],
])(
  'locks that a person removes right before the rename of the %s, for a commit: the change comes after it',
  async (_, rename) => {
    const repo = create();
    const files = when(rename, () => {
      for (const lock of ['.git/index.lock', ...refLocks('main')]) repo.takeAway(lock);
      repo.git('commit', '-q', '--allow-empty', '-m', 'by hand');
    });
    const made = await put(repo, files);
    expect(repo.git('log', '--format=%s').trim().split('\n')).toEqual(['m', 'by hand', 'Begin']);
    expect(repo.git('show', `${made?.oid}:m/a.md`)).toBe('text\n');
    expect(repo.status()).toEqual([]);
  },
);

test('a lost change leaves no staged line after a person removes the locks and moves the branch', async () => {
  const repo = create();
  let his = '';
  const files = new FaultFiles();
  files.plan = () => {
    if (his !== '' || !moving('main').test(files.log.at(-1) ?? '')) return undefined;
    for (const lock of refLocks('main')) repo.takeAway(lock);
    his = repo.git('commit-tree', '-m', 'his', '-p', 'HEAD', 'HEAD^{tree}').trim();
    repo.git('update-ref', 'refs/heads/main', his);
    return { kind: 'error', code: 'EIO' };
  };
  await expect(put(repo, files)).rejects.toThrow();
  expect(repo.git('rev-parse', 'HEAD').trim()).toBe(his);
  expect(repo.status()).toEqual([]);
});

describe('a commit of a person between the two renames of a change', () => {
  test.each([
    ['index', /^rename .*\/index$/],
    ['ref', moving('main')],
  ])('right before the rename of the %s drops no record', async (_, rename) => {
    const repo = create();
    await put(repo);
    repo.write('his.txt', 'his\n');
    repo.git('add', 'his.txt');
    let failed = false;
    const files = when(rename, () => {
      try {
        repo.git('commit', '-q', '-m', 'his');
      } catch {
        failed = true;
      }
    });
    const made = await open(repo, files).commit(async () => {
      return {
        message: 'm',
        changes: [{ path: 'm/b.md', bytes: Buffer.from('b\n'), seen: undefined }],
      };
    });
    expect(files.log.filter((line) => line.startsWith('rename')).length).toBeGreaterThan(2);
    if (!failed) expect(repo.git('log', '--format=%s')).toContain('his');
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(repo.git('show', 'HEAD:m/b.md')).toBe('b\n');
    if (failed) repo.git('commit', '-q', '-m', 'his');
    const tree = repo.git('ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n');
    expect(tree).toEqual(expect.arrayContaining(['his.txt', 'm/a.md', 'm/b.md']));
    expect(repo.status()).toEqual([]);
    expect(repo.fsck()).toBe('');
  });

  test('finds the record in the index as soon as it finds the change in HEAD', async () => {
    const repo = create();
    const begin = repo.read(refFile('main'));
    const files = new FaultFiles();
    let index: string | undefined;
    files.plan = () => {
      // A commit reads the index after HEAD, and before it takes the lock of the index.
      if (repo.read(refFile('main')) !== begin) index ??= repo.git('ls-files');
      return undefined;
    };
    await put(repo, files);
    expect(index).toContain('m/a.md');
  });
});
