import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Session } from '../../src/core/memory/session.ts';
import { MemoryError } from '../../src/core/values/error.ts';
import { describeDeep } from '../support/depth.ts';
import { addNote, type Clone, Fleet } from '../support/fleet.ts';
import type { Opened } from '../support/open.ts';
import { main } from '../support/process.ts';
import type { Transport } from '../support/remote-server.ts';
import { gitEnv } from '../support/repo.ts';
import { hasTerminal, runOnTerminal } from '../support/terminal.ts';

const path = 'notes/first.yaml';
const request = { ours: [], theirs: [], confirm: false };

/** Two clones and a server, for the tests of a group; they are skipped where the machine lacks the server. */
function fleetOver(transport: Transport): () => Fleet {
  let fleet: Fleet | undefined;
  beforeAll(async () => {
    fleet = await Fleet.create(2, transport);
  });
  beforeEach(({ skip }) => skip(!fleet, `there is no server for ${transport} here`));
  afterAll(() => fleet?.remove());
  return () => {
    if (!fleet) throw new Error('There is no fleet.');
    return fleet;
  };
}

function clonesOf({ clones: [one, two] }: Fleet): readonly [Clone, Clone] {
  if (!one || !two) throw new Error('There are no clones.');
  return [one, two];
}

/** Does work in the first clone as a process with other variables. */
async function as<T>(fleet: Fleet, env: NodeJS.ProcessEnv, work: (opened: Opened) => Promise<T>) {
  const opened = await fleet.open(clonesOf(fleet)[0].repo, { env });
  try {
    return await work(opened);
  } finally {
    await opened.workspace.close();
  }
}

/** Syncs the first clone with other variables; that has to fail, and to change nothing here or there. */
async function refusal(fleet: Fleet, env: NodeJS.ProcessEnv): Promise<MemoryError> {
  const [{ repo }] = clonesOf(fleet);
  const state = () => [
    ...['for-each-ref', 'status --porcelain', 'ls-files -s', 'count-objects'].map((args) =>
      repo.git(...args.split(' ')),
    ),
    fleet.hub.git('for-each-ref'),
  ];
  const before = state();
  const thrown = await as(fleet, env, ({ call }) =>
    call.history.sync(request).catch((error: unknown) => error),
  );
  expect(state()).toEqual(before);
  if (!(thrown instanceof MemoryError)) throw thrown;
  expect(thrown.code).toBe('remote');
  return thrown;
}

/** Claims a record in the first clone with other variables; returns why the remote does not know it. */
const unshared = (fleet: Fleet, env: NodeJS.ProcessEnv) =>
  as(fleet, env, async ({ call }) => (await call.claims.claim(path, 5)).unshared);

const environment = (command: string) => ({ GIT_SSH_COMMAND: command });

describeDeep.each(['SSH', 'HTTPS', 'gitolite'] as const)('over %s', (transport) => {
  const served = fleetOver(transport);

  test('clones exchange changes and claims, and pin the memory', async () => {
    const fleet = served();
    const [one, two] = clonesOf(fleet);
    await addNote(one, 'one');
    await addNote(two, 'two');
    await one.opened.call.history.sync(request);
    expect(await two.opened.call.history.sync(request)).toMatchObject({ sent: 2 });
    await one.opened.call.history.sync(request);
    expect(one.repo.git('rev-parse', 'HEAD')).toBe(fleet.hub.git('rev-parse', 'main'));

    expect(await one.opened.call.claims.claim(path, 5)).not.toHaveProperty('unshared');
    const other = two.opened.callOf(new Session(() => '01OTHER'));
    await expect(other.claims.claim(path, 5)).rejects.toMatchObject({ code: 'conflict' });
    expect(await one.opened.call.claims.release(path, false)).toBe(true);
    expect(fleet.hub.git('for-each-ref', 'refs/memory-bank')).toBe('');

    const { memories } = one.opened.call;
    const { pin } = await memories.preview({ name: 'team', url: fleet.url, commit: '' });
    await memories.pin('team', undefined, pin);
    await memories.forget('team');
    expect(await memories.fetch()).toMatchObject([{ records: 3, problem: undefined }]);
    // Not the tip of a branch: some servers give such a commit only with all branches.
    const older = one.repo.git('rev-parse', `${pin.commit}~1`).trim();
    const earlier = await memories.preview({ ...pin, commit: older });
    expect(earlier.pin.commit).toBe(older);
    for (const { repo } of fleet.clones) expect(repo.fsck()).toBe('');
  });
});

describeDeep('SSH', () => {
  const served = fleetOver('SSH');
  const server = () => {
    const { ssh } = served().remote;
    if (!ssh) throw new Error('There is no server.');
    return ssh;
  };

  test('says which key is refused, and what to do', async () => {
    const ssh = server();
    const known = readFileSync(`${ssh.makeKey('impostor')}.pub`, 'utf8');
    const hosts = `${ssh.home}/other_hosts`;
    writeFileSync(hosts, `${new URL(served().url).host.replace(/(.*):/, '[$1]:')} ${known}`);
    const key = ssh.acceptKey('accepted');
    const locked = ssh.acceptKey('locked', 'secret');
    for (const [options, message, hint] of [
      [{ key: locked }, /accepts no key that ssh offers: .*Permission denied/, /ssh-add/],
      [{ key: ssh.makeKey('unknown') }, /accepts no key that ssh offers/, /~\/\.ssh/],
      [{ key, hosts: '/dev/null' }, /has a host key that ssh does not know\.$/, /fingerprint/],
      [{ key, hosts }, /has another host key than the one that ssh knows\.$/, /ssh-keygen -R/],
    ] as const) {
      const env = environment(ssh.command(options));
      const error = await refusal(served(), env);
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      expect(await unshared(served(), env)).toBe(error.text);
    }
  });

  test('never asks on the terminal of the user', async ({ skip }) => {
    skip(!hasTerminal, 'script(1) is missing');
    const [{ repo }] = clonesOf(served());
    const ssh = server();
    for (const command of [
      ssh.command({ key: ssh.acceptKey('asking', 'secret') }),
      ssh.command({ key: ssh.acceptKey('silent'), hosts: '/dev/null' }),
    ]) {
      const env = { ...gitEnv, ...environment(command) };
      const run = { cwd: repo.root, env };
      const { status, seen } = await runOnTerminal([process.execPath, main, 'sync'], run, []);
      expect(status).toBe(11);
      expect(seen).toMatch(/accepts no key|does not know/);
      expect(seen).not.toMatch(/passphrase for|yes\/no/);
    }
  });

  test('gives up a server that says nothing, and one that is not there', async () => {
    const fleet = served();
    const [{ repo }] = clonesOf(fleet);
    const silent = createServer((socket) => void socket.resume().on('error', () => undefined));
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const address = silent.address();
    if (address === null || typeof address === 'string') throw new Error('There is no port.');
    repo.git('remote', 'set-url', 'origin', `ssh://git@127.0.0.1:${address.port}/hub.git`);
    const { env } = server();
    const hurried = environment(`${env.GIT_SSH_COMMAND} -o ConnectTimeout=1`);
    try {
      const error = await refusal(fleet, hurried);
      expect(error.message).toMatch(/cannot be reached: Connection timed out/);
      silent.close();
      expect((await refusal(fleet, {})).message).toMatch(/cannot be reached: .*refused/);
      repo.git('remote', 'set-url', 'origin', server().url('/nowhere.git'));
      expect((await refusal(fleet, {})).message).toMatch(/does not appear to be a git repository$/);
    } finally {
      silent.close();
      repo.git('remote', 'set-url', 'origin', fleet.url);
    }
  });

  test.each(['pre-receive', 'post-receive'])('loses nothing if it dies in %s', async (hook) => {
    const fleet = served();
    const [{ repo, opened }] = clonesOf(fleet);
    const [file, mark] = [fleet.hub.path(`hooks/${hook}`), fleet.hub.path('mark')];
    writeFileSync(file, `#!/bin/sh\ntouch '${mark}'\nsleep 60\n`);
    chmodSync(file, 0o755);
    await addNote(clonesOf(fleet)[0], hook);
    const before = repo.git('rev-parse', 'HEAD');
    const sync = opened.call.history.sync(request).catch((error: unknown) => error);
    await expect.poll(() => existsSync(mark), { interval: 20 }).toBe(true);
    await server().end();
    expect(await sync).toMatchObject({
      code: 'remote',
      message: expect.stringContaining('ended the connection too early'),
      hint: expect.stringContaining('Try again'),
    });
    expect(repo.git('rev-parse', 'HEAD')).toBe(before);
    for (const one of [file, mark]) rmSync(one);
    await server().begin();
    const [, two] = clonesOf(fleet);
    for (const one of [opened, two.opened]) await one.call.history.sync(request);
    const log = fleet.hub.git('log', '--format=%s', 'main').split('\n');
    expect(log.filter((subject) => subject.endsWith(`add ${hook}`))).toHaveLength(1);
    expect(two.repo.git('rev-parse', 'HEAD')).toBe(before);
    for (const one of [repo, two.repo, fleet.hub]) expect(one.fsck()).toBe('');
  });
});

describeDeep('HTTPS', () => {
  const served = fleetOver('HTTPS');
  const server = () => {
    const { http } = served().remote;
    if (!http) throw new Error('There is no server.');
    return http;
  };
  const login = (text: string) => ({ MEMORY_BANK_GIT_CREDENTIALS: server().url('', text) });

  test('says which login or certificate is refused, and what to do', async () => {
    server().reader = 'you:right';
    await addNote(clonesOf(served())[0], 'unsent');
    for (const [env, message, hint, status] of [
      [{ MEMORY_BANK_GIT_CREDENTIALS: '' }, /asks for credentials\.$/, /credential helper/, 401],
      [login('me:s3cret'), /does not accept the credentials\.$/, /credential helper/, 401],
      [login('you:right'), /does not allow this with them \(403\)\.$/, /right to read/, 403],
      [{ GIT_SSL_CAINFO: undefined }, /a certificate that git does not trust/, /sslCAInfo/, null],
    ] as const) {
      const error = await refusal(served(), env);
      expect(error.message).toMatch(message);
      expect(error.message).not.toMatch(/s3cret|right/);
      expect(error.hint).toMatch(hint);
      expect(error.data).toEqual(status ? { status } : {});
      expect(await unshared(served(), env)).toBe(error.text);
    }
  });

  test('does not keep a claim waiting that gets no answer', async () => {
    const asked = new Promise<void>((done) => {
      server().fault = () => {
        done();
        return 'hang';
      };
    });
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const claimed = unshared(served(), {});
      await asked;
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await claimed).toContain('did not answer within 10 seconds');
    } finally {
      vi.useRealTimers();
      server().fault = undefined;
    }
    expect(await unshared(served(), {})).toBeUndefined();
  });
});

describeDeep('gitolite', () => {
  const served = fleetOver('gitolite');
  const user = (name: string) => served().remote.gitolite?.envOf(name) ?? {};

  test('says in its words which right is missing', async () => {
    await addNote(clonesOf(served())[0], 'unsent');
    for (const [name, message, words] of [
      ['stranger', 'cannot be used', 'FATAL: R any project stranger DENIED by fallthru'],
      ['reader', 'cannot be used', 'FATAL: W any project reader DENIED by fallthru'],
      ['guest', 'refuses the push', 'It says: FATAL: W refs/heads/main project guest DENIED by'],
    ] as const) {
      const { message: text, hint } = await refusal(served(), user(name));
      expect(text).toContain(message);
      expect(`${text} ${hint}`).toContain(words);
      expect(`${text} ${hint}`).not.toMatch(/remote: |Could not read from/);
    }
  });

  test('shares a claim only where the refs may be made and removed', async () => {
    const reason = await unshared(served(), user('author'));
    expect(reason).toMatch(/W refs\/memory-bank\/claims\/\w+ project author DENIED/);
    expect(reason).toContain('create, change and delete refs below refs/memory-bank/');
    expect(await unshared(served(), user('adder'))).toBeUndefined();
    const released = as(served(), user('adder'), ({ call }) => call.claims.release(path, false));
    await expect(released).rejects.toMatchObject({
      hint: expect.stringMatching(/\+ refs\/memory-bank\/claims\/\w+ project adder DENIED/),
    });
    await as(served(), user('guest'), ({ call }) => call.claims.release(path, false));
    expect(served().hub.git('for-each-ref', 'refs/memory-bank')).toBe('');
  });
});
