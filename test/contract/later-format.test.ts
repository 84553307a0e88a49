import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { deep, sample } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const env = { ...gitEnv, PATH: process.env.PATH, HOME: newFolder() };
const needed = /needs memory-bank 9\.1\.0 or later/;
const log = '.memory-bank/decisionLog.md';

function run(repo: Repo, args: readonly string[], input = '') {
  return runProgram(repo.root, args, { env, input });
}

function decide(repo: Repo, title: string): void {
  const args = ['--title', title, '--context', 'c', '--decision', 'd'];
  const { status, stderr } = run(repo, ['log-decision', ...args]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

/** Commits what a later program does: it raises the format of the memory. */
function raise(repo: Repo): void {
  const settings = repo.read('.memory-bank/config.yaml');
  const later = settings.replace('format: 1', 'format: 99\nrequires: 9.1.0');
  repo.write('.memory-bank/config.yaml', later);
  repo.git('commit', '-qam', 'A later program');
}

/** Everything that a writer could change. */
function look(repo: Repo): readonly string[] {
  const refs = repo.git('for-each-ref', '--format=%(objectname) %(refname)');
  return [refs, repo.git('rev-parse', 'HEAD'), repo.git('status', '--porcelain', '-uall')];
}

describe('a memory of a later format is not changed by', () => {
  let repo: Repo;
  beforeAll(() => {
    repo = Repo.create();
    decide(repo, 'First');
    const remote = newFolder();
    repo.git('init', '-q', '--bare', remote);
    repo.git('remote', 'add', 'origin', remote);
    repo.git('push', '-q', '-u', 'origin', 'HEAD');
    decide(repo, 'Second');
    repo.git('branch', 'memory-review/agent');
    repo.git('reset', '-q', '--hard', 'HEAD~1');
    decide(repo, 'Third');
    decide(repo, 'Fourth');
    raise(repo);
    repo.write(
      'adr/0001-a.md',
      '# 1. Use tokens\n\n## Status\n\nAccepted\n\n## Context\n\nc\n\n## Decision\n\nd\n',
    );
  });

  const commands: readonly (readonly string[])[] = [
    ['restore', 'decisionLog.md', '--as-of', 'HEAD~2'],
    ['log-decision', '--title', 'T', '--context', 'c', '--decision', 'd'],
    ['squash', '--yes'],
    ['review', 'accept', 'agent', 'decisionLog.md', '--yes'],
    ['import', 'adr', '--from', 'adr'],
    ['verify', 'decisionLog.md'],
    ['restore-memory', '--revision', 'HEAD~2', '--confirm'],
    ['place', 'own-branch', '--yes'],
    ['memory-write', '--category', 'patterns', '--key', 'k', '--value', 'v'],
  ];
  test.each(sample(commands, 1))('%s %s %s', (...args) => {
    const before = look(repo);
    const { status, stdout, stderr } = run(
      repo,
      args.filter((arg) => arg !== undefined),
    );
    expect(stdout + stderr).toMatch(needed);
    expect(status).not.toBe(0);
    expect(look(repo)).toEqual(before);
  });
});

describe('a line of history with a later format', () => {
  /** Two branches that both change the log; the memory of `side` has a later format. */
  function fork(theirs: (text: string) => string): Repo {
    const repo = Repo.create();
    decide(repo, 'First');
    expect(run(repo, ['install-merge-driver']).status).toBe(0);
    repo.git('checkout', '-q', '-b', 'side');
    repo.write(log, theirs(repo.read(log)));
    raise(repo);
    repo.git('checkout', '-q', '-');
    repo.write(log, `${repo.read(log)}\nours\n`);
    repo.git('commit', '-qam', 'Ours');
    return repo;
  }

  deep.each(['merge', 'rebase'])('is left to git by the merge driver in a %s', (how) => {
    const repo = fork((text) => `${text}\ntheirs\n`);
    const branch = repo.git('branch', '--show-current').trim();
    const { status, stderr } = spawnSync('git', [how, 'side'], {
      ...{ cwd: repo.root, env: { ...process.env, ...env }, encoding: 'utf8' },
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(needed);
    for (const text of ['<<<<<<< ', 'ours\n', '=======\n', 'theirs\n', '>>>>>>> ']) {
      expect(repo.read(log)).toContain(text);
    }
    expect(repo.git('diff', '--name-only', '--diff-filter=U').trim()).toBe(log);
    repo.git(how, '--abort');
    expect(repo.git('branch', '--show-current').trim()).toBe(branch);
  });

  deep('is not merged by a sync', () => {
    const repo = fork((text) => `${text}\ntheirs\n`);
    const remote = newFolder();
    repo.git('init', '-q', '--bare', remote);
    repo.git('remote', 'add', 'origin', remote);
    const branch = repo.git('branch', '--show-current').trim();
    repo.git('push', '-q', 'origin', `side:${branch}`);
    repo.git('fetch', '-q');
    repo.git('branch', '-q', '--set-upstream-to', `origin/${branch}`);
    const before = look(repo);
    const { status, stdout, stderr } = run(repo, ['sync']);
    expect(stdout + stderr).toMatch(needed);
    expect(status).not.toBe(0);
    expect(look(repo)).toEqual(before);
  });
});
