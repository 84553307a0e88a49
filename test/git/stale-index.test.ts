import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { noObject } from '../../src/git/objects/object-format.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { gitEnv, objectFormat, Repo } from '../support/repo.ts';
import { create, passing } from './create.ts';
import { expectClean, open, put } from './repository-at.ts';

describe('an index that git read before a change and writes after it', () => {
  /** A repository with staged work, and a change over which the index of before is written. */
  async function overwritten() {
    const repo = create();
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    const repository = open(repo.root);
    onTestFinished(() => repository.close());
    const change = (path: string) => put(repository, { [path]: 'text\n' });
    // A commit caches the tree also.
    repo.git('write-tree');
    const before = readFileSync(repo.path('.git/index'));
    await change('m/a.md');
    writeFileSync(repo.path('.git/stale'), before);
    return { repo, repository, change, overwrite: () => renameStale(repo) };
  }

  function renameStale(repo: Repo): void {
    renameSync(repo.path('.git/stale'), repo.path('.git/index'));
  }

  test('gets the lines of the change before the next one, and keeps staged work', async () => {
    const { repo, change, overwrite } = await overwritten();
    overwrite();
    expect(repo.status()).toContain('D  m/a.md');
    await change('m/b.md');
    expect(repo.status()).toEqual(['A  staged.txt']);
    expect(repo.fsck()).toBe('');
  });

  test('gets them also next to a line of git add --intent-to-add', async () => {
    const repo = create();
    const repository = open(repo.root);
    onTestFinished(() => repository.close());
    await put(repository, { 'm/old.md': 'text\n' });
    repo.write('new.txt', 'new\n');
    repo.git('add', '--intent-to-add', 'new.txt');
    repo.git('write-tree');
    const before = readFileSync(repo.path('.git/index'));
    await put(repository, { 'm/a.md': 'text\n', 'm/new/b.md': 'text\n' });
    writeFileSync(repo.path('.git/index'), before);
    expect(repo.status()).toContain('D  m/new/b.md');
    await put(repository, { 'm/c.md': 'text\n' });
    expect(repo.status()).toEqual([' A new.txt']);
    expect(repo.fsck()).toBe('');
  });

  test('gets them back also without another change', async () => {
    const { repo, overwrite } = await overwritten();
    overwrite();
    await vi.waitFor(() => expect(repo.status()).toEqual(['A  staged.txt']), { timeout: 10_000 });
  });

  test.each([
    ['runs', false],
    ['has ended', true],
  ])('gets them from another server if the one that made the change %s', async (_, isOver) => {
    const { repo, repository, overwrite } = await overwritten();
    overwrite();
    if (isOver) repository.close();
    // It waits while the first one repairs the index.
    const other = open(repo.root, { lockTimeout: 10_000 });
    onTestFinished(() => other.close());
    await put(other, { 'm/b.md': 'text\n' });
    expect(repo.status()).toEqual(['A  staged.txt']);
    expect(repo.fsck()).toBe('');
  });

  test('gets the lines of several changes, in a linked work tree', async () => {
    const repo = create();
    const linked = passing(new Repo(join(repo.root, 'linked')));
    repo.git('worktree', 'add', '-q', linked.root);
    const index = repo.path('.git/worktrees/linked/index');
    const before = readFileSync(index);
    const main = open(repo.root);
    for (const text of ['one', 'two']) {
      for (const path of ['m/a.md', `m/${text}.md`]) {
        const server = open(linked.root);
        await put(server, { [path]: text });
        server.close();
      }
      await put(main, { 'm/a.md': text });
    }
    main.close();
    writeFileSync(index, before);
    const server = open(linked.root);
    await put(server, { 'm/one.md': undefined });
    server.close();
    expect(linked.status()).toEqual([]);
    expect(linked.git('ls-files', 'm')).toBe('m/a.md\nm/two.md\n');
  });

  test('is left alone if it is written later, as a decision of the user', async () => {
    const { repo, change, overwrite } = await overwritten();
    const later = Date.now() / 1000 + 5;
    utimesSync(repo.path('.git/stale'), later, later);
    overwrite();
    await change('m/b.md');
    expect(repo.status()).toContain('D  m/a.md');
  });

  test.each([
    ['rm', '-q', '--cached', 'm/a.md'],
    ['reset', '-q', 'HEAD~1', '--', 'm/a.md'],
  ])('is left alone if the user has taken the change out of it by git %s', async (...args) => {
    const { repo, repository } = await overwritten();
    repo.git(...args);
    repository.close();
    const other = open(repo.root, { lockTimeout: 10_000 });
    onTestFinished(() => other.close());
    await put(other, { 'm/b.md': 'text\n' });
    expect(repo.status()).toContain('D  m/a.md');
  });

  test('is left alone if the user takes the change back', async () => {
    const { repo, change, overwrite } = await overwritten();
    overwrite();
    rmSync(repo.path('m/a.md'));
    await change('m/b.md');
    expect(repo.status()).toContain('D  m/a.md');
  });

  test('is left alone if it has a conflict', async () => {
    const { repo, change } = await overwritten();
    const blob = (text: string) =>
      repo.gitWith({ input: text }, 'hash-object', '-w', '--stdin').trim();
    const [ours, theirs] = [blob('ours'), blob('theirs')];
    await change('m/b.md');
    const lines = `0 ${noObject(objectFormat)}\tm/b.md\n100644 ${ours} 2\tm/b.md\n100644 ${theirs} 3\tm/b.md\n`;
    repo.gitWith({ input: lines }, 'update-index', '--index-info');
    await sleep(100);
    expect(repo.git('ls-files', '-u', '--', 'm/b.md').match(/\t/g)).toHaveLength(2);
  });

  test('is left alone if HEAD has moved', async () => {
    const { repo, change, overwrite } = await overwritten();
    overwrite();
    repo.git('commit', '-q', '-m', 'Theirs');
    await change('m/b.md');
    expect(repo.git('ls-files')).not.toContain('m/a.md');
  });
});

describe.runIf(process.platform === 'linux')('a git that has read the index', () => {
  /** Begins a commit that stops between its reading of the index and its lock. */
  function begin(repo: Repo) {
    const running = repo.path('.git/running');
    // Git asks again in an older form.
    const first = `[ -e '${running}-once' ] && exit 1; : > '${running}-once'`;
    const wait = `${first}; : > '${running}'; while [ -e '${running}' ]; do sleep 0.01; done; exit 1`;
    const monitor = repo.path('.git/monitor');
    repo.write('.git/monitor', `#!/bin/sh\n${wait}\n`);
    chmodSync(monitor, 0o755);
    const args = ['-c', `core.fsmonitor=${monitor}`, 'commit', '-q', '-m', 'by hand'];
    const git = spawn('git', args, { cwd: repo.root, env: gitEnv });
    const ended = once(git, 'close');
    // Also while this process has no turn to notice events.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let i = 0; i < 2000 && !existsSync(running); i++) Atomics.wait(pause, 0, 0, 10);
    return async () => {
      rmSync(running);
      return (await ended)[0];
    };
  }

  function staged(): Repo {
    const repo = create();
    repo.write('his.txt', 'his\n');
    repo.git('add', 'his.txt');
    return repo;
  }

  test('writes an old one over a change, whose lines are set again', async () => {
    const repo = staged();
    const end = begin(repo);
    const first = open(repo.root);
    await put(first, { 'm/a.md': 'a\n' });
    first.close();
    expect(await end()).toBe(128);
    expect(repo.status()).toContain('D  m/a.md');
    const second = open(repo.root);
    await put(second, { 'm/b.md': 'b\n' });
    second.close();
    expect(repo.status()).toEqual(['A  his.txt']);
    repo.git('commit', '-q', '-m', 'by hand');
    expect(repo.git('ls-tree', '-r', '--name-only', 'HEAD')).toContain('m/a.md');
  });

  test('while a change holds its locks makes the change wait', async () => {
    const repo = staged();
    let end = async () => 0;
    const files = new FaultFiles();
    files.plan = () => {
      if (!/^rename .*m\/a\.md$/.test(files.log.at(-1) ?? '')) return undefined;
      files.plan = () => undefined;
      end = begin(repo);
      return undefined;
    };
    const texts: string[] = [];
    const onWait = (text: string) => texts.push(text);
    const server = open(repo.root, { files, calm: 400 });
    const change = put(server, { 'm/a.md': 'a\n' }, 'ours', { onWait });
    await vi.waitUntil(() => texts.length > 0, { timeout: 20_000 });
    expect(repo.status()).toEqual(['A  his.txt']);
    expect(await end()).toBe(0);
    await change;
    server.close();
    const subjects = repo.git('log', '--format=%s').trim().split('\n');
    expect(subjects).toEqual(['ours', 'by hand', 'Begin']);
    expectClean(repo);
  });
});
