import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Disk } from '../../src/git/disk/disk.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import type { Address } from '../../src/git/remote/login.ts';
import { ProgramRemote, type RemoteOptions } from '../../src/git/remote/program-remote.ts';
import { openObjects } from '../../src/git/repository/repository-format.ts';
import { deep } from '../support/depth.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { slashed } from '../support/slashed.ts';

const { signal } = new AbortController();
const main = 'refs/heads/main';

let here: Repo;
let there: Repo;

beforeEach(() => {
  here = Repo.create();
  there = Repo.create();
});
afterEach(() => {
  // No files of an exchange are left.
  expect(readdirSync(here.path('.git/objects')).filter((name) => /tmp/.test(name))).toEqual([]);
  expect(here.fsck()).toBe('');
  here.remove();
  there.remove();
});

function remote(address: Address, options: Partial<RemoteOptions> = {}): ProgramRemote {
  return new ProgramRemote(address, {
    disk: new Disk(new NodeFiles(), 'relaxed'),
    commonDir: here.path('.git'),
    env: gitEnv,
    sshCommand: undefined,
    partial: false,
    ...options,
  });
}

const folder = (options: Partial<RemoteOptions> = {}) =>
  remote({ kind: 'folder', url: there.root }, options);

/** The names of the object files and packs. */
const objects = () => readdirSync(here.path('.git/objects'), { recursive: true }).sort();

test('keeps fetched objects after their inspection, and nothing if that fails', async () => {
  const before = objects();
  const seen: string[] = [];
  const refuse = () => {
    throw new Error('not this');
  };
  await expect(folder().fetch(main, [], refuse, signal)).rejects.toThrow('not this');
  expect(objects()).toEqual(before);
  const { tip } = (await folder().fetch(
    main,
    [],
    (odb, oid) => seen.push(odb.read(oid).type, String(odb.size(oid))),
    signal,
  )) ?? { tip: '' };
  expect(tip).toBe(there.git('rev-parse', main).trim());
  expect(seen).toEqual(['commit', there.git('cat-file', '-s', main).trim()]);
  expect(here.git('log', '-1', '--format=%s', tip).trim()).toBe('Begin');
});

test('rewrites no address a second time', async () => {
  const config = there.path('gitconfig');
  const rule = '[url "/nowhere/"]\n\tinsteadOf = /\n\tpushInsteadOf = /\n';
  writeFileSync(config, rule);
  const env = { ...gitEnv, GIT_CONFIG_GLOBAL: config };
  const { tip = '' } = (await folder({ env }).fetch(main, [], () => {}, signal)) ?? {};
  expect(tip).toBe(there.git('rev-parse', main).trim());
  const push = { ref: 'refs/heads/new', from: undefined, to: tip };
  expect(await folder({ env }).push(push, signal)).toBe(true);
  expect(there.git('rev-parse', 'new').trim()).toBe(tip);
});

deep('stops a fetch of more bytes than its limit', async () => {
  there.write('large.bin', randomBytes(2 * 1024 * 1024));
  there.git('add', '.');
  there.git('commit', '-q', '-m', 'Add a large file');
  const before = objects();
  const small = folder({ limit: 1024 * 1024 });
  await expect(small.fetch(main, [], () => {}, signal)).rejects.toMatchObject({
    code: 'too_large',
    data: { limit: 1024 * 1024 },
  });
  expect(objects()).toEqual(before);
});

deep('ends git if the remote does not answer', async () => {
  const server = createServer();
  let open = 0;
  const closed = new Promise<void>((done) => {
    server.on('connection', (socket) => {
      open += 1;
      socket.resume().on('error', () => {});
      socket.on('close', () => {
        open -= 1;
        if (open === 0) done();
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const silent = { kind: 'http', url: `http://127.0.0.1:${port}/x.git` } as const;
  await expect(
    remote(silent, { timeout: 500 }).fetch(main, [], () => {}, signal),
  ).rejects.toMatchObject({ code: 'remote', message: expect.stringContaining('did not finish') });
  const control = new AbortController();
  setTimeout(() => control.abort(new Error('given up')), 500);
  await expect(remote(silent).fetch(main, [], () => {}, control.signal)).rejects.toThrow(
    'given up',
  );
  // The program that git has started for HTTP has ended as well.
  await closed;
  server.close();
});

test('makes ssh ask nothing, and runs the ssh that the user names', async () => {
  // A shell of git for Windows takes a backslash as the beginning of an escape.
  const ssh = slashed(there.path('ssh'));
  const say = 'tty 2>&1; (: </dev/tty) 2>/dev/null && echo "has a terminal"; echo "$SSH_ASKPASS"';
  writeFileSync(ssh, `#!/bin/sh\n{ echo "$@"; ${say}; } >> "$0.log"\nexit 1\n`, { mode: 0o755 });
  const env = { ...gitEnv, SSH_ASKPASS: '/bin/false', GIT_ASKPASS: '/bin/false' };
  const address = { kind: 'ssh', url: 'me@host.invalid:x.git' } as const;
  const options = { env, sshCommand: ssh };
  await expect(remote(address, options).fetch(main, [], () => {}, signal)).rejects.toMatchObject({
    code: 'remote',
  });
  const said = there.read('ssh.log');
  expect(said).toContain("me@host.invalid git-upload-pack 'x.git'");
  expect(said).toContain('not a tty');
  expect(said).not.toContain('has a terminal');
  expect(said).not.toContain('/bin/false');
});

deep('fetches deltas into a partial clone that does not have their base', async () => {
  const text = (first: string) => [first, ...Array(500).keys()].map((line) => `${line}\n`).join('');
  const commit = (first: string) => {
    there.write('a.txt', text(first));
    there.git('add', '.');
    there.git('commit', '-q', '-m', first);
    return there.git('rev-parse', main).trim();
  };
  const old = commit('one');
  there.git('config', 'uploadpack.allowFilter', 'true');
  here.remove();
  const options = ['--filter=blob:none', '--no-local', '--no-checkout'];
  there.git('clone', '-q', ...options, there.root, here.root);
  const tip = commit('two');
  there.git('gc', '-q');
  expect(await folder({ partial: true }).fetch(main, [old], () => {}, signal)).toMatchObject({
    tip,
  });
  expect(here.git('show', `${tip}:a.txt`)).toBe(text('two'));
});

test('names neither the user nor the password of an address', async () => {
  const url = 'ssh://me:s3cret@host.invalid/x.git';
  const env = { ...gitEnv, GIT_SSH_COMMAND: 'echo "cannot reach $*" >&2; false' };
  const asked = remote({ kind: 'ssh', url }, { env }).fetch(main, [], () => {}, signal);
  const error: unknown = await asked.catch((error) => error);
  expect(String(error)).toContain('host.invalid');
  expect(String(error)).not.toContain('s3cret');
});

test('reads the size of an object without unpacking it', async () => {
  const texts = ['', 'short\n', `${[...Array(20_000).keys()].join('\n')}\n`];
  const oids = [...texts, `${texts[2]}more\n`].map((text) =>
    here.gitWith({ input: text }, 'hash-object', '-w', '--stdin').trim(),
  );
  const tree = oids.map((oid, i) => `100644 blob ${oid}\tf${i}\n`).join('');
  const root = here.gitWith({ input: tree }, 'mktree').trim();
  here.git('update-ref', 'refs/heads/sizes', here.git('commit-tree', '-m', 'm', root).trim());
  const sizes = () => {
    const disk = new Disk(new NodeFiles(), 'relaxed');
    const odb = openObjects(disk, here.path('.git'));
    const found = [...oids, root].map((oid) => odb.size(oid));
    odb.close();
    return found;
  };
  const expected = [...oids, root].map((oid) => Number(here.git('cat-file', '-s', oid)));
  expect(sizes()).toEqual(expected);
  here.git('repack', '-q', '-a', '-d');
  expect(here.git('verify-pack', '-v', ...packs())).toMatch(/chain length/);
  expect(sizes()).toEqual(expected);
});

const packs = () =>
  readdirSync(here.path('.git/objects/pack'))
    .filter((name) => name.endsWith('.idx'))
    .map((name) => join('.git/objects/pack', name));
