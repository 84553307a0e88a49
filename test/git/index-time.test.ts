import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Repository } from '../../src/git/commit/repository.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import { IndexFile } from '../../src/git/index/index-file.ts';
import { lineTime } from '../../src/git/index/index-time.ts';
import { findWorkTree } from '../../src/git/repository/discover.ts';
import { bury } from '../faults/place.ts';
import { deep, runs, sample } from '../support/depth.ts';
import { FaultFiles } from '../support/fault-files.ts';
import fc from '../support/fc.ts';
import { moving, releasing } from '../support/ref-form.ts';
import { gitEnv, objectFormat, type Repo } from '../support/repo.ts';
import { create } from './create.ts';

/** In the past, and early in a second. */
const start = 1_700_000_000;

/** A repository with its own clock: everything gets the timestamp that the test has set. */
class Project {
  readonly repo: Repo;
  /** Seconds since 1970. */
  now = start;

  constructor(version = 2) {
    this.repo = create();
    // No program can set the ctime.
    this.repo.git('config', 'core.trustctime', 'false');
    this.edit('f', 'aaa\n');
    this.edit('g', 'ggg\n');
    this.git('add', '.');
    if (version === 3) this.git('update-index', '--skip-worktree', 'g');
    else this.git('update-index', '--index-version', `${version}`);
    this.git('commit', '-qm', 'files');
  }

  get version(): number {
    return readFileSync(this.repo.path('.git/index')).readUInt32BE(4);
  }

  git(...args: string[]): string {
    const output = this.repo.git(...args);
    const index = this.repo.path('.git/index');
    // Only an index that was written has the time of the machine's clock.
    if (statSync(index).mtimeMs > (start + 1e6) * 1000) this.touch(index);
    return output;
  }

  /** Changes a file in place. */
  edit(path: string, text: string): void {
    this.repo.write(path, text);
    this.touch(this.repo.path(path));
  }

  touch(path: string): void {
    utimesSync(path, this.now, this.now);
  }

  /** A disk on which the locks and the new files of a change have the time of the clock. */
  disk(): FaultFiles {
    const files = new FaultFiles();
    files.plan = () => {
      const path = /^stat (.*\/(?:index|file\d+)-.*)$/.exec(files.log.at(-1) ?? '')?.[1];
      const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
      // A filled index has the time of its lock.
      const isFilled = path?.includes('/index-') && stat?.size !== 0;
      if (path !== undefined && stat && !isFilled) this.touch(path);
      return undefined;
    };
    return files;
  }

  open(files = this.disk()): Repository {
    const tree = findWorkTree(files, this.repo.root);
    if (!tree) throw new Error('no work tree');
    return new Repository(new Disk(files, 'relaxed'), tree, {
      env: gitEnv,
      now: () => new Date(start * 1000),
      lockTimeout: 300,
      calm: 0,
      warn: () => undefined,
    });
  }

  async put(path: string, text: string, repository = this.open()): Promise<void> {
    await repository.commit(async () => {
      const seen = new FaultFiles().read(this.repo.path(path));
      return { message: 'm\n', changes: [{ path, bytes: Buffer.from(text), seen }] };
    });
  }

  /** The output of `git status`, which does not write the index. */
  status(index = '.git/index'): string {
    const env = { GIT_INDEX_FILE: this.repo.path(index), GIT_OPTIONAL_LOCKS: '0' };
    return this.repo.gitWith({ env }, 'status', '--porcelain', '-uno');
  }

  /** The same with an index without timestamps, so that git compares every file. */
  freshStatus(): string {
    const index = '.git/fresh';
    rmSync(this.repo.path(index), { force: true });
    const env = { GIT_INDEX_FILE: this.repo.path(index) };
    const input = this.repo.git('ls-files', '-s', '-z');
    this.repo.gitWith({ env, input }, 'update-index', '-z', '--index-info');
    return this.status(index);
  }
}

describe("a person's edit of the same size in the same second as the index", () => {
  test.each(sample([2, 3, 4], 1))(
    'is seen by git after a change, index version %i',
    async (version) => {
      const project = new Project(version);
      const { repo } = project;
      expect(project.version).toBe(version);
      project.git('checkout', '-qb', 'other');
      project.edit('f', 'zzz\n');
      project.git('commit', '-qam', 'other');
      project.now += 10;
      project.git('checkout', '-q', 'main');
      project.touch(repo.path('f'));
      project.git('update-index', '--force-write-index', '--refresh');
      project.edit('f', 'MY!\n');
      expect(project.status()).toBe(' M f\n');
      project.now += 1.2;
      await project.put('m/a.md', '1\n');
      expect(project.version).toBe(version);
      expect(project.status()).toBe(' M f\n');
      project.now += 1.2;
      await project.put('m/a.md', '2\n');
      expect(project.status()).toBe(' M f\n');
      expect(() => repo.git('checkout', '-q', 'other')).toThrow(/would be overwritten/);
      expect(repo.read('f')).toBe('MY!\n');
    },
  );

  test('is seen in a sparse index and in a split one', async () => {
    const project = new Project();
    const { repo } = project;
    project.edit('far/away', 'far\n');
    project.edit('m/old.md', 'old\n');
    project.git('add', '.');
    project.git('commit', '-qm', 'folders');
    project.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'm');
    expect(repo.git('ls-files', '--sparse')).toContain('far/\n');
    project.now += 10;
    project.edit('f', 'bbb\n');
    project.git('commit', '-qam', 'again');
    project.edit('f', 'MY!\n');
    project.now += 2;
    await project.put('m/a.md', '1\n');
    expect(project.status()).toBe(' M f\n');
    project.git('sparse-checkout', 'disable');
    project.edit('f', 'bbb\n');
    project.git('update-index', '--refresh');
    project.git('update-index', '--split-index');
    project.edit('f', 'MY!\n');
    project.now += 2;
    await project.put('m/a.md', '2\n');
    expect(project.status()).toBe(' M f\n');
  });

  test('is seen in a record that was just written', async () => {
    const project = new Project();
    await project.put('m/a.md', 'one\n');
    project.edit('m/a.md', 'two\n');
    expect(project.status()).toBe(' M m/a.md\n');
    project.now += 2;
    await project.put('m/b.md', '1\n');
    expect(project.status()).toBe(' M m/a.md\n');
  });

  test('is seen in a record whose index is not in place yet', async () => {
    const project = new Project();
    const files = project.disk();
    const { plan } = files;
    files.plan = (n, operation) => {
      // The clock of the machine is far ahead, as in a change that takes long.
      if (/^rename .*\/index$/.test(files.log.at(-1) ?? '')) project.edit('m/a.md', 'two\n');
      return plan(n, operation);
    };
    await project.put('m/a.md', 'one\n', project.open(files));
    expect(project.status()).toBe(' M m/a.md\n');
  });

  test.each([
    ['finished', releasing, 'm/a.md\n'],
    ['undone', moving('main'), ''],
  ])('is seen after the change of a dead process was %s', async (way, operation, listed) => {
    const project = new Project();
    project.edit('f', 'MY!\n');
    project.now += 2;
    const index = project.repo.path('.git/index');
    const bytes = readFileSync(index);
    const { mtime } = statSync(index);
    const files = project.disk();
    const { plan } = files;
    files.plan = (n, name) => {
      return operation.test(files.log.at(-1) ?? '') ? { kind: 'kill' } : plan(n, name);
    };
    await expect(project.put('m/a.md', 'one\n', project.open(files))).rejects.toThrow();
    bury(project.repo.root);
    if (way === 'finished') {
      // A power cut has lost the rename of the index.
      writeFileSync(index, bytes);
      utimesSync(index, mtime, mtime);
    }
    await project.open().repair();
    expect(project.repo.git('ls-files', 'm')).toBe(listed);
    expect(project.status()).toBe(' M f\n');
  });

  test('is seen after a merge was resolved', async () => {
    const project = new Project();
    project.edit('m/a.md', 'base\n');
    project.git('add', 'm');
    project.git('commit', '-qm', 'base');
    for (const branch of ['other', 'main']) {
      if (branch === 'other') project.git('checkout', '-qb', 'other');
      else project.git('checkout', '-q', 'main');
      project.edit('m/a.md', `${branch}\n`);
      project.git('commit', '-qam', branch);
    }
    expect(() => project.git('merge', '-q', 'other')).toThrow();
    project.touch(project.repo.path('.git/index'));
    project.edit('f', 'MY!\n');
    project.now += 2;
    await project.open().settleMerge(async ([unmerged]) => {
      const path = unmerged?.path ?? '';
      const seen = readFileSync(project.repo.path(path));
      return [{ path, seen, bytes: Buffer.from('both\n'), mode: 0o100644, staged: true }];
    }, new AbortController().signal);
    expect(project.status()).toBe(' M f\nM  m/a.md\n');
  });
});

test('a file that a person commits in the same second as a change does not look changed', async () => {
  const project = new Project();
  project.now += 1;
  await project.put('m/a.md', '1\n');
  project.edit('f', 'bbb\n');
  project.git('commit', '-qam', 'again');
  project.now += 2;
  await project.put('m/b.md', '1\n');
  // Does not compare contents, unlike `git status`.
  expect(project.repo.git('diff-files', '--name-only')).toBe('');
});

test('a line is checked once, not with every change in the same second', async () => {
  const project = new Project();
  const files = project.disk();
  const repository = project.open(files);
  const reads = () => files.log.filter((one) => /^read .*\/[fg]$/.test(one)).length;
  await project.put('m/a.md', '1\n', repository);
  await project.put('m/a.md', '2\n', repository);
  expect(reads()).toBe(0);
  project.now += 1;
  await project.put('m/a.md', '3\n', repository);
  expect(reads()).toBe(2);
  project.now += 1;
  await project.put('m/a.md', '4\n', repository);
  expect(reads()).toBe(2);
});

test('a git that compares nanoseconds sees an edit within the tick of the index', () => {
  const project = new Project();
  project.now += 0.5;
  project.edit('f', 'bbb\n');
  project.git('add', 'f');
  const index = IndexFile.read(readFileSync(project.repo.path('.git/index')), objectFormat);
  const at = (ms: number) => lineTime(BigInt(start * 1000 + ms) * 1_000_000n);
  const checked = (before: number, after: number) => {
    const paths: string[] = [];
    index.smudge({ before: at(before), after: at(after) }, ({ path }) => paths.push(path) > 0);
    return paths;
  };
  expect(checked(500, 600)).toEqual(['f']);
  expect(checked(501, 600)).toEqual([]);
  expect(checked(501, 1000)).toEqual(['f', 'g']);
});

const path = fc.constantFrom('f', 'f', 'f', 'g', 'm/a.md');
const text = fc.constantFrom('aaa\n', 'bbb\n', 'ccc\n', '');
const step = fc.record({
  /** The time that passes before it, in seconds. */
  passed: fc.constantFrom(0, 0, 0, 0.25, 1, 3),
  what: fc.constantFrom('edit', 'edit', 'edit', 'add', 'commit', 'write', 'write'),
  path,
  text,
});

deep.each(sample([2, 4], 1))(
  'after any edits and changes git sees what differs, version %i',
  async (version) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12 }), async (steps) => {
        const project = new Project(version);
        const repository = project.open();
        for (const { passed, what, path, text } of steps) {
          project.now += passed;
          if (what === 'edit') project.edit(path, text);
          else if (what === 'add') project.git('add', '.');
          else if (what === 'commit') project.git('commit', '-qa', '--allow-empty', '-m', 'c');
          else await project.put(path.startsWith('m/') ? path : 'm/b.md', text, repository);
          expect(project.status()).toBe(project.freshStatus());
        }
        repository.close();
        project.repo.remove();
      }),
      { numRuns: runs(20) },
    );
  },
);
