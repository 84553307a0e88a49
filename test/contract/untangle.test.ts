import { spawnSync } from 'node:child_process';
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

/** Makes a commit like those of the program with native git, which is faster here. */
function remember(repo: Repo, name: string): void {
  repo.write(`.memory-bank/${name}.md`, `# ${name} after ${hash(repo, '@')}\n`);
  repo.git('add', '.memory-bank');
  const message = `memory: write ${name}.md\n\nBecause.\n\nMemory-Tool: write_memory_bank_file\n`;
  repo.gitWith({ input: message }, 'commit', '-q', '-F', '-', '.memory-bank');
}

/** A commit of a person, a change by an agent, and then the person's amend. */
function tangle(repo: Repo, ...between: string[]): void {
  repo.write('src/code.ts', 'one\n');
  repo.git('add', 'src');
  repo.git('commit', '-qm', 'Fix the code', '--author', 'Bob <bob@example.org>');
  for (const name of between) remember(repo, name);
  remember(repo, 'progress');
  repo.write('src/code.ts', 'two\n');
  repo.git('commit', '-q', '-a', '--amend', '--no-edit');
}

/** The last commits, the oldest first: author, subject and files. */
function history(repo: Repo, count: number): string[] {
  const log = repo.git('log', '--reverse', `-${count}`, '--format=%x00%an: %s', '--name-only');
  const commits = log.split('\0').slice(1);
  return commits.map((text) => text.trim().split(/\n+/).join(' | '));
}

function hash(repo: Repo, revision: string): string {
  return repo.git('rev-parse', revision).trim();
}

function state(repo: Repo) {
  const index = repo.gitWith({ cwd: repo.path('.git') }, 'hash-object', 'index');
  return { status: repo.status(), tree: hash(repo, 'HEAD^{tree}'), index };
}

function expectSound(repo: Repo): void {
  expect(repo.fsck()).toBe('');
  expect(litter(repo.root)).toEqual([]);
}

describe('untangle', () => {
  deep('divides what an amend put into a commit of the memory, and changes nothing else', () => {
    const repo = create();
    tangle(repo);
    const tip = hash(repo, 'HEAD');
    const id = tip.slice(0, 12);
    repo.write('staged.ts', 'staged\n');
    repo.git('add', 'staged.ts');
    repo.write('src/code.ts', 'three\n');
    const before = state(repo);

    const log = run(repo, 'log', '--limit', '1').stdout;
    expect(log).toContain(`  ! also changes src/code.ts: "memory-bank untangle ${id}" divides it`);
    const shown = run(repo, 'untangle');
    expect(shown).toMatchObject({ status: 0, stderr: '' });
    expect(shown.stdout).toMatch(/^ {2}Change src\/code\.ts\n {4}src\/code\.ts$/m);
    expect(shown.stdout).toContain('Give --yes to divide it.');
    expect(hash(repo, 'HEAD')).toBe(tip);

    const done = run(repo, 'untangle', id, '--yes', '--message', 'Fix more\n\nWith a test.');
    expect(done).toMatchObject({ status: 0, stderr: '' });
    expect(done.stdout).toContain(`"git reset --soft ${id}" brings it back`);
    expect(history(repo, 3)).toEqual([
      'Bob: Fix the code | src/code.ts',
      'Ada Lovelace: memory: write progress.md | .memory-bank/progress.md',
      'Ada Lovelace: Fix more | src/code.ts',
    ]);
    expect(repo.git('log', '-1', '--format=%B').trim()).toBe('Fix more\n\nWith a test.');
    const message = repo.git('log', '-1', '--format=%B', 'HEAD~1');
    expect(message).toContain('\n\nBecause.\n\nMemory-Tool: write_memory_bank_file\n');
    expect(state(repo)).toEqual(before);
    expectSound(repo);
    repo.git('reset', '-q', '--soft', id);
    expect(state(repo)).toEqual(before);
  });

  deep('--amend puts the code where the amend was meant to, below other commits', () => {
    const repo = create();
    tangle(repo, 'first', 'second');
    repo.write('later.ts', 'later\n');
    repo.git('add', 'later.ts');
    repo.git('commit', '-qm', 'Later');
    const before = state(repo);
    expect(run(repo, 'untangle').stdout).toMatch(
      /^--amend puts the code into \w{12} "Fix the code"/m,
    );
    expect(run(repo, 'untangle', '--amend', '--yes').status).toBe(0);
    expect(history(repo, 6)).toEqual([
      'Ada Lovelace: Begin | README.md',
      'Ada Lovelace: memory: write first.md | .memory-bank/first.md',
      'Ada Lovelace: memory: write second.md | .memory-bank/second.md',
      'Ada Lovelace: memory: write progress.md | .memory-bank/progress.md',
      'Bob: Fix the code | src/code.ts',
      'Ada Lovelace: Later | later.ts',
    ]);
    expect(state(repo)).toEqual(before);
    expectSound(repo);
    const again = run(repo, 'untangle');
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toBe('No unpushed commit of the memory changes other files.\n');
  });

  deep('doctor names each commit that can be divided', () => {
    const repo = create();
    tangle(repo);
    const first = hash(repo, 'HEAD').slice(0, 12);
    tangle(repo, 'other');
    const second = hash(repo, 'HEAD').slice(0, 12);
    const { stdout } = run(repo, 'doctor');
    for (const id of [first, second]) {
      expect(stdout).toMatch(
        new RegExp(`^note +Commits +${id} .*"memory-bank untangle ${id}" divides it`, 'm'),
      );
    }
    const done = run(repo, 'untangle', '--yes', '--output', 'json').stdout;
    expect(JSON.parse(done)).toMatchObject({
      version: 1,
      commit: { subject: 'memory: write progress.md' },
      records: ['progress.md'],
      outside: ['src/code.ts'],
      others: 1,
      obstacle: null,
      made: expect.stringMatching(/^\w{40,64}$/),
    });
    run(repo, 'untangle', '--yes');
    expect(run(repo, 'doctor').stdout).not.toContain('Commits');
    expectSound(repo);
  });

  deep('leaves a pushed commit alone, and prints commands of git that divide it', () => {
    const repo = create();
    tangle(repo);
    repo.write('later.ts', 'later\n');
    repo.git('add', 'later.ts');
    repo.git('commit', '-qm', 'Later');
    repo.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    const before = state(repo);
    const tip = hash(repo, 'HEAD');
    expect(run(repo, 'doctor').stdout).not.toContain('Commits');
    expect(run(repo, 'untangle').stdout).toContain('No unpushed commit');
    const { status, stdout } = run(repo, 'untangle', 'HEAD~1', '--yes');
    expect(status).toBe(9);
    expect(stdout).toContain('is part of origin/main');
    expect(hash(repo, 'HEAD')).toBe(tip);

    const commands = stdout.match(/^ {2}git .*$/gm) ?? [];
    expect(commands.at(-1)).toContain('git push --force-with-lease');
    const script = commands.slice(0, -1).join('\n');
    const options = {
      cwd: repo.root,
      env: { ...env, GIT_EDITOR: 'false' },
      encoding: 'utf8',
    } as const;
    expect(spawnSync('sh', ['-e', '-c', script], options)).toMatchObject({ status: 0 });
    expect(history(repo, 4)).toEqual([
      'Bob: Fix the code | src/code.ts',
      'Ada Lovelace: memory: write progress.md | .memory-bank/progress.md',
      'Ada Lovelace: Change src/code.ts | src/code.ts',
      'Ada Lovelace: Later | later.ts',
    ]);
    expect(repo.git('branch', '--show-current').trim()).toBe('main');
    expect(state(repo)).toMatchObject({ status: before.status, tree: before.tree });
  });

  deep.each([
    ['a commit of code', 'HEAD~2', 'is not a commit of the memory'],
    ['a whole commit of the memory', 'HEAD~1', 'does not change both'],
    ['nothing to amend', 'HEAD', 'No unpushed commit of code'],
  ])('refuses %s', (_, revision, reason) => {
    const repo = create();
    repo.write('src/code.ts', 'one\n');
    repo.git('add', 'src');
    repo.git('commit', '-qm', 'Code');
    remember(repo, 'whole');
    repo.git('branch', 'other');
    remember(repo, 'progress');
    repo.write('src/code.ts', 'two\n');
    repo.git('commit', '-q', '-a', '--amend', '--no-edit');
    const tip = hash(repo, 'HEAD');
    expect(run(repo, 'untangle', '--message', ' ', '--yes').status).toBe(2);
    const { status, stderr } = run(repo, 'untangle', revision, '--amend', '--yes');
    expect(status).not.toBe(0);
    expect(stderr).toContain(reason);
    expect(hash(repo, 'HEAD')).toBe(tip);
  });

  test('divides the first commit of a repository', () => {
    const repo = new Repo();
    repos.push(repo);
    repo.git('init', '-q', '-b', 'main');
    repo.git('config', 'user.name', 'Ada Lovelace');
    repo.git('config', 'user.email', 'ada@example.org');
    repo.write('.memory-bank/progress.md', '# Progress\n');
    repo.write('code.ts', 'one\n');
    repo.git('add', '.');
    const message = 'memory: write progress.md\n\nMemory-Tool: write_memory_bank_file\n';
    repo.gitWith({ input: message }, 'commit', '-q', '-F', '-');
    expect(run(repo, 'untangle', '--yes').status).toBe(0);
    expect(history(repo, 3)).toEqual([
      'Ada Lovelace: memory: write progress.md | .memory-bank/progress.md',
      'Ada Lovelace: Change code.ts | code.ts',
    ]);
    expectSound(repo);
  });

  deep('divides a commit of the memory of a package, and not that of another package', () => {
    const repo = create();
    const inPackage = { cwd: repo.path('packages/a'), env, encoding: 'utf8' } as const;
    repo.write('packages/a/code.ts', 'one\n');
    repo.write('packages/b/.memory-bank/b.md', 'b\n');
    repo.write('packages/a/.memory-bank/a.md', 'a\n');
    repo.git('add', '.');
    const message = 'memory: write a.md\n\nMemory-Tool: write_memory_bank_file\n';
    repo.gitWith(
      { input: message },
      'commit',
      '-q',
      '-F',
      '-',
      ':(glob)packages/*/.memory-bank/**',
    );
    const untangle = () =>
      spawnSync(process.execPath, [main, '--root', '.', 'untangle', '--yes'], inPackage).stdout;
    expect(untangle()).toContain('No unpushed commit');
    repo.git('commit', '-q', '-a', '--amend', '--no-edit');
    expect(untangle()).toContain('is divided');
    const memory = history(repo, 2)[0];
    expect(memory).toBe('Ada Lovelace: memory: write a.md | packages/a/.memory-bank/a.md');
    expectSound(repo);
  });

  deep('divides what a real change and a real amend have mixed', () => {
    const repo = create();
    repo.write('code.ts', 'one\n');
    repo.git('add', '.');
    repo.git('commit', '-qm', 'Fix');
    const entry = ['--category', 'patterns', '--key', 'tabs', '--value', 'Use tabs.'];
    expect(run(repo, 'memory-write', ...entry).status).toBe(0);
    repo.write('code.ts', 'two\n');
    repo.git('commit', '-q', '-a', '--amend', '--no-edit');
    expect(repo.git('show', '--format=%s', '--name-only', 'HEAD')).toContain('code.ts');
    expect(run(repo, 'untangle', '--amend', '--yes').status).toBe(0);
    expect(history(repo, 1)).toEqual(['Ada Lovelace: Fix | code.ts']);
    expect(repo.git('show', 'HEAD:code.ts')).toBe('two\n');
    expect(repo.git('show', '--format=%s', '--name-only', 'HEAD~1')).not.toContain('code.ts');
    expect(run(repo, 'memory-read', ...entry.slice(0, 4)).stdout).toContain('Use tabs.');
    expectSound(repo);
  });

  test.runIf(isFull && !!hasTerminal)('asks in a terminal', async () => {
    const repo = create();
    tangle(repo);
    const tip = hash(repo, 'HEAD');
    const command = [process.execPath, main, 'untangle'];
    const answer = (text: string) =>
      runOnTerminal(command, { cwd: repo.root, env }, [['Divide it? [y/N] ', text]]);
    expect((await answer('n\r')).status).toBe(0);
    expect(hash(repo, 'HEAD')).toBe(tip);
    expect((await answer('y\r')).seen).toContain('is divided');
    expect(hash(repo, 'HEAD')).not.toBe(tip);
  });
});
