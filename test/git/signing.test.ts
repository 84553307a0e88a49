import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Repository } from '../../src/git/commit/repository.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { findWorkTree } from '../../src/git/repository/discover.ts';
import { litter } from '../faults/place.ts';
import { gitEnv, type Repo } from '../support/repo.ts';
import { notOnWindows } from '../support/windows.ts';
import { create } from './create.ts';

const has = (program: string) => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // Some print their usage and fail.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
};

/** A repository, and next to it a home folder with the user's git configuration. */
function project(settings: Readonly<Record<string, string>>, more: NodeJS.ProcessEnv = {}) {
  const repo = create();
  const home = create();
  const file = home.path('gitconfig');
  for (const [key, value] of Object.entries(settings)) {
    home.git('config', '--file', file, key, value);
  }
  const env = {
    ...gitEnv,
    HOME: home.root,
    GIT_CONFIG_GLOBAL: file,
    MEMORY_BANK_SIGN: 'true',
    ...more,
  };
  const put = (text: string, signal?: AbortSignal) => {
    const files = new NodeFiles();
    const tree = findWorkTree(files, repo.root);
    if (!tree) throw new Error('no work tree');
    const now = () => new Date(Date.UTC(2026, 0, 2));
    const warn = () => undefined;
    const options = { env, now, lockTimeout: 2000, calm: 0, warn };
    const repository = new Repository(new Disk(files, 'relaxed'), tree, options);
    const path = 'm/a.md';
    return repository.commit(
      async () => {
        const seen = existsSync(repo.path(path)) ? readFileSync(repo.path(path)) : undefined;
        return { message: 'über\n', changes: [{ path, bytes: Buffer.from(text), seen }] };
      },
      { signal },
    );
  };
  return { repo, home, env, put };
}

/** A test that has a script instead of the signing program. */
const scripted = notOnWindows('the program is started without a shell, so it is no script there');

/** A program instead of the signing program. */
function script(home: Repo, text: string): string {
  home.write('program', `#!/bin/sh\n${text}\n`);
  chmodSync(home.path('program'), 0o755);
  return home.path('program');
}

function expectUntouched(repo: Repo): void {
  expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('1');
  expect(repo.status()).toEqual([]);
  expect(repo.fsck()).toBe('');
  expect(litter(repo.root)).toEqual([]);
}

describe.skipIf(!has('ssh-keygen'))('with a key of ssh', () => {
  function keyOf(home: Repo): string {
    const key = home.path('id');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
    home.write('allowed', `* ${readFileSync(`${key}.pub`, 'utf8')}`);
    home.git(
      'config',
      '--file',
      home.path('gitconfig'),
      'gpg.ssh.allowedSignersFile',
      home.path('allowed'),
    );
    home.git('config', '--file', home.path('gitconfig'), 'user.signingKey', key);
    return key;
  }

  test('every commit is signed, also that of an edit by hand', async () => {
    const { repo, home, env, put } = project({ 'gpg.format': 'ssh' });
    keyOf(home);
    await put('one\n');
    repo.write('m/a.md', 'by hand\n');
    const made = await put('two\n');
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('4');
    for (const commit of ['HEAD', 'HEAD~1', 'HEAD~2'])
      repo.gitWith({ env }, 'verify-commit', commit);
    expect(repo.git('log', '-2', '--format=%s').split('\n')).toEqual(
      expect.arrayContaining(['über', 'memory: keep edit by hand of a.md']),
    );
    expect(repo.git('log', '-g', '--format=%H', '-1').trim()).toBe(made?.oid);
    expect(repo.status()).toEqual([]);
    expect(repo.fsck()).toBe('');
  });

  test.skipIf(!has('ssh-agent'))('that is given as text, its agent signs', async () => {
    const socket = create();
    const agent = spawn('ssh-agent', ['-D', '-a', socket.path('socket')], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void agent.kill());
    await once(agent.stdout, 'data');
    const { repo, home, env, put } = project(
      { 'gpg.format': 'ssh' },
      { SSH_AUTH_SOCK: socket.path('socket') },
    );
    const key = keyOf(home);
    execFileSync('ssh-add', ['-q', key], { env });
    const text = readFileSync(`${key}.pub`, 'utf8').trim();
    home.git('config', '--file', home.path('gitconfig'), 'user.signingKey', `key::${text}`);
    await put('one\n');
    repo.gitWith({ env }, 'verify-commit', 'HEAD');
  });

  test('without a key nothing is committed', async () => {
    const { repo, put } = project({ 'gpg.format': 'ssh' });
    await expect(put('one\n')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('user.signingKey is not set'),
    });
    expectUntouched(repo);
  });
});

describe.skipIf(!has('gpg'))('with a key of OpenPGP', () => {
  test('commits are signed with that of the committer', async () => {
    const { repo, home, env, put } = project({
      'user.name': 'Ada',
      'user.email': 'ada@example.org',
    });
    const gpg = { env: { ...env, GNUPGHOME: home.path('.gnupg') }, stdio: 'ignore' } as const;
    home.write('.gnupg/gpg.conf', '');
    chmodSync(home.path('.gnupg'), 0o700);
    onTestFinished(() => void execFileSync('gpgconf', ['--kill', 'all'], gpg));
    const who = 'Ada <ada@example.org>';
    const make = [
      '--batch',
      '--passphrase',
      '',
      '--quick-gen-key',
      who,
      'ed25519',
      'sign',
      'never',
    ];
    execFileSync('gpg', make, gpg);
    repo.git('config', '--unset-all', 'user.name');
    repo.git('config', '--unset-all', 'user.email');
    await put('one\n');
    expect(repo.gitWith({ env }, 'log', '-1', '--format=%G? %GS').trim()).toBe(`G ${who}`);
  });
});

describe('nothing is committed', () => {
  test('if the program does not exist', async () => {
    const { repo, put } = project({ 'gpg.program': '/nonexistent/gpg' });
    await expect(put('one\n')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('/nonexistent/gpg is not installed'),
      hint: expect.stringContaining('MEMORY_BANK_SIGN'),
    });
    expectUntouched(repo);
  });

  const refusing = 'echo "[GNUPG:] FAILURE sign 1" >&2; echo "no secret key" >&2; exit 2';
  scripted.each([
    ['refuses, and the error says why', refusing, ': no secret key.'],
    ['returns no signature', 'cat >/dev/null', ''],
  ])('if the program %s', async (_, lines, reason) => {
    const { repo, home, put } = project({});
    const program = script(home, lines);
    home.git('config', '--file', home.path('gitconfig'), 'gpg.program', program);
    await expect(put('one\n')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(reason),
    });
    expectUntouched(repo);
  });

  scripted('if the call is cancelled during a passphrase prompt', async () => {
    const { repo, home, put } = project({});
    const program = script(home, 'cat >/dev/null; echo > "$0.asks"; exec sleep 100');
    home.git('config', '--file', home.path('gitconfig'), 'gpg.program', program);
    const controller = new AbortController();
    const result = put('one\n', controller.signal);
    const asking = setInterval(() => existsSync(`${program}.asks`) && controller.abort(), 5);
    onTestFinished(() => clearInterval(asking));
    await expect(result).rejects.toMatchObject({ code: 'cancelled' });
    expectUntouched(repo);
  });

  test('in a format that git does not know', async () => {
    const { repo, put } = project({ 'gpg.format': 'seal' });
    await expect(put('one\n')).rejects.toMatchObject({ code: 'unsupported' });
    expectUntouched(repo);
  });
});

test('a program that the repository names is not run', async () => {
  const { repo, home, put } = project({});
  const program = script(home, `echo > '${repo.path('run')}'`);
  repo.git('config', 'gpg.program', program);
  repo.git('config', 'gpg.openpgp.program', program);
  await put('one\n').catch(() => undefined);
  expect(existsSync(repo.path('run'))).toBe(false);
});

test('without the setting no commit is signed', async () => {
  const { repo, put } = project({ 'commit.gpgsign': 'true' }, { MEMORY_BANK_SIGN: '' });
  await put('one\n');
  expect(repo.git('cat-file', 'commit', 'HEAD')).not.toContain('gpgsig');
});
