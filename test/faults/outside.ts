import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { RawClient } from '../support/process.ts';
import type { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import { difference, isDraftOfCache, litter, look, serve, temporaryFolder } from './place.ts';
import { restart } from './points.ts';
import { begin, put, scenarios, work } from './scenario.ts';
import { Stage } from './stage.ts';
import type { Tally } from './tally.ts';
import type { Driver } from './worker.ts';

const main = join(process.cwd(), 'dist', 'main.cjs');

/** Kills real processes with SIGKILL before an operation, each scenario a few times. */
export async function killedForReal(
  tally: Tally,
  driver: Driver,
  times: number,
  random: Random,
): Promise<void> {
  for (const scenario of times > 0 ? scenarios : []) {
    const stage = await Stage.set(scenario);
    for (let i = 0; i < times; i++) {
      const root = stage.copy();
      const n = 1 + random.below(stage.operations.length);
      const at = { n, signal: 'SIGKILL' } as const;
      const orders = { root: join(root, scenario.folder ?? ''), id: 'me', at };
      const worker = driver.start({ ...orders, scenario: scenario.name });
      await worker.exit;
      const wrong = await restart(stage, root, worker.answers.length);
      tally.add(
        'killed by SIGKILL',
        wrong.map((text) => `${scenario.name}, ${n}: ${text}`),
      );
      fs.rmSync(root, { recursive: true });
    }
    stage.remove();
  }
}

/** System calls at which the tracer kills the server. */
const calls = [
  ...['rename', 'link', 'unlink', 'mkdir', 'fdatasync', 'fsync'],
  ...['write', 'writev', 'openat'],
];

/**
 * Kills the real server over stdio at system calls, with strace.
 *
 * @param times number of kills for each kind of call.
 */
export async function killedByTracer(tally: Tally, times: number, random: Random): Promise<void> {
  const kind = 'the server killed at a system call';
  if (!hasTracer()) return tally.skip(kind, 'there is no strace here');
  for (const call of calls) {
    const { before, during } = await countCalls(call);
    for (let i = 0; i < times && during > 0; i++) {
      const when = before + 1 + random.below(during);
      tally.add(kind, await onServer(`inject=${call}:signal=SIGKILL:when=${when}`));
    }
  }
}

/** How a system call can fail; a sticky failure lasts until the end of the server. */
const failures: readonly (readonly [call: string, code: string, sticky: boolean])[] = [
  ['rename', 'EIO', false],
  ['rename', 'EIO', true],
  ['link', 'EIO', false],
  ['link', 'ENOSPC', true],
  ['unlink', 'EIO', false],
  ['unlink', 'EIO', true],
  ['mkdir', 'ENOSPC', false],
  ['mkdir', 'ENOSPC', true],
  ['fdatasync', 'EIO', false],
  ['fdatasync', 'ENOSPC', true],
  ['fsync', 'EIO', false],
  ['fsync', 'EIO', true],
  ['write', 'ENOSPC', false],
  ['writev', 'ENOSPC', false],
  ['openat', 'EMFILE', false],
  ['openat', 'EMFILE', true],
];

/**
 * Makes system calls of the real server fail, with strace.
 *
 * @param times number of tries for each kind of failure.
 */
export async function failedByTracer(tally: Tally, times: number, random: Random): Promise<void> {
  const kind = 'a system call of the server fails';
  if (!hasTracer()) return tally.skip(kind, 'there is no strace here');
  const counts = new Map<string, Counts>();
  for (const [call, code, sticky] of failures) {
    const { before, during } = counts.get(call) ?? (await countCalls(call));
    counts.set(call, { before, during });
    for (let i = 0; i < times && during > 0; i++) {
      const when = `${before + 1 + random.below(during)}${sticky ? '+' : ''}`;
      tally.add(kind, await onServer(`inject=${call}:error=${code}:when=${when}`));
    }
  }
}

function hasTracer(): boolean {
  return spawnSync('strace', ['-V']).status === 0;
}

/** Counts a call on the busiest thread, before the first change and during it. */
interface Counts {
  readonly before: number;
  readonly during: number;
}

async function countCalls(call: string): Promise<Counts> {
  const folder = temporaryFolder();
  const log = join(folder, 'calls');
  try {
    const repo = Repo.in(join(folder, 'repo'));
    begin(repo);
    const client = new RawClient(
      ['-f', '-qq', '-o', log, '-e', `trace=${call}`, process.execPath, main],
      {
        cwd: repo.root,
        program: 'strace',
      },
    );
    const count = () => {
      const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n') : [];
      const threads = new Map<string, number>();
      for (const line of lines) {
        const thread = line.split(' ', 1)[0] ?? '';
        if (line.includes(`${call}(`)) threads.set(thread, (threads.get(thread) ?? 0) + 1);
      }
      // strace counts for each thread, so the busiest thread reaches the number first.
      return Math.max(0, ...threads.values());
    };
    await client.initialize().answer('init');
    await client.request('list', 'tools/list').answer('list');
    const before = count();
    await client.call(1, 'memory_write', entry('first')).answer(1);
    const during = count() - before;
    await client.end();
    return { before, during };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function entry(key: string): object {
  return { category: 'patterns', key, value: `text of ${key}` };
}

/** Makes one change with a traced server, then starts a server without a tracer. */
async function onServer(injection: string): Promise<string[]> {
  const folder = temporaryFolder();
  try {
    const repo = Repo.in(join(folder, 'repo'));
    begin(repo);
    work(repo);
    const mine = repo.status().join('\n');
    const call = /inject=(\w+)/.exec(injection)?.[1] ?? '';
    const options = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', injection];
    const traced = new RawClient([...options, process.execPath, main], {
      cwd: repo.root,
      program: 'strace',
    });
    const answer = await traced
      .initialize()
      .call(1, 'memory_write', entry('first'))
      .answer(1)
      .then(({ result, error }) => (error || result.isError ? 'refused' : 'acknowledged'))
      .catch(() => 'none');
    await traced.end();
    const again = new RawClient([main], { cwd: repo.root }).initialize();
    const read = await again
      .call(1, 'memory_read', { category: 'patterns', key: 'first' })
      .answer(1);
    const wrong: string[] = [];
    const there = JSON.stringify(read.result).includes('text of first');
    if (answer === 'acknowledged' && !there) wrong.push('an acknowledged entry is lost');
    if (answer === 'refused' && there) wrong.push('a refused entry is there');
    const next = await again.call(2, 'memory_write', entry('second')).answer(2);
    if (next.result.isError) wrong.push(`the next change fails: ${JSON.stringify(next.result)}`);
    await again.end();
    const commits = Number(repo.git('rev-list', '--count', 'HEAD'));
    if (commits !== (there ? 3 : 2)) wrong.push(`${commits} commits`);
    const status = repo.status().join('\n');
    if (status !== mine) wrong.push(`the person's work: ${mine} became ${status}`);
    if (repo.fsck() !== '') wrong.push(`git fsck: ${repo.fsck()}`);
    const killed = injection.includes('signal=SIGKILL');
    const left = litter(repo.root, false).filter((path) => !(killed && isDraftOfCache(path)));
    if (left.length > 0) wrong.push(`left behind: ${left.join(', ')}`);
    return wrong.map((text) => `${injection}: ${text}`);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** A read-only repository of another user: reading works, and a change is refused with the reason. */
export async function readOnly(tally: Tally, driver: Driver): Promise<void> {
  const kind = "another user's repository";
  if (process.getuid?.() !== 0) return tally.skip(kind, 'only root may become another user');
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  if (spawnSync('setpriv', [...nobody.slice(1), 'true']).status !== 0) {
    return tally.skip(kind, 'there is no setpriv here');
  }
  const folder = temporaryFolder();
  fs.chmodSync(folder, 0o755);
  const repo = Repo.in(join(folder, 'repo'));
  try {
    begin(repo);
    const opened = await serve(repo.root);
    await put(opened, { counter: '1' });
    await opened.workspace.close();
    work(repo);
    for (const open of ['', '.git', '.git/memory-bank', '.memory-bank', '.memory-bank/notes']) {
      if (open !== '') execFileSync('chmod', ['777', repo.path(open)]);
      const before = look(repo.root);
      const worker = driver.start({ root: repo.root, id: 'me' }, nobody);
      await worker.exit;
      const wrong: string[] = [];
      const [answer] = worker.answers;
      if (answer?.error !== 'storage') wrong.push(`not refused: ${worker.complaints}`);
      const changed = difference(before, look(repo.root));
      if (changed !== '') wrong.push(`refused, but changed: ${changed}`);
      const next = await serve(repo.root);
      await put(next, { next: open }).catch((error) => wrong.push(`next: ${error}`));
      await next.workspace.close();
      const left = litter(repo.root);
      if (left.length > 0) wrong.push(`left behind: ${left.join(', ')}`);
      tally.add(kind, wrong);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
