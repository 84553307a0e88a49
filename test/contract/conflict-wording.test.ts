import { spawnSync } from 'node:child_process';
import { afterAll, expect } from 'vitest';
import { toolsets } from '../../src/toolsets/index.ts';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const repos: Repo[] = [];
afterAll(() => {
  for (const repo of repos) repo.remove();
});

const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };
const record = '.memory-bank/knowledge/patterns/tabs.md';
const toolNames = toolsets
  .flatMap(({ tools }) => tools.map(({ name }) => name))
  .filter((name) => name.includes('_'));

function run(repo: Repo, ...args: string[]) {
  return runProgram(repo.root, args, { env });
}

/** A record that two branches changed, in a clone without the merge driver. */
function create(): Repo {
  const repo = Repo.create();
  repos.push(repo);
  const write = ['memory-write', '--category', 'patterns', '--key', 'tabs', '--value'];
  expect(run(repo, ...write, 'one').status).toBe(0);
  repo.git('branch', 'other');
  change(repo, 'two');
  repo.git('checkout', '-q', 'other');
  change(repo, 'three');
  repo.git('checkout', '-q', 'main');
  return repo;
}

function change(repo: Repo, value: string): void {
  repo.write(record, repo.read(record).replace(/one/, value));
  repo.git('commit', '-qam', `Change it to ${value}`);
}

function stashed(repo: Repo): void {
  repo.git('reset', '-q', '--hard', 'HEAD~1');
  repo.write(record, repo.read(record).replace('one', 'two'));
  repo.git('stash', '-q');
  change(repo, 'three');
}

/** Commands that meet the conflict. */
const commands = [
  ['status'],
  ['list'],
  ['show', 'knowledge/patterns/tabs.md'],
  ['search', 'tabs'],
  ['check'],
  ['log', '--limit', '1'],
  ['diff', 'HEAD~1'],
  ['branches'],
  ['memory-list'],
  ['memory-read', '--category', 'patterns', '--key', 'tabs'],
  ['memory-write', '--category', 'patterns', '--key', 'tabs', '--value', 'four'],
  ['memory-write', '--category', 'patterns', '--key', 'new', '--value', 'four'],
  ['log-decision', '--title', 'a', '--context', 'b', '--decision', 'c'],
  ['restore', 'knowledge/patterns/tabs.md', '--as-of', 'HEAD'],
  ['sync'],
  ['doctor'],
];
/** Commands that have nothing to do in these repositories, unless an operation of git is under way. */
const rewrites = [['squash', '--yes'], ['untangle']];

deep.each([
  ['merge', ['merge', 'other'], () => {}],
  ['rebase', ['rebase', 'other'], () => {}],
  ['cherry-pick', ['cherry-pick', 'other'], () => {}],
  ['stash pop', ['stash', 'pop'], stashed],
])('every command names "memory-bank resolve" at a conflict of a %s', (_, command, prepare) => {
  const repo = create();
  const remote = new Repo();
  repos.push(remote);
  remote.git('init', '-q', '--bare');
  repo.git('remote', 'add', 'origin', remote.root);
  repo.git('push', '-q', '-u', 'origin', 'main');
  prepare(repo);
  expect(spawnSync('git', command, { cwd: repo.root, env: gitEnv }).status).toBe(1);
  for (const args of prepare === stashed ? commands : [...commands, ...rewrites]) {
    const { stdout, stderr } = run(repo, ...args);
    expect(`${stdout}${stderr}`, args.join(' ')).toMatch(/\\?"memory-bank resolve\\?"/);
    const worded = toolNames.filter((name) => new RegExp(`\\b${name}\\b`).test(stdout + stderr));
    expect(worded, `${args.join(' ')}: ${stdout}${stderr}`).toEqual([]);
  }
  expect(repo.git('ls-files', '-u')).not.toBe('');
  const unresolved = run(repo, 'resolve');
  expect(unresolved.status).toBe(4);
  expect(unresolved.stdout).toContain('Decide for a side with --ours <path>');
  expect(run(repo, 'resolve', '--ours', 'knowledge/patterns/tabs.md').status).toBe(0);
  expect(run(repo, 'resolve', '--ours', 'x').stderr).toMatch(/^memory-bank: --ours: x is not in /);
  expect(repo.git('ls-files', '-u')).toBe('');
});

deep('a sync that meets a conflict names its options and "memory-bank resolve"', () => {
  const repo = create();
  const remote = new Repo();
  repos.push(remote);
  remote.git('init', '-q', '--bare');
  repo.git('remote', 'add', 'origin', remote.root);
  repo.git('push', '-q', 'origin', 'other:main');
  repo.git('fetch', '-q');
  repo.git('branch', '-q', '-u', 'origin/main', 'main');
  const { status, stderr } = run(repo, 'sync');
  expect(status).toBe(4);
  expect(stderr).toContain('Name each path in --ours or --theirs');
  expect(stderr).toContain('"memory-bank diff" from HEAD to origin/main');
  expect(stderr).toContain('run "git pull", then "memory-bank resolve"');
});
