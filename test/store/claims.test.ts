import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Claims } from '../../src/core/memory/claims.ts';
import { Session } from '../../src/core/memory/session.ts';
import { deep, isFull } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** The time of all workspaces of a test. */
let time = Date.UTC(2026, 0, 2, 3);

function create(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  return repo;
}

async function serve(root: string): Promise<Opened> {
  time = Date.UTC(2026, 0, 2, 3);
  const opened = await open(root, [note], { now: () => new Date(time++) });
  cleanUp.push(() => opened.workspace.close());
  return opened;
}

const add = (opened: Opened, key: string) =>
  opened.call.store.change({ subject: `add ${key}` }, (draft) =>
    draft.put(note, { key, tags: [], text: 'text' }),
  );

let sessions = 0;

/** The claims as another session sees them. */
function claimsOf(opened: Opened, agent: string): Claims {
  const session = new Session(() => `01SESSION${sessions++}`);
  session.agent = agent;
  return opened.callOf(session).claims;
}

const path = 'notes/a.yaml';

/** A clone of a repository with a memory, and what the clones have in common. */
async function clones(count: number) {
  const first = create();
  const opened = await serve(first.root);
  await add(opened, 'a');
  await add(opened, 'b');
  const bare = Repo.in(`${first.root}-hub`);
  cleanUp.push(() => bare.remove());
  bare.git('init', '-q', '--bare', '-b', 'main');
  first.git('remote', 'add', 'origin', bare.root);
  first.git('push', '-q', '-u', 'origin', 'main');
  const all = [{ repo: first, opened }];
  for (let i = 1; i < count; i++) {
    const repo = Repo.in(`${first.root}-clone-${i}`);
    cleanUp.push(() => repo.remove());
    repo.git('clone', '-q', bare.root, '.');
    all.push({ repo, opened: await serve(repo.root) });
  }
  return { bare, all };
}

describe('on one machine', () => {
  test('a claim keeps other sessions away until it is released', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    const [ann, ben] = [claimsOf(opened, 'ann/1'), claimsOf(opened, 'ben/2')];
    const before = { head: repo.git('rev-parse', 'HEAD'), status: repo.status() };
    const { claim, unshared } = await ann.claim(path, 30);
    expect(unshared).toBe('the branch has no upstream.');
    expect(claim).toMatchObject({ path, agent: 'ann/1', person: 'Ada Lovelace', mine: true });
    expect(Date.parse(claim.until) - Date.parse(claim.since)).toBe(30 * 60_000);
    await expect(ben.claim(path, 30)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('ann/1 (Ada Lovelace) has claimed notes/a.yaml until'),
    });
    await expect(ben.release(path, false)).rejects.toMatchObject({ code: 'conflict' });
    expect((await ben.list()).get(path)).toMatchObject({ agent: 'ann/1', mine: false });
    // The session itself extends its claim.
    expect((await ann.claim(path, 60)).claim.until > claim.until).toBe(true);
    expect(await ann.release(path, false)).toBe(true);
    expect(await ann.release(path, false)).toBe(false);
    expect((await ben.list()).size).toBe(0);
    await ben.claim(path, 30);
    expect(await ann.release(path, true)).toBe(true);
    expect({ head: repo.git('rev-parse', 'HEAD'), status: repo.status() }).toEqual(before);
    expect(repo.fsck()).toBe('');
  });

  test('an expired claim is free', async () => {
    const opened = await serve(create().root);
    await add(opened, 'a');
    const [ann, ben] = [claimsOf(opened, 'ann/1'), claimsOf(opened, 'ben/2')];
    await ann.claim(path, 1);
    time += 59_000;
    await expect(ben.claim(path, 1)).rejects.toMatchObject({ code: 'conflict' });
    time += 2_000;
    expect((await ben.list()).size).toBe(0);
    await ben.claim(path, 1);
    await expect(ann.claim(path, 1)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('exactly one of many sessions gets a record', async () => {
    const repo = create();
    const servers = [await serve(repo.root), await serve(repo.root)];
    for (const server of servers.slice(0, 1)) await add(server, 'a');
    const all = servers.flatMap((server) => [claimsOf(server, 'one/1'), claimsOf(server, 'two/2')]);
    for (let i = 0; i < (isFull ? 1_000 : 5); i++) {
      const tries = await Promise.allSettled(all.map((claims) => claims.claim(path, 5)));
      const won = tries.map(({ status }) => status === 'fulfilled');
      expect(won.filter(Boolean)).toHaveLength(1);
      const winner = all[won.indexOf(true)];
      expect((await winner?.list())?.get(path)?.mine).toBe(true);
      expect(await winner?.release(path, false)).toBe(true);
    }
    expect(repo.fsck()).toBe('');
  });

  deep('a claim survives git gc, and can be released after it', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    const ann = claimsOf(opened, 'ann/1');
    await ann.claim(path, 5);
    repo.git('gc', '-q', '--prune=now');
    expect((await ann.list()).get(path)?.agent).toBe('ann/1');
    const branch = repo.git('rev-parse', 'main');
    expect(await ann.release(path, false)).toBe(true);
    expect((await ann.list()).size).toBe(0);
    expect(repo.git('for-each-ref', 'refs/memory-bank')).toBe('');
    expect(repo.git('rev-parse', 'main')).toBe(branch);
    expect(repo.fsck()).toBe('');
  });

  test('a missing record is refused, and so is a record that the mode may not change', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    await expect(opened.call.claims.claim('notes/none.yaml', 5)).rejects.toMatchObject({
      code: 'not_found',
    });
    repo.write(
      '.memory-bank/rules/narrow.yaml',
      'mode: narrow\ninstructions:\n  general: [x]\n  memory_bank:\n    files_to_read: []\n    files_to_update: []\n',
    );
    await claimsOf(opened, 'ann/1').claim(path, 5);
    await opened.call.modes.switch('narrow');
    await expect(opened.call.claims.claim(path, 5)).rejects.toMatchObject({ code: 'forbidden' });
    expect((await opened.call.claims.list()).size).toBe(0);
  });

  deep('a ref with something else counts as no claim', async () => {
    const repo = create();
    const opened = await serve(repo.root);
    await add(opened, 'a');
    const ann = claimsOf(opened, 'ann/1');
    await ann.claim(path, 5);
    const ref = repo.git('for-each-ref', '--format=%(refname)', 'refs/memory-bank').trim();
    const values = ['[]', '{"record": 1}', `{"record": "${'x'.repeat(5000)}"}`, 'no json'];
    writeFileSync(repo.path('odd'), '');
    for (const value of values) {
      writeFileSync(repo.path('odd'), value);
      repo.git('update-ref', ref, repo.git('hash-object', '-w', 'odd').trim());
      expect((await ann.list()).size).toBe(0);
    }
    repo.git('update-ref', ref, 'HEAD');
    expect((await ann.list()).size).toBe(0);
    await ann.claim(path, 5);
    expect((await ann.list()).size).toBe(1);
  });
});

describe('between machines', () => {
  test('the remote decides', async () => {
    const { bare, all } = await clones(2);
    const [here, there] = all;
    if (!here || !there) throw new Error('no clones');
    const [ann, ben] = [claimsOf(here.opened, 'ann/1'), claimsOf(there.opened, 'ben/2')];
    expect(await ann.claim(path, 5)).not.toHaveProperty('unshared');
    await expect(ben.claim(path, 5)).rejects.toMatchObject({ code: 'conflict' });
    expect((await ben.list()).get(path)?.agent).toBe('ann/1');
    expect(bare.git('for-each-ref', '--format=%(objecttype)').trim().split('\n')).toContain('blob');
    await ann.release(path, false);
    // The other clone still believes in the claim until it asks.
    await ben.claim(path, 5);
    await expect(ann.release(path, false)).resolves.toBe(false);
    await expect(ann.claim(path, 5)).rejects.toMatchObject({ code: 'conflict' });
    await ann.release(path, true);
    await ann.claim(path, 5);
    for (const { repo } of all) expect(repo.fsck()).toBe('');
  });

  deep('sync brings the claims of others', async () => {
    const { all } = await clones(2);
    const [here, there] = all.map(({ opened }) => opened) as [Opened, Opened];
    await claimsOf(here, 'ann/1').claim(path, 5);
    const { call } = there;
    expect((await call.claims.list()).size).toBe(0);
    await call.history.sync({ ours: [], theirs: [], confirm: false });
    expect((await call.claims.list()).get(path)?.agent).toBe('ann/1');
  });

  deep('a claim goes where git pushes, and nowhere if the user has closed the way', async () => {
    const { bare, all } = await clones(1);
    const [here] = all;
    if (!here) throw new Error('no clone');
    const fork = Repo.in(`${here.repo.root}-fork`);
    cleanUp.push(() => fork.remove());
    fork.git('init', '-q', '--bare', '-b', 'main');
    here.repo.git('remote', 'add', 'fork', fork.root);
    const claims = (repo: Repo) => repo.git('for-each-ref', 'refs/memory-bank/claims').trim();
    const ann = claimsOf(here.opened, 'ann/1');

    here.repo.git('config', 'branch.main.pushRemote', 'no_push');
    expect((await ann.claim(path, 5)).unshared).toContain('branch.main.pushRemote is "no_push"');
    here.repo.git('config', '--unset', 'branch.main.pushRemote');
    here.repo.git('config', 'push.default', 'nothing');
    expect((await ann.claim(path, 5)).unshared).toContain('push.default is "nothing"');
    expect(claims(bare)).toBe('');

    here.repo.git('config', '--unset', 'push.default');
    here.repo.git('config', 'remote.pushDefault', 'fork');
    expect(await ann.claim(path, 5)).not.toHaveProperty('unshared');
    expect(claims(fork)).toContain('blob');
    expect(claims(bare)).toBe('');
    expect(await ann.release(path, false)).toBe(true);
    expect(claims(fork)).toBe('');
  });

  deep('without a connection a claim counts here, and says so', async () => {
    const { bare, all } = await clones(2);
    const [here, there] = all.map(({ opened }) => opened) as [Opened, Opened];
    const ann = claimsOf(here, 'ann/1');
    renameSync(bare.root, `${bare.root}-away`);
    const { unshared } = await ann.claim(path, 5);
    expect(unshared).toContain('cannot be used');
    await expect(claimsOf(here, 'eve/3').claim(path, 5)).rejects.toMatchObject({
      code: 'conflict',
    });
    renameSync(`${bare.root}-away`, bare.root);
    expect(await ann.claim(path, 5)).not.toHaveProperty('unshared');
    await expect(claimsOf(there, 'ben/2').claim(path, 5)).rejects.toMatchObject({
      code: 'conflict',
    });
    renameSync(bare.root, `${bare.root}-away`);
    mkdirSync(bare.root);
    await expect(ann.release(path, false)).rejects.toMatchObject({ code: 'remote' });
  });

  deep('exactly one of two clones gets a record', async () => {
    const { all } = await clones(2);
    const claims = all.map(({ opened }, i) => claimsOf(opened, `agent-${i}/1`));
    const tries = Number(process.env.CLAIM_TRIES ?? 10);
    for (let i = 0; i < tries; i++) {
      const results = await Promise.allSettled(claims.map((one) => one.claim(path, 5)));
      const won = results.map(({ status }) => status === 'fulfilled');
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await claims[won.indexOf(true)]?.release(path, false)).toBe(true);
    }
  });
});
