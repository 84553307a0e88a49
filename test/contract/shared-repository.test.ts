import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { deep, isFull, sample } from '../support/depth.ts';
import { contextOf, hookInputs } from '../support/hook-clients.ts';
import { main, newFolder } from '../support/process.ts';

const group = 41_000;
const [ann, ben] = [41_001, 41_002];

/** The folder of a team, with a shared clone and its remote. */
const team = newFolder();
const [root, remote] = [join(team, 'work'), join(team, 'remote.git')];

/** Runs a program as a user of the group, whose umask keeps new files from everybody else. */
function as(user: number, command: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'umask 077; exec "$@"', '', ...command],
    {
      ...{ cwd: root, uid: user, gid: group, input, encoding: 'utf8' },
      env: { PATH: process.env.PATH, HOME: join(team, `${user}`) },
    },
  );
  expect({ command, status, stderr: status === 0 ? '' : stderr }).toEqual({
    command,
    status: 0,
    stderr: '',
  });
  return stdout;
}

const git = (user: number, ...args: string[]) => as(user, ['git', ...args]);
const run = (user: number, ...args: string[]) => as(user, [process.execPath, main, ...args]);

/** A session of an agent: the events that its client reports. */
function session(user: number, prompt: string): string {
  const { common, names } = hookInputs['Claude Code'];
  const hook = (event: string, input: object) =>
    as(user, [process.execPath, main, 'hook', event], JSON.stringify(input));
  const id = { session_id: randomUUID() };
  hook('session-start', { ...common(names.start, root), ...id, source: 'startup' });
  const found = hook('prompt', { ...common(names.prompt, root), ...id, prompt });
  hook('stop', { ...common(names.stop, root), ...id });
  hook('session-end', { ...common('SessionEnd', root), ...id });
  return contextOf(found === '' ? undefined : JSON.parse(found), names.prompt);
}

/** An hour of work: a change and a session; in the full run also searches, an exchange and a squash. */
function hour(user: number): string {
  const log = (title: string) =>
    run(user, 'log-decision', '--title', title, '--context', 'c', '--decision', 'Use JWT tokens');
  log(`Tokens of ${user}`);
  const found = session(user, 'Which JWT tokens are used?');
  if (!isFull) return found;
  run(user, 'search', 'tokens');
  run(user, 'brief');
  log(`More tokens of ${user}`);
  run(user, 'squash', '--yes');
  run(user, 'sync');
  run(user, 'log');
  run(user, 'memories');
  return found;
}

/** The entries below a folder that another user of the group cannot change. */
function closed(folder: string): string[] {
  return readdirSync(folder, { encoding: 'utf8', recursive: true }).flatMap((name) => {
    const { mode } = lstatSync(join(folder, name));
    const isFolder = (mode & 0o170000) === 0o040000;
    // Git's objects are read-only for everybody.
    const wanted = isFolder ? 0o2770 : /^objects/.test(name) ? 0o440 : 0o660;
    // Git leaves the message of its last commit to the umask.
    if (name === 'COMMIT_EDITMSG') return [];
    return (mode & wanted) === wanted ? [] : [`${(mode & 0o7777).toString(8)} ${name}`];
  });
}

describe.skipIf(process.getuid?.() !== 0)('a repository that users of a group share', () => {
  deep('is open to all of them after the work of each', { timeout: 120_000 }, () => {
    chmodSync(team, 0o755);
    for (const folder of [root, remote, ...[ann, ben].map((user) => join(team, `${user}`))]) {
      mkdirSync(folder);
      chownSync(folder, ann, group);
      chmodSync(folder, 0o2770);
    }
    for (const user of [ann, ben]) {
      const home = join(team, `${user}`);
      writeFileSync(
        join(home, '.gitconfig'),
        `[user]\n\tname = ${user}\n\temail = ${user}@example.com\n[safe]\n\tdirectory = *\n`,
      );
      chownSync(join(home, '.gitconfig'), user, group);
      chownSync(home, user, group);
    }
    git(ann, 'init', '-q', '--bare', '--shared=group', remote);
    git(ann, 'init', '-q', '--shared=group', '-b', 'main');
    git(ann, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(ann, 'remote', 'add', 'origin', remote);
    git(ann, 'push', '-q', '-u', 'origin', 'main');
    for (const user of sample([ann, ben, ann], 2)) {
      expect(hour(user)).toContain('decisionLog.md');
      expect(closed(join(root, '.git'))).toEqual([]);
      expect(closed(join(root, '.memory-bank'))).toEqual([]);
    }
    expect(git(ben, 'status', '--porcelain')).toBe('');
  });
});
