import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { toMemoryError } from '../../src/core/values/error.ts';
import { addNote, type Clone, Fleet } from '../support/fleet.ts';
import type { GitServer, RequestFault } from '../support/git-server.ts';
import { note } from '../support/note.ts';
import { Repo } from '../support/repo.ts';
import type { Tally } from './tally.ts';

/** Faults of a remote, each with two clones of a repository of its own. */
export async function remoteFaults(tally: Tally): Promise<void> {
  for (const fault of ['kill', 'lose answer', 'cut answer'] as const) {
    await onFleet((fleet, one, two) => interrupted(fleet, one, two, 'receive-pack', fault)).then(
      (wrong) => tally.add('the remote dies in mid-push', wrong),
    );
  }
  for (const fault of ['kill', 'lose answer', 'cut answer'] as const) {
    await onFleet((fleet, one, two) => interrupted(fleet, one, two, 'upload-pack', fault)).then(
      (wrong) => tally.add('the remote dies in mid-fetch', wrong),
    );
  }
  tally.add(
    'the remote changes what it sends',
    await onFleet((fleet, one, two) =>
      interrupted(fleet, one, two, 'upload-pack', 'change answer'),
    ),
  );
  tally.add('the remote acknowledges a push and loses it', await onFleet(lostPush));
  tally.add('two syncs of one clone at once', await onFleet(twoAtOnce));
  for (const how of ['amended', 'cut off'] as const) {
    tally.add(
      'the history of the remote is rewritten',
      await onFleet((fleet, one) => rewritten(fleet, one, how)),
    );
  }
}

type Play = (fleet: Fleet, one: Clone, two: Clone) => Promise<string[]>;

async function onFleet(play: Play): Promise<string[]> {
  const fleet = await Fleet.create(2, 'HTTP');
  const [one, two] = fleet?.clones ?? [];
  if (!fleet || !one || !two) throw new Error('HTTP needs only git.');
  try {
    return await play(fleet, one, two);
  } finally {
    await fleet.remove();
  }
}

const request = { ours: [], theirs: [], confirm: false };
const sync = ({ opened }: Clone) => opened.call.history.sync(request);

/** Syncs, and returns the text of the error. */
async function failureOf(clone: Clone): Promise<string | undefined> {
  try {
    await sync(clone);
    return undefined;
  } catch (error) {
    return toMemoryError(error).text;
  }
}

const stateOf = ({ repo }: Clone) =>
  ['rev-parse HEAD', 'status --porcelain', 'ls-files -s'].map((args) =>
    repo.git(...args.split(' ')),
  );

/** Compares two clones and the remote at the end: the same tree with all notes, and no litter. */
async function checkEnd(fleet: Fleet, keys: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const _ of ['push', 'pull']) {
    for (const clone of fleet.clones) {
      const failure = await failureOf(clone);
      if (failure !== undefined) wrong.push(`the next sync fails: ${failure}`);
    }
  }
  const tree = fleet.hub.git('rev-parse', 'main^{tree}');
  for (const { repo, opened } of fleet.clones) {
    if (repo.git('rev-parse', 'HEAD^{tree}') !== tree)
      wrong.push('a clone differs from the remote');
    for (const key of keys) {
      const found = await opened.call.store.get(note, key);
      if (found?.value.text !== key) wrong.push(`${key} is lost`);
    }
    const fsck = repo.fsck();
    if (fsck !== '') wrong.push(`git fsck in a clone: ${fsck}`);
    const litter = repo.git('count-objects', '-v').match(/^(?:garbage|size-garbage): [^0].*/gm);
    if (litter) wrong.push(`garbage: ${litter.join(', ')}`);
  }
  const fsck = fleet.hub.git('fsck', '--full', '--strict', '--no-dangling', '--no-progress').trim();
  if (fsck !== '') wrong.push(`git fsck of the remote: ${fsck}`);
  return wrong;
}

/** A request of one sync fails; the clone is as it was, or has all of the sync, and the next one works. */
async function interrupted(
  fleet: Fleet,
  one: Clone,
  two: Clone,
  service: string,
  fault: RequestFault,
): Promise<string[]> {
  await addNote(two, 'theirs', 'theirs');
  await sync(two);
  await addNote(one, 'ours', 'ours');
  const before = stateOf(one);
  let hit = false;
  const server = serverOf(fleet);
  server.fault = (method, url) => {
    if (hit || method !== 'POST' || !url.includes(service)) return undefined;
    hit = true;
    return fault;
  };
  const failure = await failureOf(one);
  server.fault = undefined;
  const wrong: string[] = [];
  if (!hit) wrong.push('the fault did not happen');
  // Without an answer, the HTTP library of git may repeat the request by itself.
  const isHidden = ['kill', 'lose answer'].includes(fault);
  if (failure === undefined && !isHidden) wrong.push('the fault is not reported');
  if (failure !== undefined && stateOf(one).join() !== before.join()) {
    wrong.push('a failed sync has changed the clone');
  }
  return [...wrong, ...(await checkEnd(fleet, ['ours', 'theirs']))];
}

function serverOf({ server }: Fleet): GitServer {
  if (!server) throw new Error('The fleet has no HTTP server.');
  return server;
}

/** The remote answers that it has a push, but has kept nothing. */
async function lostPush(fleet: Fleet, one: Clone): Promise<string[]> {
  const server = serverOf(fleet);
  const [root, copy] = [server.root, `${fleet.hub.root}-copy`];
  fleet.hub.git('clone', '-q', '--mirror', '.', join(copy, 'hub.git'));
  new Repo(join(copy, 'hub.git')).git('config', 'http.receivepack', 'true');
  await addNote(one, 'ours', 'ours');
  server.root = copy;
  await sync(one);
  server.root = root;
  rmSync(copy, { recursive: true });
  await addNote(one, 'later', 'later');
  const failure = await failureOf(one);
  const wrong = [];
  if (!failure?.includes('was rewritten')) wrong.push(`the loss is not named: ${failure}`);
  if (!failure?.includes('git pull --no-rebase')) wrong.push('there is no way out');
  // The way out, without the pull: a server in this process cannot answer a git that it waits for.
  one.repo.git('fetch', '-q', fleet.hub.root, '+main:refs/remotes/origin/main');
  return [...wrong, ...(await checkEnd(fleet, ['ours', 'later']))];
}

/** Two processes sync one clone while both write. */
async function twoAtOnce(fleet: Fleet, one: Clone, two: Clone): Promise<string[]> {
  await addNote(two, 'theirs', 'theirs');
  await sync(two);
  const other: Clone = { repo: one.repo, opened: await fleet.open(one.repo) };
  const keys: string[] = ['theirs'];
  const failures: string[] = [];
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      [one, other].map(async (clone, i) => {
        const key = `both-${i}-${round}`;
        await addNote(clone, key, key);
        keys.push(key);
        const failure = await failureOf(clone);
        if (failure !== undefined) failures.push(failure);
      }),
    );
  }
  await other.opened.workspace.close();
  return [...failures.map((one) => `a sync fails: ${one}`), ...(await checkEnd(fleet, keys))];
}

/** Somebody replaces or removes commits of the remote that a clone has, and each way out is taken. */
async function rewritten(fleet: Fleet, one: Clone, how: 'amended' | 'cut off'): Promise<string[]> {
  await addNote(one, 'old', 'old');
  await sync(one);
  await addNote(one, 'own', 'own');
  const { hub } = fleet;
  const old = hub.git('rev-parse', 'main').trim();
  const parent = hub.git('rev-parse', 'main~1').trim();
  const amended = hub
    .git(
      '-c',
      'user.name=A',
      '-c',
      'user.email=a@b.c',
      'commit-tree',
      '-m',
      'Amended',
      '-p',
      parent,
      `${parent}^{tree}`,
    )
    .trim();
  hub.git('update-ref', 'refs/heads/main', how === 'amended' ? amended : parent);
  const before = stateOf(one);
  const wrong: string[] = [];
  for (const _ of ['first', 'second']) {
    const failure = await failureOf(one);
    const isNamed = failure?.includes('was rewritten') && failure.includes(old.slice(0, 12));
    if (!isNamed) wrong.push(`the rewriting is not named: ${failure}`);
  }
  if (stateOf(one).join() !== before.join()) wrong.push('a refused sync has changed the clone');
  if (hub.git('rev-parse', 'main').trim() === old) wrong.push('the old commits came back');
  // The first way out of the message.
  one.repo.git('fetch', '-q', hub.root, '+main:refs/remotes/origin/main');
  one.repo.git('rebase', '-q', '--onto', 'origin/main', old);
  wrong.push(...(await checkEnd(fleet, ['own'])));
  const kept = hub.git('ls-tree', '--name-only', 'main', '.memory-bank/notes/');
  if (kept.includes('old.yaml')) wrong.push('the removed record came back');
  return wrong;
}
