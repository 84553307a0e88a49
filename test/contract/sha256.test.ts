import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

const repos: Repo[] = [];
afterEach(() => {
  for (const repo of repos.splice(0)) repo.remove();
});

function make(): { readonly repo: Repo; run(...args: string[]): string } {
  const repo = Repo.create('--object-format=sha256');
  repos.push(repo);
  return { repo, run: (...args) => runIn(repo, args).stdout };
}

function runIn(repo: Repo, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const home = join(repo.root, '.git');
  const env = { PATH: process.env.PATH, HOME: home, MEMORY_BANK_DURABILITY: 'relaxed', ...more };
  return runProgram(repo.root, args, { env });
}

const decide = (title: string, reason: string) =>
  ['log-decision', '--title', title, '--context', reason, '--decision', `${title}.`] as const;

deep('a memory in a repository of SHA-256 ids has its whole past', () => {
  const { repo, run } = make();
  repo.write('staged.txt', 'mine\n');
  repo.git('add', 'staged.txt');
  run(...decide('Use SQLite', 'One file is enough.'));
  run(...decide('Use Redis', 'Jobs are short.'));
  expect(repo.fsck()).toBe('');
  // What the person has staged stays staged, and is in no commit of the memory.
  expect(repo.status()).toEqual(['A  staged.txt']);
  expect(repo.git('log', '--format=%s', '--', 'staged.txt')).toBe('');

  expect(run('log', 'decisionLog.md')).toMatch(/Use Redis[\s\S]*Use SQLite/);
  expect(run('blame', 'decisionLog.md')).toContain('One file is enough.');
  const first = repo.git('log', '--format=%H', '-1', '--grep=SQLite').trim();
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(run('show', 'decisionLog.md', '--as-of', first)).not.toContain('Redis');
  // Of an id of 64 digits, 40 are a beginning like any other.
  expect(run('show', 'decisionLog.md', '--as-of', first.slice(0, 40))).toContain('SQLite');

  repo.git('gc', '-q');
  run('restore', 'decisionLog.md', '--as-of', first);
  expect(run('show', 'decisionLog.md')).not.toContain('Redis');
  expect(repo.fsck()).toBe('');
});

deep(
  'two clones of SHA-256 ids exchange their records, and one of SHA-1 is refused by name',
  () => {
    const { repo: one, run } = make();
    run(...decide('Use SQLite', 'One file is enough.'));
    const hub = new Repo();
    repos.push(hub);
    hub.git('init', '-q', '--bare', '--object-format=sha256', '-b', 'main');
    one.git('remote', 'add', 'origin', hub.root);
    one.git('push', '-qu', 'origin', 'main');
    const two = new Repo();
    repos.push(two);
    two.git('clone', '-q', hub.root, '.');
    two.git('config', 'user.name', 'Grace');
    two.git('config', 'user.email', 'grace@example.org');
    runIn(two, decide('Use Redis', 'Jobs are short.'));
    run(...decide('Use Kafka', 'Events are kept.'));
    expect(runIn(two, ['sync']).status).toBe(0);
    expect(run('sync')).toContain('Received 1 change');
    expect(run('show', 'decisionLog.md')).toMatch(/Use Redis/);
    expect(one.fsck()).toBe('');

    const other = Repo.create('--object-format=sha1');
    repos.push(other);
    one.git('remote', 'set-url', 'origin', other.root);
    const refused = runIn(one, ['sync']);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('object ids of another format');
    runIn(other, decide('Use Rust', 'It is fast.'));
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const pinned = runIn(from, ['memories', 'add', 'other', to.root, '--yes']);
      expect(pinned.status).not.toBe(0);
      expect(pinned.stderr).toContain(`${to.root} has object ids of another format`);
      expect(from.git('status', '--porcelain')).toBe('');
    }
  },
);

test('a repository that the program makes has the object ids that git would give it', () => {
  const root = mkdtempSync(join(tmpdir(), 'memory-bank-'));
  const repo = new Repo(root);
  repos.push(repo);
  const config = join(root, 'gitconfig');
  writeFileSync(config, '[init]\n\tdefaultObjectFormat = sha256\n');
  const env = { GIT_CONFIG_GLOBAL: config };
  expect(runIn(repo, decide('Use SQLite', 'One file.'), env).status).toBe(0);
  expect(repo.git('rev-parse', '--show-object-format').trim()).toBe('sha256');
  expect(repo.fsck()).toBe('');
  rmSync(repo.path('.git'), { recursive: true });
  const wrong = runIn(repo, decide('Use Redis', 'One.'), { ...env, GIT_DEFAULT_HASH: 'md5' });
  expect(wrong.stderr).toContain('GIT_DEFAULT_HASH has an unknown format: md5');
});
