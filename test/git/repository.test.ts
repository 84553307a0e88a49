import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join, posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { newStack } from '../../src/git/reftable/table-addition.ts';
import { deep } from '../support/depth.ts';
import { refFile } from '../support/ref-form.ts';
import { gitEnv, hasTables, objectFormat, Repo } from '../support/repo.ts';
import { slashed } from '../support/slashed.ts';
import { linked } from '../support/windows.ts';
import { create, passing } from './create.ts';
import { expectClean, open, put } from './repository-at.ts';

describe('changes of a memory that is being moved', () => {
  test('are not made between the steps of the move, and then find that it has left', async () => {
    const repo = create();
    let isHere = true;
    const server = open(repo.root, { isCurrent: () => isHere, lockTimeout: 20_000 });
    await put(server, { 'm/a.md': '1' }, 'first');
    const mover = open(repo.root);
    let change: Promise<unknown> | undefined;
    await mover.hold(async () => {
      await put(mover, { 'm/b.md': '2' }, 'one step');
      change = put(server, { 'm/c.md': '3' }, 'between').catch((error) => error);
      await sleep(50);
      await put(mover, { 'm/a.md': undefined, 'm/b.md': undefined }, 'last step');
      isHere = false;
    });
    expect(await change).toMatchObject({
      code: 'busy',
      text: expect.stringMatching(/no longer in/),
    });
    const subjects = repo.git('log', '--format=%s', '-3').trim().split('\n');
    expect(subjects).toEqual(['last step', 'one step', 'first']);
    await put(mover, { 'm/d.md': '4' }, 'later');
    expectClean(repo);
  });
});

describe('one mutation', () => {
  test('has its git attributes on the medium before a tree that names them', async () => {
    const steps: string[] = [];
    class Slow extends NodeFiles {
      readonly #paths = new Map<number, string>();
      override open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number) {
        const fd = super.open(path, flags, mode);
        this.#paths.set(fd, path);
        return fd;
      }
      override write(fd: number, pieces: readonly Uint8Array[]) {
        super.write(fd, pieces);
        // The blobs reach the medium last.
        if (Buffer.concat(pieces).includes('blob ')) this.#paths.set(fd, 'slow');
      }
      override async fsync(fd: number, kind: 'data' | 'all') {
        const path = this.#paths.get(fd) ?? '';
        if (path === 'slow') await sleep(50);
        await super.fsync(fd, kind);
        steps.push(slashed(path));
      }
      override rename(from: string, to: string) {
        super.rename(from, to);
        steps.push(slashed(to));
      }
    }
    const repo = create();
    const change = { '.memory-bank/.gitattributes': '* -text\n', '.memory-bank/a.md': 'x\n' };
    await put(open(repo.root, { files: new Slow() }), change);
    const place = (revision: string) => {
      const oid = repo.git('rev-parse', revision).trim();
      return slashed(repo.path(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`));
    };
    const blob = place('HEAD:.memory-bank/.gitattributes');
    const tree = steps.indexOf(place('HEAD:.memory-bank'));
    expect(steps.indexOf(blob)).toBeGreaterThanOrEqual(0);
    expect(steps.indexOf(blob)).toBeLessThan(tree);
    expect(steps.indexOf(posix.dirname(blob))).toBeLessThan(tree);
  });

  test('is one commit with exactly its own paths, and leaves staged and dirty files alone', async () => {
    const repo = create();
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    repo.write('README.md', '# Changed, not staged\n');
    repo.write('untracked.txt', 'untracked\n');
    const before = repo.status();
    const made = await put(open(repo.root), { '.memory-bank/a/b.md': 'hello\n' }, 'memory: add b');
    expect(made?.branch).toBe('main');
    expect(made?.oid).toBe(repo.git('rev-parse', 'HEAD').trim());
    expect(repo.git('show', '--format=%s|%an|%ae|%ci', '--name-status', 'HEAD').trim()).toBe(
      'memory: add b|Ada Lovelace|ada@example.org|2026-01-02 03:04:05 +0000\n\nA\t.memory-bank/a/b.md',
    );
    expect(repo.status()).toEqual(before);
    expect(repo.git('log', '-g', '--format=%gs', '-1').trim()).toBe('commit: memory: add b');
    expectClean(repo);
  });

  test('changes and removes files, and removes empty folders', async () => {
    const repo = create();
    const repository = open(repo.root);
    await put(repository, { 'm/a.md': '1', 'm/sub/b.md': '2', 'm/c.md': '3' });
    await put(repository, { 'm/a.md': '1b', 'm/sub/b.md': undefined });
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n')).toEqual([
      'README.md',
      'm/a.md',
      'm/c.md',
    ]);
    expect(existsSync(repo.path('m/sub'))).toBe(false);
    expect(repo.read('m/a.md')).toBe('1b');
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });

  test('works on an unborn branch, with no index', async () => {
    const repo = passing(new Repo());
    repo.git('init', '-q', '-b', 'feature/x');
    await put(open(repo.root), { 'm/a.md': '1' });
    expect(repo.git('log', '--format=%an %ae %D').trim()).toBe(
      'memory-bank memory-bank@localhost HEAD -> feature/x',
    );
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });

  test('moves the target of a symbolic branch', async () => {
    const repo = create();
    repo.git('symbolic-ref', 'refs/heads/other', 'refs/heads/main');
    repo.git('symbolic-ref', 'HEAD', 'refs/heads/other');
    const made = await put(open(repo.root), { 'm/a.md': '1' });
    expect(made?.branch).toBe('main');
    expect(repo.git('rev-parse', 'refs/heads/main').trim()).toBe(made?.oid);
    expect(repo.git('symbolic-ref', 'refs/heads/other').trim()).toBe('refs/heads/main');
    expect(repo.git('log', '-g', '--format=%H', '-1', 'main').trim()).toBe(made?.oid);
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });

  test('moves a detached HEAD', async () => {
    const repo = create();
    repo.git('checkout', '-q', '--detach');
    const made = await put(open(repo.root), { 'm/a.md': '1' });
    expect(made?.branch).toBeUndefined();
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(repo.git('rev-parse', 'main').trim()).not.toBe(made?.oid);
    expectClean(repo);
  });

  test('is made in the linked work tree that is served', async () => {
    const repo = create();
    const linked = join(repo.root, 'linked');
    repo.git('worktree', 'add', '-q', '-b', 'side', linked);
    await put(open(linked), { 'm/a.md': '1' });
    expect(repo.git('log', '-1', '--format=%s', 'side').trim()).toBe('m');
    expect(repo.git('log', '-1', '--format=%s', 'main').trim()).toBe('Begin');
    expect(repo.gitWith({ cwd: linked }, 'status', '--porcelain')).toBe('');
    expectClean(repo);
  });

  test('is made in a submodule, not in the repository around it', async () => {
    const inner = create();
    const repo = create();
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'sub');
    await put(open(repo.path('sub')), { 'm/a.md': '1' });
    expect(repo.gitWith({ cwd: repo.path('sub') }, 'log', '-1', '--format=%s').trim()).toBe('m');
    expect(repo.git('log', '-1', '--format=%s').trim()).toBe('Begin');
  });

  deep('reads packed refs and packed objects', async () => {
    const repo = create();
    const repository = open(repo.root);
    for (let i = 0; i < 30; i++) await put(repository, { [`m/${i}.md`]: `text ${i}\n`.repeat(50) });
    repo.git('gc', '-q', '--prune=now');
    repo.git('pack-refs', '--all', '--prune');
    await put(repository, { 'm/1.md': 'again\n' });
    await put(open(repo.root), { 'm/2.md': 'again\n' });
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('33');
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });

  deep.each([
    [['index.version', '4']],
    [['index.skipHash', 'true']],
    [['feature.manyFiles', 'true']],
    [['core.untrackedCache', 'true']],
  ])('keeps an index written with %s', async ([key, value]) => {
    const repo = create();
    repo.git('config', key as string, value as string);
    for (let i = 0; i < 50; i++) repo.write(`src/dir${i % 5}/file${i}.txt`, `${i}`);
    repo.git('update-index', '--force-write-index');
    repo.git('add', 'src/dir1', 'src/dir3');
    repo.status();
    const repository = open(repo.root);
    const before = repo.git('ls-files', '-s');
    await put(repository, { '.memory-bank/a.md': '1', 'src/dir1/z.md': 'z', 'zz/last.md': 'l' });
    await put(repository, { '.memory-bank/a.md': undefined, 'src/dir1/z.md': undefined });
    await put(repository, { 'zz/last.md': undefined });
    expect(repo.git('ls-files', '-s')).toBe(before);
    repo.git('add', 'src');
    repo.git('commit', '-q', '-m', 'all');
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });
});

describe("a person's work", () => {
  /** Long enough that a waiting change does not finish by itself. */
  const calm = 600_000;

  /** Runs a change without an effect to its end. */
  async function goAhead(repo: Repo, signal?: AbortSignal): Promise<boolean> {
    let asked = false;
    const propose = async () => {
      asked = true;
      return undefined;
    };
    await open(repo.root, { calm }).commit(propose, { signal }).catch(ignoreCancelled);
    return asked;
  }

  function ignoreCancelled(error: unknown): void {
    if (!(error instanceof MemoryError) || error.code !== 'cancelled') throw error;
  }

  /** Counts how often a change looks for a commit that is being written. */
  class CountedPolls extends NodeFiles {
    polls = 0;
    override lstat(path: string) {
      if (path.endsWith('COMMIT_EDITMSG')) this.polls += 1;
      return super.lstat(path);
    }
  }

  /** Whether a change waits until it is cancelled. */
  const waits = async (repo: Repo) => {
    // Not AbortSignal.timeout(): without another reference to it, it can be collected before it fires.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), 50);
    const ahead = await goAhead(repo, controller.signal);
    clearTimeout(timer);
    return !ahead;
  };

  function setTime(repo: Repo, path: string, ms: number): void {
    utimesSync(repo.path(path), ms / 1000, ms / 1000);
  }

  test('in the index is waited for until it is committed; that of other servers is not', async () => {
    const repo = create();
    await put(open(repo.root, { calm }), { 'm/a.md': '1' });
    await put(open(repo.root, { calm }), { 'm/b.md': '2' });
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    expect(await waits(repo)).toBe(true);
    const change = put(open(repo.root, { calm }), { 'm/c.md': '3' }, 'ours');
    repo.git('commit', '-qm', 'by hand');
    await change;
    expect(repo.git('log', '--format=%s', '-3').trim().split('\n')).toEqual([
      'ours',
      'by hand',
      'm',
    ]);
  });

  test('in the index is not what "git status" writes there', async () => {
    const repo = create();
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    setTime(repo, '.git/index', 1_700_000_000_000);
    for (const path of ['m/a.md', 'm/b.md', 'm/c.md']) {
      await put(open(repo.root, { calm }), { [path]: 'text' });
      const { ino } = statSync(repo.path('.git/index'));
      setTime(repo, 'README.md', Date.now() - 1000);
      repo.status();
      expect(statSync(repo.path('.git/index')).ino).not.toBe(ino);
    }
    expect(await goAhead(repo)).toBe(true);
    expect(repo.status()).toEqual(['A  staged.txt']);
  });

  test('includes a commit whose message is being written, until HEAD has moved', async () => {
    const repo = create();
    setTime(repo, '.git/index', 1_700_000_000_000);
    repo.write('.git/COMMIT_EDITMSG', 'a message');
    setTime(repo, '.git/COMMIT_EDITMSG', Date.now() - 60_000);
    expect(await goAhead(repo)).toBe(true);
    setTime(repo, '.git/COMMIT_EDITMSG', Date.now() + 60_000);
    expect(await waits(repo)).toBe(true);
    // An abandoned commit is not waited for repeatedly.
    setTime(repo, '.git/COMMIT_EDITMSG', Date.now() + 200 * calm);
    expect(await goAhead(repo)).toBe(true);
  });

  deep.each([
    ['a hook', 'hooks/pre-commit', 'index'],
    ['an editor', 'editor', 'COMMIT_EDITMSG'],
  ])('includes a commit of git during %s, whose process is not seen', async (_, path, evidence) => {
    const repo = create();
    await put(open(repo.root, { calm }), { 'm/a.md': '1' });
    // Runs until the test removes the file that it makes.
    const wait = ': > .git/running; while [ -e .git/running ]; do sleep 0.01; done';
    repo.write(`.git/${path}`, `#!/bin/sh\n${wait}\n[ -z "$1" ] || echo 'by hand' > "$1"\n`);
    chmodSync(repo.path(`.git/${path}`), 0o755);
    const isHook = evidence === 'index';
    repo.write('staged.txt', 'staged\n');
    if (isHook) repo.git('add', 'staged.txt');
    const args = isHook ? ['-m', 'by hand'] : ['--allow-empty'];
    const env = { ...gitEnv, GIT_EDITOR: repo.path('.git/editor') };
    const git = spawn('git', ['commit', '-q', ...args], { cwd: repo.root, env });
    await vi.waitUntil(() => existsSync(repo.path('.git/running')), { timeout: 20_000 });
    // From now on only its traces are left, as of a git in another container.
    git.kill('SIGKILL');
    rmSync(repo.path('.git/running'));
    await once(git, 'close');
    // More than the time for which staged lines count, and more than the limit of the waits.
    setTime(repo, `.git/${evidence}`, Date.now() + 6 * calm);
    expect(await waits(repo)).toBe(true);
    const change = put(open(repo.root, { calm }), { 'm/b.md': '2' }, 'ours');
    repo.git('commit', '-q', '--no-verify', '--allow-empty', '-m', 'by hand');
    await change;
    const subjects = repo.git('log', '--format=%s', '-3').trim().split('\n');
    expect(subjects).toEqual(['ours', 'by hand', 'm']);
    expectClean(repo);
  });

  describe.runIf(process.platform === 'linux')('in a git that runs', () => {
    /** Begins a commit without any other trace, whose hook runs until it is released. */
    async function begin(repo: Repo, folder = repo.root, command = ['commit', '--amend']) {
      const running = repo.path('.git/running');
      const wait = `: > '${running}'; while [ -e '${running}' ]; do sleep 0.01; done`;
      repo.write('.git/hooks/pre-commit', `#!/bin/sh\n${wait}\n`);
      chmodSync(repo.path('.git/hooks/pre-commit'), 0o755);
      const args = [...command, '-q', '-m', 'by hand'];
      const git = spawn('git', args, { cwd: folder, env: gitEnv });
      const ended = once(git, 'close');
      await vi.waitUntil(() => existsSync(running), { timeout: 20_000 });
      const end = () => {
        rmSync(running, { force: true });
        return ended;
      };
      return { git, end };
    }

    test.each([['--amend'], ['-a']])(
      'with %s is waited for, which is reported, and both succeed',
      async (option) => {
        const repo = create();
        repo.write('README.md', 'edited\n');
        const { git, end } = await begin(repo, repo.root, ['commit', '--allow-empty', option]);
        const texts: string[] = [];
        const onWait = (text: string) => texts.push(text);
        const change = put(open(repo.root, { calm }), { 'm/a.md': '1' }, 'ours', { onWait });
        await vi.waitUntil(() => texts.length > 0, { timeout: 20_000 });
        expect(texts).toEqual([`Waiting for "git commit" (process ${git.pid})`]);
        expect(await end()).toEqual([0, null]);
        await change;
        const subjects = repo.git('log', '--format=%s', '-2').trim().split('\n');
        expect(subjects).toEqual(['ours', 'by hand']);
        expectClean(repo);
      },
    );

    test('is waited for in a work tree with the same branch only', async () => {
      const repo = create();
      const [other, same] = [repo.path('other'), repo.path('same')];
      repo.git('worktree', 'add', '-q', other);
      repo.git('worktree', 'add', '-q', '--force', same, 'main');
      const there = await begin(repo, other);
      expect(await goAhead(repo)).toBe(true);
      await there.end();
      const here = await begin(repo, same);
      expect(await waits(repo)).toBe(true);
      await here.end();
      expect(await goAhead(repo)).toBe(true);
    });

    test('is not waited for after it was killed', async () => {
      const repo = create();
      const { git, end } = await begin(repo);
      expect(await waits(repo)).toBe(true);
      const change = put(open(repo.root, { calm }), { 'm/a.md': '1' });
      git.kill('SIGKILL');
      await change;
      await end();
      expectClean(repo);
    });

    deep('is waited for once if it does not end, and the caller is told', async () => {
      const repo = create();
      const { end } = await begin(repo);
      const notes: string[] = [];
      const note = (text: string) => notes.push(text);
      const repository = open(repo.root, { calm: 20 });
      await put(repository, { 'm/a.md': '1' }, 'ours', { note });
      await put(repository, { 'm/b.md': '2' }, 'ours', { note });
      expect(notes).toEqual([expect.stringContaining('the change no longer waits for it')]);
      expect(await end()).toEqual([128, null]);
      expect(repo.git('log', '--format=%s').trim().split('\n')).toEqual(['ours', 'ours', 'Begin']);
    });

    test('by an alias is waited for; a command that only reads is not', async () => {
      const repo = create();
      const reader = spawn('git', ['cat-file', '--batch'], { cwd: repo.root, env: gitEnv });
      expect(await goAhead(repo)).toBe(true);
      reader.stdin.end();
      repo.git('config', 'alias.ci', 'commit --amend');
      const { end } = await begin(repo, repo.root, ['ci']);
      expect(await waits(repo)).toBe(true);
      await end();
    });
  });

  deep('that does not end is waited for once', async () => {
    const repo = create();
    const files = new CountedPolls();
    const repository = open(repo.root, { calm: 20, files });
    const polls = async () => {
      files.polls = 0;
      await repository.commit(async () => undefined);
      return files.polls;
    };
    setTime(repo, '.git/COMMIT_EDITMSG', Date.now() + 2000);
    expect(await polls()).toBeGreaterThan(1);
    expect(await polls()).toBe(1);
    setTime(repo, '.git/COMMIT_EDITMSG', Date.now() + 2001);
    expect(await polls()).toBeGreaterThan(1);
  });

  test('in a loop of commits gets its turn between two changes', async () => {
    const repo = create();
    const commit = (name: string) => repo.git('commit', '-q', '--allow-empty', '-m', name);
    const files = new CountedPolls();
    const repository = open(repo.root, { calm, files });
    await put(repository, { 'm/a.md': '1' }, 'ours');
    commit('first');
    await put(repository, { 'm/b.md': '2' }, 'ours');
    expect(await waits(repo)).toBe(true);
    files.polls = 0;
    const change = put(repository, { 'm/c.md': '3' }, 'ours');
    // A commit before the first poll is not one for which the change has waited.
    await vi.waitUntil(() => files.polls > 0, { timeout: 20_000, interval: 1 });
    commit('second');
    await change;
    const subjects = repo.git('log', '--format=%s', '-4').trim().split('\n');
    expect(subjects).toEqual(['ours', 'second', 'ours', 'first']);
  });

  test('that is uncommitted in a file about to change is committed first, separately', async () => {
    const repo = create();
    const repository = open(repo.root);
    await put(repository, { 'm/a.md': 'one\n' });
    repo.write('m/a.md', 'staged\n');
    repo.git('add', 'm/a.md');
    repo.write('m/a.md', 'by hand\n');
    await put(repository, { 'm/a.md': 'by the tool\n' }, 'memory: change a');
    expect(repo.git('log', '--format=%s', '-3').trim().split('\n')).toEqual([
      'memory: change a',
      'memory: keep edit by hand of a.md',
      'memory: keep staged edit of a.md',
    ]);
    expect(repo.git('show', 'HEAD~1:m/a.md')).toBe('by hand\n');
    expect(repo.git('show', 'HEAD~2:m/a.md')).toBe('staged\n');
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });
});

describe('refusals', () => {
  const refused = async (repo: Repo, code: string, text: RegExp) => {
    // Git does not open a repository of an unknown kind.
    const ref = repo.read(refFile('main'));
    const error = await put(open(repo.root), { 'm/a.md': '1' }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(MemoryError);
    expect([error.code, error.text]).toEqual([code, expect.stringMatching(text)]);
    expect(repo.read(refFile('main'))).toBe(ref);
    expect(existsSync(repo.path('m/a.md'))).toBe(false);
  };

  test('a merge with conflicts under way', async () => {
    const repo = create();
    repo.git('checkout', '-q', '-b', 'side');
    repo.write('README.md', 'side\n');
    repo.git('commit', '-qam', 'side');
    repo.git('checkout', '-q', 'main');
    repo.write('README.md', 'main\n');
    repo.git('commit', '-qam', 'main');
    expect(() => repo.git('merge', '-q', 'side')).toThrow();
    await refused(repo, 'busy', /merge is under way.*--abort/);
  });

  test('a bisect under way', async () => {
    const repo = create();
    repo.git('bisect', 'start');
    await refused(repo, 'busy', /bisect reset/);
  });

  test('an ignored path, by the name of the rule', async () => {
    const repo = create();
    repo.write('.gitignore', 'build/\n/m\n');
    repo.git('add', '.gitignore');
    repo.git('commit', '-qm', 'ignore');
    await refused(repo, 'ignored', /rule "\/m" in \.gitignore/);
  });

  linked("a path that the user's own rules ignore, also through a link", async () => {
    const repo = create();
    const home = create();
    home.write('dotfiles/ignore', '/m\n');
    symlinkSync('dotfiles/ignore', home.path('ignore'));
    repo.git('config', 'core.excludesFile', home.path('ignore'));
    expect(repo.git('check-ignore', '-v', 'm/a.md')).toContain('/m\tm/a.md');
    await refused(repo, 'ignored', /rule "\/m" in .*ignore/);
  });

  deep('a lock that another program holds, which is kept', async () => {
    const repo = create();
    repo.write('.git/index.lock', '');
    await refused(repo, 'busy', /^Another git process holds .*index\.lock((?!emove).)*$/);
    expect(existsSync(repo.path('.git/index.lock'))).toBe(true);
  });

  test.each([
    'refs/heads/../../../outside',
    'refs/heads/a b',
    'refs/heads/x.lock',
    'refs/../config',
  ])('a HEAD that is not the name of a branch: %s', async (ref) => {
    const repo = create();
    const files = hasTables ? newStack(objectFormat, ref) : [['HEAD', `ref: ${ref}\n`] as const];
    for (const [name, bytes] of files) repo.write(`.git/${name}`, bytes);
    await expect(put(open(repo.root), { 'm/a.md': '1' })).rejects.toMatchObject({
      code: 'damaged',
    });
    expect(existsSync(join(repo.root, '../outside'))).toBe(false);
  });

  test('a path below a .git folder', async () => {
    const repo = create();
    await expect(put(open(repo.root), { '.git/m/a.md': '1' })).rejects.toMatchObject({
      code: 'unsupported',
    });
    await expect(put(open(repo.root), { 'm/.GIT/a.md': '1' })).rejects.toMatchObject({
      code: 'unsupported',
    });
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('1');
    expect(existsSync(repo.path('m'))).toBe(false);
  });

  test.each(['a bare repository', 'a git directory'])('%s', (what) => {
    const repo = create();
    const isBare = what === 'a bare repository';
    if (isBare) repo.git('init', '-q', '--bare', 'bare.git');
    const root = repo.path(isBare ? 'bare.git' : '.git');
    for (const folder of [root, join(root, 'hooks'), join(root, 'new')]) {
      expect(() => open(folder)).toThrow(expect.objectContaining({ code: 'unsupported' }));
    }
  });

  test('object ids of an unknown kind', async () => {
    const repo = create();
    repo.git('config', 'core.repositoryFormatVersion', '1');
    repo.git('config', 'extensions.objectFormat', 'sha512');
    await refused(repo, 'unsupported', /sha512.*--root/);
  });
});
