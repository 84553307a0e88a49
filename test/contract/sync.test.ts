import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/values/json.ts';
import { sha1 } from '../../src/git/objects/object-format.ts';
import { deep, describeDeep, sample } from '../support/depth.ts';
import { GitServer } from '../support/git-server.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, objectFormat, Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';

/** A clone, and the program that serves its memory. */
class Clone extends Served {
  /** A sync that has to fail without any change here. */
  async refuse(args: JsonObject = {}): Promise<JsonObject> {
    const before = this.#state();
    const { error, body } = await this.try('sync_memory', args);
    expect(error).toBeDefined();
    expect(this.#state()).toEqual(before);
    expect(this.repo.fsck()).toBe('');
    return body;
  }

  sync(args: JsonObject = {}): Promise<JsonObject> {
    return this.call('sync_memory', args);
  }

  #state() {
    const { repo } = this;
    const index = readFileSync(repo.path('.git/index')).toString('hex');
    return { head: this.head(), status: repo.status(), index, log: repo.git('reflog') };
  }
}

let folder: string;
let server: GitServer;
const clones: Clone[] = [];

beforeAll(async () => {
  folder = newFolder();
  server = await GitServer.start(folder);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** A bare repository on the server, with a memory in it or with code alone. */
async function begin(name: string, memory = true): Promise<void> {
  const bare = new Repo(folder);
  bare.git('init', '-q', '--bare', '-b', 'main', name);
  bare.git('-C', name, 'config', 'http.receivepack', 'true');
  const first = clone(name);
  first.repo.write('src/code.ts', 'one\n');
  first.repo.git('add', '.');
  first.repo.git('commit', '-q', '-m', 'Begin');
  if (memory) await first.write('first', 'of all');
  // Not over HTTP: the server is in this process, which waits.
  first.repo.git('push', '-q', join(folder, name), 'main');
}

function clone(name: string, url = server.url(name), ...options: string[]): Clone {
  const root = newFolder();
  new Repo(folder).git('clone', '-q', ...options, join(folder, name), root);
  const repo = new Repo(root);
  repo.git('remote', 'set-url', 'origin', url);
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  const made = new Clone(repo);
  clones.push(made);
  return made;
}

let name: string;
let count = 0;
beforeEach(async () => {
  name = `project-${count++}.git`;
  await begin(name);
});
afterEach(async () => {
  server.credentials = undefined;
  server.onRequest = undefined;
  delete process.env.MEMORY_BANK_GIT_CREDENTIALS;
  for (const one of clones.splice(0)) {
    await one.close();
    expect(one.repo.fsck()).toBe('');
    one.repo.remove();
  }
});

/** Removes the remote-tracking branch of a clone. */
function forget({ repo }: Clone): void {
  repo.git('symbolic-ref', '-d', 'refs/remotes/origin/HEAD');
  repo.git('update-ref', '-d', 'refs/remotes/origin/main');
}

/** Sets variables of this process for one piece of work. */
async function withEnv<T>(env: { readonly [name: string]: string }, work: () => Promise<T>) {
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

const bare = () => new Repo(join(folder, name));
const tip = (branch = 'main') => bare().git('rev-parse', branch).trim();

const remotes: readonly (readonly [string, () => string])[] = [
  ['a folder', () => join(folder, name)],
  ['HTTP', () => server.url(name)],
];

deep('squashes the unpushed memory commits before it pushes, if the settings say so', async () => {
  const one = clone(name);
  const config = '.memory-bank/config.yaml';
  one.repo.write(config, `${one.repo.read(config)}squash_before_sync: true\n`);
  one.repo.git('commit', '-q', '-am', 'Squash before sync');
  one.repo.git('push', '-q', join(folder, name), 'main');
  one.repo.git('update-ref', 'refs/remotes/origin/main', 'main');
  const before = tip();
  for (const key of ['a', 'b', 'c']) await one.write(key, 'v');
  expect(await one.sync()).toMatchObject({ sent: 1 });
  expect(bare().git('rev-list', '--count', `${before}..main`).trim()).toBe('1');
  expect(bare().git('log', '-1', '--format=%s', 'main').trim()).toMatch(
    /^memory: squash 3 changes/,
  );
  // A commit of code between them is not moved.
  await one.write('d', 'v');
  one.repo.write('src/code.ts', 'two\n');
  one.repo.git('commit', '-q', '-am', 'Code');
  await one.write('e', 'v');
  expect(await one.sync({ confirm: true })).toMatchObject({ sent: 3 });
});

describe.each(sample(remotes, 1))('over %s', (_, url) => {
  deep('three clones that write at once converge, and nothing is lost', async () => {
    const three = [1, 2, 3].map(() => clone(name, url()));
    await Promise.all(
      three.map(async (one, i) => {
        for (let round = 0; round < 3; round++) {
          await one.write(`clone-${i}-${round}`, `value ${round}`);
          const decision = { title: `Of ${i} in ${round}`, context: 'c', decision: 'd' };
          await one.call('log_decision', decision);
          await one.sync();
        }
      }),
    );
    for (const one of three) await one.sync();
    const heads = new Set(three.map((one) => one.head()));
    expect([...heads]).toEqual([tip()]);
    const keys = [0, 1, 2].flatMap((i) => [0, 1, 2].map((round) => `clone-${i}-${round}`));
    for (const one of three) {
      expect(await one.keys()).toEqual([...keys, 'first']);
      const log = one.repo.read('.memory-bank/decisionLog.md');
      expect(log.match(/^## Of \d in \d/gm)).toHaveLength(9);
      expect(one.repo.status()).toEqual([]);
      expect(one.repo.git('rev-parse', 'origin/main').trim()).toBe(tip());
    }
  });

  test('new commits go both ways, as one merge that names its cause', async () => {
    const [one, two] = [clone(name, url()), clone(name, url())];
    expect(await one.sync()).toMatchObject({ upstream: 'origin/main', received: 0, sent: 0 });
    await one.write('one', '1');
    expect(await one.sync()).toMatchObject({ received: 0, sent: 1 });
    expect(await two.sync()).toMatchObject({
      received: 1,
      changes: [{ change: 'added', path: 'knowledge/patterns/one.md' }],
      sent: 0,
      meta: {},
    });
    expect(two.head()).toBe(one.head());
    expect(two.repo.git('log', '-g', '-1', '--format=%gs').trim()).toContain('Fast-forward');
    await one.write('again', '1');
    await two.write('two', '2');
    await one.sync();
    const { meta } = await two.sync();
    expect(meta).toMatchObject({ 'memory-bank/commit': two.head() });
    expect(two.repo.git('log', '-1', '--format=%P').trim()).toBe(
      `${two.repo.git('rev-parse', 'HEAD^1').trim()} ${one.head()}`,
    );
    const message = two.repo.git('log', '-1', '--format=%B');
    expect(message).toMatch(/^memory: merge origin\/main\n\nMemory-Tool: sync_memory\n/);
    expect(message).toContain('Memory-Record: knowledge/patterns/again.md\n');
    expect(message).toContain(`Memory-Merged: ${one.head()}\n`);
    await one.sync();
    expect(one.head()).toBe(tip());
    expect(await one.keys()).toEqual(['again', 'first', 'one', 'two']);
  });

  deep('a record that is too large is refused by name, and nothing of it is kept', async () => {
    const [one, two] = [clone(name, url()), clone(name, url())];
    const path = '.memory-bank/knowledge/large.yaml';
    one.repo.write(path, Buffer.alloc(20 * 1024 * 1024));
    one.repo.git('add', '.');
    one.repo.git('commit', '-q', '-m', 'Add a large file');
    one.repo.git('push', '-q', join(folder, name), 'main');
    const objects = () => two.repo.git('cat-file', '--batch-all-objects', '--batch-check');
    const [known, before] = [objects(), readdirSync(two.repo.path('.git/objects'))];
    expect(await two.refuse()).toMatchObject({
      error: 'too_large',
      message: expect.stringContaining(path),
    });
    expect(objects()).toBe(known);
    expect(readdirSync(two.repo.path('.git/objects'))).toEqual(before);
    // Once it is here all the same, it is refused before it is read.
    two.repo.git('fetch', '-q', join(folder, name), 'main');
    expect(await two.refuse()).toMatchObject({ message: expect.stringContaining(path) });
    one.repo.git('rm', '-q', path);
    one.repo.git('commit', '-q', '-m', 'Remove it');
    one.repo.git('push', '-q', join(folder, name), 'main');
    await two.sync();
    expect(two.head()).toBe(tip());
  });

  deep('names that some file systems do not tell apart are refused by name', async () => {
    const [one, two] = [clone(name, url()), clone(name, url())];
    const record = (path: string) => `.memory-bank/${path}`;
    /** Commits and pushes what a person changes in the first clone. */
    const push = (change: () => void) => {
      change();
      one.repo.git('add', '-A');
      one.repo.git('commit', '-q', '-m', 'Change files');
      one.repo.git('push', '-q', join(folder, name), 'main');
    };
    const add = (path: string) => one.repo.write(record(path), `${path}\n`);
    const rename = (from: string, to: string) => one.repo.git('mv', record(from), record(to));
    push(() => ['caf\u00e9.md', 'Notes.md', 'sub/caf\u00e9/a.md'].forEach(add));
    await two.sync();
    two.repo.write(record('draft.md'), 'not committed\n');
    // A rename leaves only one of the two.
    push(() => rename('caf\u00e9.md', 'cafe\u0301.md'));
    push(() => rename('Notes.md', 'notes.md'));
    await two.sync();
    expect(two.head()).toBe(tip());
    for (const [here, there] of [
      ['cafe\u0301.md', 'caf\u00e9.md'],
      ['notes.md', 'NOTES.md'],
      ['sub/caf\u00e9/a.md', 'sub/cafe\u0301/a.md'],
      ['draft.md', 'Draft.md'],
    ] as const) {
      push(() => add(there));
      expect(await two.refuse()).toMatchObject({
        error: 'already_exists',
        message: expect.stringContaining(`${record(there)} cannot be kept next to ${record(here)}`),
      });
      push(() => one.repo.git('rm', '-q', record(there)));
    }
    // Two that arrive together.
    push(() => ['both/\u00c5.md', 'both/A\u030a.md'].forEach(add));
    expect(await two.refuse()).toMatchObject({ error: 'already_exists' });
    push(() => rename('both/\u00c5.md', 'both/b.md'));
    await two.sync();
    expect(two.head()).toBe(tip());
  });

  deep('an empty remote gets the branch', async () => {
    const empty = `empty-${name}`;
    new Repo(folder).git('init', '-q', '--bare', '-b', 'main', empty);
    new Repo(join(folder, empty)).git('config', 'http.receivepack', 'true');
    const one = clone(name, url().replace(name, empty));
    forget(one);
    expect(await one.refuse()).toMatchObject({ error: 'confirmation_required' });
    await one.sync({ confirm: true });
    expect(new Repo(join(folder, empty)).git('rev-parse', 'main').trim()).toBe(one.head());
  });
});

deep('a lost race is retried', async () => {
  const [one, two] = [clone(name), clone(name)];
  await one.write('one', '1');
  await two.write('two', '2');
  let raced = false;
  server.onRequest = (asked) => {
    if (!asked.includes('git-receive-pack') || raced) return;
    raced = true;
    two.repo.git('push', '-q', join(folder, name), 'main');
  };
  expect(await one.sync()).toMatchObject({ received: 1, sent: 2 });
  expect(raced).toBe(true);
  // Only the merge that was taken is in the history.
  expect(one.repo.git('log', '--merges', '--format=%H').trim()).toBe(one.head());
  expect(one.head()).toBe(tip());
});

describeDeep('code', () => {
  /** A commit of a person that changes a file of the code. */
  function edit({ repo }: Clone, file: string, text: string | undefined, push = true): void {
    if (text === undefined) repo.git('rm', '-q', file);
    else repo.write(file, text);
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', `Edit ${file}`);
    if (push) repo.git('push', '-q', join(folder, name), 'main');
  }

  test('that only the remote changed comes along, to memory that both changed', async () => {
    const [one, two] = [clone(name), clone(name)];
    one.repo.write('docs/new.md', 'new\n');
    edit(one, 'src/code.ts', 'two\n');
    edit(one, 'run.sh', '#!/bin/sh\n');
    await two.write('two', '2');
    two.repo.write('notes.txt', 'untracked\n');
    expect(await two.sync()).toMatchObject({ files_outside: 3, sent: 2 });
    expect(two.repo.read('src/code.ts')).toBe('two\n');
    expect(two.repo.status()).toEqual(['?? notes.txt']);
    expect(two.repo.git('diff', one.head(), 'HEAD', '--name-only').trim()).toBe(
      '.memory-bank/knowledge/patterns/two.md',
    );
    edit(one, 'docs/new.md', undefined, false);
    await one.sync({ confirm: true });
    await two.sync();
    expect(existsSync(two.repo.path('docs'))).toBe(false);
    expect(two.head()).toBe(one.head());
  });

  test('is distinguished from the first memory of a project', async () => {
    name = `code-${name}`;
    await begin(name, false);
    const [one, two] = [clone(name), clone(name)];
    await one.write('one', '1');
    edit(two, 'src/code.ts', 'two\n');
    expect(await one.sync()).toMatchObject({ files_outside: 1 });
    expect(one.repo.read('src/code.ts')).toBe('two\n');
    expect(tip()).toBe(one.head());
    const three = clone(name);
    await three.sync();
    expect(three.repo.read('.memory-bank/knowledge/patterns/one.md')).toContain('1');
  });

  test('that a person is changing here is not touched', async () => {
    const [one, two] = [clone(name), clone(name)];
    edit(one, 'src/code.ts', 'two\n');
    two.repo.write('src/code.ts', 'mine\n');
    expect(await two.refuse()).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining('src/code.ts'),
    });
    two.repo.git('add', '.');
    await two.refuse();
    two.repo.git('reset', '-q', '--hard');
    edit(one, 'new.txt', 'theirs\n');
    two.repo.write('new.txt', 'untracked\n');
    expect(await two.refuse()).toMatchObject({ message: expect.stringContaining('new.txt') });
    expect(two.repo.read('new.txt')).toBe('untracked\n');
  });

  test('that both sides changed is left to git', async () => {
    const [one, two] = [clone(name), clone(name)];
    edit(one, 'src/code.ts', 'two\n');
    edit(two, 'other.ts', 'other\n', false);
    await two.write('two', '2');
    expect(await two.refuse({ confirm: true })).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining('git pull'),
    });
    two.repo.git('pull', '-q', '--no-rebase', '--no-edit', join(folder, name), 'main');
    await two.sync({ confirm: true });
    expect(tip()).toBe(two.head());
  });

  test('that is not pushed is published only with confirmation', async () => {
    const one = clone(name);
    edit(one, 'src/code.ts', 'draft\n', false);
    await one.write('one', '1');
    expect(await one.refuse()).toMatchObject({
      error: 'confirmation_required',
      requires_confirmation: true,
    });
    expect(await one.sync({ confirm: true })).toMatchObject({ sent: 2 });
    expect(tip()).toBe(one.head());
  });

  test('that is not a regular file, or is converted, is left to git', async () => {
    const [one, two] = [clone(name), clone(name)];
    one.repo.git(
      'update-index',
      '--add',
      '--cacheinfo',
      '120000',
      one.repo.git('rev-parse', 'HEAD:src/code.ts').trim(),
      'link',
    );
    one.repo.git('commit', '-q', '-m', 'A link');
    one.repo.git('push', '-q', join(folder, name), 'main');
    expect(await two.refuse()).toMatchObject({
      error: 'unsupported',
      message: expect.stringContaining('link'),
    });
    one.repo.git('rm', '-q', '--cached', 'link');
    edit(one, '.gitattributes', '*.png filter=lfs\n');
    expect(await two.refuse()).toMatchObject({
      error: 'unsupported',
      message: expect.stringContaining('.gitattributes'),
    });
  });
});

deep('the command line reports what was received and sent', async () => {
  const [one, two] = [clone(name, join(folder, name)), clone(name)];
  await two.write('two', '2');
  await two.sync();
  await one.write('one', '1');
  const { status, stdout } = runProgram(one.repo.root, ['sync'], {
    env: { ...gitEnv, HOME: folder },
  });
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: `+ knowledge/patterns/two.md\nReceived 1 change; sent 2 commits.\nHere and origin/main are at ${tip().slice(0, 12)}.\n`,
  });
});

describe('memory', () => {
  deep('that conflicts changes nothing until a side is chosen', async () => {
    const [one, two] = [clone(name), clone(name)];
    await one.write('first', 'ours');
    await one.sync();
    await two.write('first', 'theirs');
    await two.write('more', 'of it');
    const path = 'knowledge/patterns/first.md';
    expect(await two.refuse()).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining(path),
    });
    expect(await two.sync({ ours: [path] })).toMatchObject({ sent: 3 });
    expect(two.repo.read(`.memory-bank/${path}`)).toContain('theirs');
    await one.sync();
    expect(one.repo.read(`.memory-bank/${path}`)).toContain('theirs');
    expect(await one.keys()).toEqual(['first', 'more']);
  });

  deep('that a person is editing is committed first, and merged', async () => {
    const [one, two] = [clone(name), clone(name)];
    await one.call('write_memory_bank_file', { filename: 'notes.md', content: 'a\n\nb\n\nc\n' });
    await one.sync();
    await two.sync();
    await one.call('write_memory_bank_file', { filename: 'notes.md', content: 'A\n\nb\n\nc\n' });
    await one.sync();
    two.repo.write('.memory-bank/notes.md', 'a\n\nb\n\nC\n');
    expect(await two.sync()).toMatchObject({ sent: 2 });
    expect(two.repo.read('.memory-bank/notes.md')).toBe('A\n\nb\n\nC\n');
    expect(two.repo.status()).toEqual([]);
    expect(two.repo.git('log', '-1', '--format=%s', 'HEAD^1')).toContain('keep edit by hand');
    expect(tip()).toBe(two.head());
  });

  deep('is found by the next call without a restart', async () => {
    const [one, two] = [clone(name), clone(name)];
    expect(await two.keys()).toEqual(['first']);
    await one.write('one', '1');
    await one.sync();
    await two.sync();
    expect(await two.keys()).toEqual(['first', 'one']);
  });
});

describeDeep('it says by name', () => {
  test('that there is no upstream, no branch, or one of another name', async () => {
    const one = clone(name);
    one.repo.checkout('topic');
    expect(await one.refuse()).toMatchObject({
      error: 'not_found',
      message: expect.stringContaining('git push -u origin topic'),
    });
    one.repo.git('branch', '-q', '-u', 'origin/main');
    expect(await one.refuse()).toMatchObject({
      error: 'unsupported',
      message: expect.stringContaining('follows origin/main'),
    });
    one.repo.git('checkout', '-q', '--detach');
    expect(await one.refuse()).toMatchObject({
      error: 'not_found',
      message: expect.stringContaining('detached'),
    });
  });

  test('that a merge is under way', async () => {
    const one = clone(name);
    writeFileSync(one.repo.path('.git/MERGE_HEAD'), `${one.head()}\n`);
    expect(await one.refuse()).toMatchObject({ error: 'busy' });
  });

  test('that another branch was checked out meanwhile', async () => {
    const one = clone(name);
    await one.write('one', '1');
    server.onRequest = () => {
      server.onRequest = undefined;
      one.repo.checkout('elsewhere');
    };
    expect((await one.try('sync_memory')).error).toBe('busy');
    expect(tip()).toBe(one.repo.git('rev-parse', 'HEAD~1').trim());
  });

  test('that the histories have nothing in common', async () => {
    const one = clone(name);
    one.repo.git('checkout', '-q', '--orphan', 'other');
    one.repo.git('commit', '-q', '-m', 'Another beginning');
    one.repo.git('branch', '-q', '-M', 'main');
    one.repo.git('branch', '-q', '-u', 'origin/main');
    expect(await one.refuse({ confirm: true })).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining('no commit in common'),
    });
  });

  test('that the branch was deleted', async () => {
    const one = clone(name);
    bare().git('branch', '-m', 'main', 'trunk');
    expect(await one.refuse()).toMatchObject({
      error: 'not_found',
      message: expect.stringContaining('no longer exists'),
    });
  });

  test('that a shallow clone does not reach far enough, and works where it does', async () => {
    const [one, two] = [clone(name), clone(name)];
    await one.write('one', '1');
    await one.sync();
    const shallow = clone(name, server.url(name), '--depth', '1', '--no-local');
    await two.sync();
    await two.write('two', '2');
    await two.sync();
    await shallow.write('shallow', '3');
    expect(await shallow.sync()).toMatchObject({ received: 1, sent: 2 });
    await two.sync();
    expect(await two.keys()).toEqual(['first', 'one', 'shallow', 'two']);
    const cut = clone(name, server.url(name), '--depth', '1', '--no-local');
    const [parent = ''] = two.repo.git('rev-parse', 'HEAD~3').split('\n');
    bare().git('update-ref', 'refs/heads/main', parent);
    forget(cut);
    await cut.write('cut', '4');
    expect(await cut.refuse()).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining('--unshallow'),
    });
  });

  test('that the remote cannot be reached, or is none', async () => {
    const gone = await GitServer.start(folder);
    const one = clone(name, gone.url(name));
    await gone.stop();
    expect(await one.refuse()).toMatchObject({
      error: 'remote',
      message: expect.stringMatching(/connect/),
    });
    one.repo.git('remote', 'set-url', 'origin', server.url('nowhere.git'));
    expect(await one.refuse()).toMatchObject({
      error: 'remote',
      message: expect.stringContaining('not found'),
    });
    one.repo.git('remote', 'set-url', 'origin', join(folder, 'nowhere.git'));
    expect(await one.refuse()).toMatchObject({ error: 'remote' });
    one.repo.git('remote', 'set-url', 'origin', 'ext::sh -c touch% /tmp/never');
    expect(await one.refuse()).toMatchObject({ error: 'unsupported' });
  });

  test('that credentials are missing or wrong, without showing them', async () => {
    server.credentials = 'me:right';
    const one = clone(name);
    expect(await one.refuse()).toMatchObject({
      error: 'remote',
      message: expect.stringMatching(/asks for credentials.*MEMORY_BANK_GIT_CREDENTIALS/),
    });
    one.repo.git('remote', 'set-url', 'origin', server.url(name, 'me:wr0ng-s3cret'));
    const body = await one.refuse();
    expect(body).toMatchObject({ message: expect.stringContaining('does not accept') });
    expect(JSON.stringify(body)).not.toContain('wr0ng');
    one.repo.git('remote', 'set-url', 'origin', server.url(name, 'me:right'));
    await one.write('one', '1');
    await one.sync();
    one.repo.git('remote', 'set-url', 'origin', server.url(name));
    process.env.MEMORY_BANK_GIT_CREDENTIALS = `https://other:no@example.org http://me:right@${server.host}`;
    await one.write('two', '2');
    await one.sync();
    expect(tip()).toBe(one.head());
  });

  test('that git is not installed', async () => {
    const one = clone(name);
    const body = await withEnv({ PATH: newFolder() }, () => one.refuse());
    expect(body).toMatchObject({
      error: 'unsupported',
      message: expect.stringMatching(/needs the git program.*Install git/),
    });
  });

  test('that git is too old, with the version that is needed', async () => {
    const one = clone(name);
    const tools = newFolder();
    writeFileSync(join(tools, 'git'), '#!/bin/sh\necho git version 1.8.3.1\n', { mode: 0o755 });
    const body = await withEnv({ PATH: tools }, () => one.refuse());
    const needed = objectFormat === sha1 ? /git 2\.9 or later/ : /git 2\.29 or later/;
    expect(body).toMatchObject({
      error: 'unsupported',
      message: expect.stringMatching(needed),
    });
    expect(body).toMatchObject({ message: expect.stringContaining('installed git is 1.8') });
  });

  test('that the remote refuses the push', async () => {
    const one = clone(name);
    bare().write('hooks/pre-receive', '#!/bin/sh\necho "main is protected"\nexit 1\n');
    bare().git('config', 'core.hooksPath', join(folder, name, 'hooks'));
    chmodSync(join(folder, name, 'hooks/pre-receive'), 0o755);
    await one.write('one', '1');
    const before = tip();
    expect(await one.refuse()).toMatchObject({
      error: 'remote',
      message: expect.stringContaining('main is protected'),
    });
    expect(tip()).toBe(before);
  });
});

describeDeep('credentials', () => {
  beforeEach(() => {
    server.credentials = 'me:right';
  });

  test('come from the helper of the user, also from a conditional include', async () => {
    const one = clone(name);
    const config = join(newFolder(), 'gitconfig');
    const work = join(newFolder(), 'work');
    writeFileSync(
      work,
      '[credential]\n\thelper = "!f() { echo username=me; echo password=right; }; f"\n',
    );
    writeFileSync(config, `[includeIf "gitdir:${one.repo.root}/"]\n\tpath = ${work}\n`);
    await one.write('one', '1');
    await withEnv({ GIT_CONFIG_GLOBAL: config }, () => one.sync());
    expect(tip()).toBe(one.head());
    expect(await one.refuse()).toMatchObject({ error: 'remote' });
  });

  test('go only to their own host, not to one that it redirects git to', async () => {
    const seen: string[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
    });
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
    const { port } = elsewhere.address() as AddressInfo;
    const from = createServer((request, response) => {
      response.writeHead(302, { Location: `http://127.0.0.1:${port}${request.url}` }).end();
    });
    await new Promise<void>((done) => from.listen(0, '127.0.0.1', done));
    const origin = `127.0.0.1:${(from.address() as AddressInfo).port}`;
    const one = clone(name, `http://me:right@${origin}/${name}`);
    const env = { MEMORY_BANK_GIT_CREDENTIALS: `http://me:right@${origin}` };
    expect(await withEnv(env, () => one.refuse())).toMatchObject({ error: 'remote' });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.join('')).toBe('');
    for (const one of [from, elsewhere]) one.close();
  });

  test('are not in a command line, and not in a file that remains', async () => {
    const one = clone(name, server.url(name, 'me:right'));
    const tools = newFolder();
    const log = join(tools, 'log');
    const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(join(tools, 'git'), `#!/bin/sh\necho "$@" >> '${log}'\nexec '${real}' "$@"\n`, {
      mode: 0o755,
    });
    await one.write('one', '1');
    await withEnv({ PATH: `${tools}:${process.env.PATH}` }, () => one.sync());
    const commands = readFileSync(log, 'utf8');
    expect(commands).toContain(server.host);
    expect(commands).not.toContain('right');
    one.repo.git('remote', 'set-url', 'origin', server.url(name));
    const found = spawnSync('grep', ['-rl', 'me:right', one.repo.path('.git')]);
    expect(found.stdout.toString()).toBe('');
  });
});
