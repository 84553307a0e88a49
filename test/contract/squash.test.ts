import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { litter } from '../faults/place.ts';
import { deep, isFull } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';
import { hasTerminal, runOnTerminal } from '../support/terminal.ts';

const repos: Repo[] = [];
afterAll(() => {
  for (const repo of repos) repo.remove();
});

const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };

function create(): Repo {
  const repo = Repo.create();
  repos.push(repo);
  return repo;
}

function run(repo: Repo, ...args: string[]) {
  return runProgram(repo.root, args, { env });
}

function remember(repo: Repo, key: string): void {
  const entry = ['--category', 'patterns', '--key', key, '--value', `Value of ${key}`];
  const { status, stderr } = run(repo, 'memory-write', ...entry, '--reason', `Why ${key}`);
  expect(stderr).toBe('');
  expect(status).toBe(0);
}

/** Makes a commit like those of the program with native git, which is faster here. */
function commit(repo: Repo, ...names: string[]): void {
  for (const name of names) {
    repo.write(`.memory-bank/${name}.md`, `# ${name}\n`);
    repo.git('add', '.memory-bank');
    const message = `memory: write ${name}.md\n\nMemory-Tool: write_memory_bank_file\n`;
    repo.gitWith({ input: message }, 'commit', '-q', '-F', '-', '.memory-bank');
  }
}

/** Subjects on the branch, the oldest first. */
function subjects(repo: Repo): string[] {
  return repo.git('log', '--first-parent', '--reverse', '--format=%s').trim().split('\n');
}

function tree(repo: Repo): string {
  return repo.git('rev-parse', 'HEAD^{tree}');
}

function expectSound(repo: Repo): void {
  expect(repo.fsck()).toBe('');
  expect(litter(repo.root)).toEqual([]);
}

describe('squash', () => {
  test.runIf(isFull && !!hasTerminal).each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('is cancelled by %s', async (_, key) => {
    const repo = create();
    commit(repo, 'a');
    commit(repo, 'b');
    const head = repo.git('rev-parse', 'HEAD');
    const command = [process.execPath, main, 'squash'];
    const { status, seen } = await runOnTerminal(command, { cwd: repo.root, env }, [
      ['one commit? [y/N] ', key],
    ]);
    expect(status).toBe(130);
    expect(seen).toMatch(/\r\nmemory-bank: It was cancelled; nothing was changed\.\r\n$/);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expectSound(repo);
  });

  deep(
    'joins the last memory commits into one with all their messages, and changes nothing else',
    () => {
      const repo = create();
      repo.write('staged', 'staged\n');
      repo.write('dirty', 'old\n');
      repo.git('add', 'dirty');
      repo.git('commit', '-q', '-m', 'Add a file');
      repo.git('add', 'staged');
      repo.write('dirty', 'new\n');
      for (const key of ['one', 'two', 'three']) remember(repo, key);
      const before = { status: repo.status(), tree: tree(repo), index: indexOf(repo) };
      const tip = repo.git('rev-parse', 'HEAD').trim();

      const shown = run(repo, 'squash', '--dry-run');
      expect(shown).toMatchObject({ status: 0, stderr: '' });
      expect(shown.stdout).toMatch(/^3 commits of the memory to make one\n/);
      expect(shown.stdout).toContain('is the first commit');
      expect(shown.stdout).toContain('Memory-Agent: memory-bank-cli/');
      const unsure = run(repo, 'squash');
      expect(unsure).toMatchObject({ status: 5 });
      expect(unsure.stderr).toContain('--yes');
      expect(repo.git('rev-parse', 'HEAD').trim()).toBe(tip);

      const { status, stdout } = run(repo, 'squash', '--yes');
      expect(status).toBe(0);
      expect(stdout).toMatch(/3 commits are one: [0-9a-f]{12} on main\./);
      expect(stdout).toContain(`"git reset --soft ${tip.slice(0, 12)}" brings them back`);
      expect(subjects(repo)).toEqual([
        'Begin',
        'Add a file',
        expect.stringMatching(/^memory: squash 3 changes of \S+, \S+ and 1 more$/),
      ]);
      expect({ status: repo.status(), tree: tree(repo), index: indexOf(repo) }).toEqual(before);
      const message = repo.git('log', '-1', '--format=%B');
      for (const key of ['one', 'two', 'three']) {
        expect(message).toContain(`- remember "${key}" in patterns\n  Why ${key}\n`);
      }
      const trailers = repo.gitWith({ input: message }, 'interpret-trailers', '--parse');
      expect(trailers.match(/^Memory-Record: /gm)).toHaveLength(5);
      expect(trailers.match(/^Memory-Session: /gm)).toHaveLength(3);
      expect(trailers.match(/^Memory-Tool: memory_write$/gm)).toHaveLength(1);
      expect(repo.git('log', '-1', '--format=%an <%ae>').trim()).toBe(
        'Ada Lovelace <ada@example.org>',
      );
      expect(repo.git('log', '-g', '-1', '--format=%gs').trim()).toBe(
        'squash: 3 commits of the memory',
      );
      expect(repo.git('rev-parse', 'HEAD@{1}').trim()).toBe(tip);
      expect(run(repo, 'log').stdout).toContain('· memory_write\n');
      expectSound(repo);

      repo.git('reset', '-q', '--soft', tip);
      expect(repo.status()).toEqual(before.status);
      expect(subjects(repo)).toHaveLength(5);
    },
  );

  deep('squashes an earlier squash again, with its authors', () => {
    const repo = create();
    remember(repo, 'one');
    repo.git('config', 'user.name', 'Bob');
    remember(repo, 'two');
    run(repo, 'squash', '--yes');
    remember(repo, 'three');
    expect(run(repo, 'squash', '--yes').status).toBe(0);
    const message = repo.git('log', '-1', '--format=%an%n%B');
    expect(message).toMatch(/^Ada Lovelace\nmemory: squash 2 changes of \S+/);
    expect(message).toContain('Co-authored-by: Bob <ada@example.org>\n');
    for (const key of ['one', 'two', 'three']) expect(message).toContain(`Why ${key}`);
    expect(run(repo, 'squash', '--yes').stdout).toMatch(/^1 commit of .*\n.*\n.*Nothing to squash/);
  });

  test('says why there is nothing to squash', () => {
    const repo = Repo.create();
    expect(run(repo, 'squash', '--dry-run').stdout).toMatch(
      /^Nothing to squash: [0-9a-f]{12} is the first commit\.\n$/,
    );
  });

  deep.each([
    ['a remote-tracking branch', ['update-ref', 'refs/remotes/origin/main', 'HEAD'], 'origin/main'],
    ['another branch', ['branch', 'other'], 'other'],
    ['an annotated tag', ['tag', '-a', '-m', 'x', 'v1'], 'v1'],
    ['a detached work tree', ['worktree', 'add', '-q', '--detach', '../WT'], 'the work tree'],
    ['a merge', ['merge', '-q', '--no-ff', '-m', 'Merge', 'side'], 'is a merge'],
    ['an empty commit', ['commit', '-q', '--allow-empty', '-m', 'x'], 'changes nothing'],
  ])('ends at %s', (_, command, reason) => {
    const repo = create();
    repo.git('checkout', '-q', '-b', 'side');
    repo.git('commit', '-q', '--allow-empty', '-m', 'Beside');
    repo.git('checkout', '-q', 'main');
    commit(repo, 'one', 'two');
    repo.git(...command.map((word) => word.replace('../WT', `${newFolder()}/tree`)));
    if (repo.status().length > 0) repo.git('commit', '-q', '-m', 'An edit');
    const { length } = subjects(repo);
    commit(repo, 'three', 'four');
    const { stdout } = run(repo, 'squash', '--yes');
    expect(stdout).toContain(reason);
    expect(stdout).toContain('2 commits are one');
    expect(subjects(repo)).toHaveLength(length + 1);
    expectSound(repo);
  });

  deep('folds commits of the memory between commits of code, which stay', () => {
    const repo = create();
    repo.write('packages/a/code.ts', 'one\n');
    commit(repo, 'a');
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', 'Code one', '--author', 'Bob <bob@example.org>');
    commit(repo, 'b');
    repo.write('packages/a/code.ts', 'two\n');
    repo.git('commit', '-qam', 'Code two');
    commit(repo, 'c');
    repo.write('last.ts', 'three\n');
    repo.git('add', '.');
    repo.git('commit', '-qm', 'Code three');
    repo.write('staged.ts', 'staged\n');
    repo.git('add', 'staged.ts');
    const before = { status: repo.status(), tree: tree(repo), index: indexOf(repo) };
    const tip = repo.git('rev-parse', 'HEAD').trim();

    const shown = run(repo, 'squash', '--dry-run').stdout;
    expect(shown).toMatch(/^3 commits of the memory to make one\n/);
    expect(shown).toMatch(/^2 commits of other files, put below it\n.*Code two\n.*Code one\n/m);
    expect(run(repo, 'squash', '--yes').stdout).toContain('3 commits are one');
    expect(subjects(repo)).toEqual([
      'Begin',
      'Code one',
      'Code two',
      'memory: squash 3 changes of a.md, b.md and 1 more',
      'Code three',
    ]);
    expect({ status: repo.status(), tree: tree(repo), index: indexOf(repo) }).toEqual(before);
    const files = (revision: string) =>
      repo.git('show', '--format=%an', '--name-only', revision).trim().split(/\n+/);
    expect(files('HEAD~3')).toEqual(['Bob', 'packages/a/code.ts']);
    expect(files('HEAD~2')).toEqual(['Ada Lovelace', 'packages/a/code.ts']);
    expect(files('HEAD~1').slice(1)).toEqual(['a', 'b', 'c'].map((n) => `.memory-bank/${n}.md`));
    expect(files('HEAD')).toEqual(['Ada Lovelace', 'last.ts']);
    expect(repo.git('rev-parse', 'HEAD@{1}').trim()).toBe(tip);
    expectSound(repo);
  });

  deep('ends at a commit that changes memory and code', () => {
    const repo = create();
    commit(repo, 'a', 'b');
    repo.write('.memory-bank/a.md', 'mixed');
    repo.write('README.md', 'mixed');
    repo.git('commit', '-qam', 'Mixed');
    commit(repo, 'c', 'd');
    const { stdout } = run(repo, 'squash', '--yes');
    expect(stdout).toContain('changes the memory and README.md');
    expect(stdout).toContain('2 commits are one');
    expectSound(repo);
  });

  deep('lists what matters where the old messages fill more than a screen', () => {
    const repo = create();
    commit(repo, ...Array.from({ length: 30 }, (_, i) => `note${i}`));
    repo.write('.memory-bank/decisionLog.md', '# Decisions\n');
    repo.git('add', '.');
    repo.git('commit', '-qm', 'memory: log decision "Use JWT"\n\nMemory-Tool: log_decision\n');
    expect(run(repo, 'squash', '--yes').stdout).toContain('31 commits are one');
    const message = repo.git('log', '-1', '--format=%B');
    expect(message.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    expect(message).toContain('- log decision "Use JWT"\n- 30 × write\n');
    expect(message).toMatch(/^Memory-Record: \(and \d+ more\)$|^Memory-Record: /m);
    expect(message).toContain('Memory-Tool: log_decision');
  });

  deep('takes a message of the user', () => {
    const repo = create();
    commit(repo, 'a', 'b');
    const message = 'docs: record what we learned\n\nAbout caches.';
    run(repo, 'squash', '--yes', '--message', message);
    expect(repo.git('log', '-1', '--format=%B')).toMatch(
      /^docs: record what we learned\n\nAbout caches\.\n\nMemory-Record: a\.md\n/,
    );
  });

  test('a stash does not end the squash, and is kept', () => {
    const repo = create();
    commit(repo, 'one', 'two');
    repo.write('README.md', 'stashed\n');
    repo.git('stash', '-q');
    expect(run(repo, 'squash', '--yes').stdout).toContain('2 commits are one');
    repo.git('stash', 'pop', '-q');
    expect(repo.read('README.md')).toBe('stashed\n');
  });

  test('a signed commit is kept', () => {
    const repo = create();
    commit(repo, 'one');
    const signed = repo
      .git('cat-file', 'commit', 'HEAD')
      .replace(/^(committer .*)$/m, '$1\ngpgsig -----BEGIN PGP SIGNATURE-----\n none');
    const oid = repo.gitWith({ input: signed }, 'hash-object', '-t', 'commit', '-w', '--stdin');
    repo.git('update-ref', 'HEAD', oid.trim());
    commit(repo, 'two', 'three');
    expect(run(repo, 'squash', '--yes').stdout).toContain('is signed');
    expect(subjects(repo)).toHaveLength(3);
  });

  deep('signed commits become a signed one where commits are signed', () => {
    const repo = create();
    const home = create();
    const lines = ['-----BEGIN PGP SIGNATURE-----', '', 'none', '-----END PGP SIGNATURE-----'];
    home.write('program', `#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' '${lines.join("' '")}'\n`);
    chmodSync(home.path('program'), 0o755);
    home.git('config', '--file', home.path('.gitconfig'), 'gpg.program', home.path('program'));
    const signing = { ...env, HOME: home.root, MEMORY_BANK_SIGN: 'true' };
    const sign = (...args: string[]) => runProgram(repo.root, args, { env: signing });
    for (const key of ['one', 'two']) {
      const entry = ['--category', 'patterns', '--key', key, '--value', 'v', '--reason', 'r'];
      expect(sign('memory-write', ...entry).stderr).toBe('');
    }
    expect(repo.git('cat-file', 'commit', 'HEAD')).toContain(`gpgsig ${lines.join('\n ')}\n\n`);
    expect(sign('squash', '--yes').stdout).toContain('2 commits are one');
    expect(repo.git('cat-file', 'commit', 'HEAD')).toContain(`gpgsig ${lines.join('\n ')}\n\n`);
    expect(repo.fsck()).toBe('');
  });

  deep('works on a detached HEAD, and says so', () => {
    const repo = create();
    repo.git('checkout', '-q', '--detach');
    commit(repo, 'one', 'two');
    const { stdout, stderr, status } = run(repo, 'squash', '--yes');
    expect(status).toBe(0);
    expect(stdout).toContain('on detached HEAD.');
    expect(stderr).toContain('HEAD is detached');
    expect(repo.git('rev-list', '--count', 'main..HEAD').trim()).toBe('1');
    expect(repo.git('log', '-1', '--format=%s', 'main').trim()).toBe('Begin');
  });

  deep('an unborn branch and a folder without a repository have nothing to squash', () => {
    const unborn = new Repo();
    repos.push(unborn);
    unborn.git('init', '-q');
    expect(run(unborn, 'squash', '--yes')).toMatchObject({ status: 0, stderr: '' });
    expect(run(unborn, 'squash', '--yes').stdout).toContain('There is no commit yet');
    const none = new Repo();
    repos.push(none);
    expect(run(none, 'squash', '--yes').status).toBe(3);
    expect(readdirSync(none.root)).toEqual([]);
  });

  deep('is refused in the middle of a merge, and without a reflog', () => {
    const repo = create();
    commit(repo, 'one', 'two');
    const tip = repo.git('rev-parse', 'HEAD');
    repo.write('.git/MERGE_HEAD', tip);
    for (const args of [['--yes'], ['--dry-run']]) {
      const { status, stderr } = run(repo, 'squash', ...args);
      expect(status).toBe(8);
      expect(stderr).toContain('A merge is under way');
    }
    rmSync(repo.path('.git/MERGE_HEAD'));
    repo.git('config', 'core.logAllRefUpdates', 'false');
    rmSync(repo.path('.git/logs'), { recursive: true });
    expect(run(repo, 'squash', '--yes')).toMatchObject({ status: 9 });
    expect(repo.git('rev-parse', 'HEAD')).toBe(tip);
  });

  deep('by two processes at once, next to writers, loses nothing', async () => {
    const repo = create();
    remember(repo, 'before');
    commit(repo, 'one', 'two', 'three', 'four');
    const options: SpawnOptions = { cwd: repo.root, env, stdio: 'ignore' };
    const start = (...args: string[]) =>
      once(spawn(process.execPath, [main, ...args], options), 'exit').then(([status]) => status);
    const write = (key: string) =>
      start('memory-write', '--category', 'patterns', '--key', key, '--value', 'v');
    const all = [start('squash', '--yes'), write('a'), start('squash', '--yes'), write('b')];
    expect(await Promise.all(all)).toEqual([0, 0, 0, 0]);
    const keys = run(repo, 'memory-list', '--output', 'json').stdout;
    for (const key of ['a', 'b', 'before']) expect(keys).toContain(`"${key}"`);
    expect(subjects(repo).length).toBeLessThan(8);
    expect(repo.status()).toEqual([]);
    expectSound(repo);
  });
});

/** The bytes and the time of the index: a squash does not write it. */
function indexOf(repo: Repo): string {
  return repo.gitWith({ cwd: repo.path('.git') }, 'hash-object', 'index');
}
