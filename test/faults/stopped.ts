import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { FaultFiles } from '../support/fault-files.ts';
import { note } from '../support/note.ts';
import { changeLocks, refLocks } from '../support/ref-form.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { litter, serve, temporaryFolder } from './place.ts';
import { begin, put, work } from './scenario.ts';
import type { Tally } from './tally.ts';
import type { Driver, Worker } from './worker.ts';

/** Events while a process is stopped in the middle of a change. */
interface Interruption {
  readonly kind: string;
  /** Whether it commits or replaces the staged and uncommitted work of the person. */
  readonly changesWork?: boolean;
  /** @returns early violations; the process continues afterwards. */
  interrupt(repo: Repo, driver: Driver): Promise<string[]>;
  /** Checks the state at the end and returns the violations. */
  check?(repo: Repo, worker: Worker): string[];
}

const byHand = 'key: old\ntags: []\ntext: by hand\n';
const oldNote = '.memory-bank/notes/old.yaml';

const interruptions: readonly Interruption[] = [
  {
    kind: 'the holder of the locks is stopped',
    async interrupt(repo, driver) {
      const held = inodes(repo);
      const other = driver.start({ root: repo.root, id: 'other', lockTimeout: 50 });
      await other.exit;
      const [answer] = other.answers;
      const wrong: string[] = [];
      if (answer?.error && answer.error !== 'busy') wrong.push(`not busy but ${answer.text}`);
      if (answer?.error && !fs.existsSync(answer.lock ?? '')) wrong.push('the lock is not named');
      if (!answer) wrong.push(`no answer: ${other.complaints}`);
      for (const [path, ino] of held) {
        if (inodes(repo).get(path) !== ino) wrong.push(`${path} was taken away`);
      }
      return wrong;
    },
  },
  {
    kind: 'HEAD is pointed to another branch in mid-change',
    async interrupt(repo) {
      attempt(repo, 'symbolic-ref', 'HEAD', 'refs/heads/side');
      return [];
    },
  },
  {
    kind: 'another branch is checked out in mid-change',
    changesWork: true,
    async interrupt(repo) {
      attempt(repo, 'checkout', '-q', '-f', 'side');
      return [];
    },
  },
  {
    kind: '.memory-bank/ is deleted in mid-change',
    async interrupt(repo) {
      fs.rmSync(repo.path('.memory-bank'), { recursive: true, force: true });
      return [];
    },
  },
  {
    kind: 'a record is edited by hand in mid-change',
    async interrupt(repo) {
      repo.write(oldNote, byHand);
      return [];
    },
    check(repo) {
      const kept = repo
        .git('log', '--all', '--format=%H')
        .split('\n')
        .filter(Boolean)
        .some((oid) => attempt(repo, 'show', `${oid}:${oldNote}`) === byHand);
      return kept || repo.read(oldNote) === byHand ? [] : ['the edit is lost'];
    },
  },
  {
    kind: 'the locks are removed by hand in mid-change, and a commit is made',
    changesWork: true,
    async interrupt(repo) {
      for (const lock of ['.git/index.lock', ...refLocks('main')]) {
        fs.rmSync(repo.path(lock), { force: true });
      }
      attempt(repo, 'commit', '-qm', 'by hand');
      return [];
    },
    check(repo) {
      const log = attempt(repo, 'log', '--format=%s', 'main') ?? '';
      const made = (attempt(repo, 'log', '-g', '--format=%s', 'main') ?? '').includes('by hand');
      return made && !log.includes('by hand') ? ['the commit by hand is lost'] : [];
    },
  },
];

/** Stops a process at points of a change, and makes an event happen there. */
export async function stoppedInTheMiddle(
  tally: Tally,
  driver: Driver,
  points: number,
): Promise<void> {
  if (process.platform !== 'linux') {
    for (const { kind } of interruptions)
      tally.skip(kind, 'this system does not report the state of a process');
    return;
  }
  const total = await operations();
  for (const interruption of interruptions) {
    for (let i = 0; i < points; i++) {
      const n = 1 + Math.floor(((i + 0.5) / points) * total);
      tally.add(interruption.kind, await strike(interruption, driver, n));
    }
  }
}

/** Counts the operations of a change of the driver. */
async function operations(): Promise<number> {
  return onRepo(async (repo) => {
    const files = new FaultFiles();
    const opened = await serve(repo.root, files);
    await put(opened, { counter: '1', 'me-0': 'me-0' });
    await opened.workspace.close();
    return files.log.length;
  });
}

function strike(interruption: Interruption, driver: Driver, n: number): Promise<string[]> {
  return onRepo(async (repo) => {
    const before = userStatus(repo);
    const at = { n, signal: 'SIGSTOP' } as const;
    const worker = driver.start({ root: repo.root, id: 'me', lockTimeout: 300, at, edit: 'old' });
    const wrong: string[] = [];
    if (await worker.stopped()) wrong.push(...(await interruption.interrupt(repo, driver)));
    worker.goOn();
    await worker.exit;
    wrong.push(...(interruption.check?.(repo, worker) ?? []));
    for (const { error, text } of worker.answers) {
      if (error && error !== 'busy') wrong.push(`refused as ${error}: ${text}`);
    }
    if (worker.answers.length === 0) wrong.push(`no answer: ${worker.complaints}`);
    for (const { oid, branch } of worker.done) {
      const holders = repo.git('branch', '--contains', oid, '--format=%(refname:short)');
      if (!holders.split('\n').includes(branch ?? '')) wrong.push(`${oid} is not on ${branch}`);
      if (attempt(repo, 'show', `${oid}:.memory-bank/notes/me-0.yaml`) === undefined) {
        wrong.push('the note is not in its commit');
      }
    }
    const opened = await serve(repo.root);
    await put(opened, { next: 'next' }).catch((error) => wrong.push(`next: ${error}`));
    const { damaged } = await opened.call.store.list(note);
    if (damaged.length > 0) wrong.push(`damaged: ${damaged.map(({ path }) => path)}`);
    await opened.workspace.close();
    const left = litter(repo.root);
    if (left.length > 0) wrong.push(`left behind: ${left}`);
    if (repo.fsck() !== '') wrong.push(`git fsck: ${repo.fsck()}`);
    const after = userStatus(repo);
    if (!interruption.changesWork && after !== before)
      wrong.push(`the person's work: ${before} became ${after}`);
    return wrong.map((text) => `stopped at ${n}: ${text}`);
  });
}

async function onRepo<T>(action: (repo: Repo) => Promise<T>): Promise<T> {
  const folder = temporaryFolder();
  try {
    const repo = Repo.in(join(folder, 'repo'));
    begin(repo);
    const opened = await serve(repo.root);
    await put(opened, { old: 'old' });
    await opened.workspace.close();
    repo.git('branch', 'side');
    work(repo);
    return await action(repo);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Git status of the files outside the memory. */
function userStatus(repo: Repo): string {
  return repo
    .status()
    .filter((line) => !line.includes('.memory-bank'))
    .join('\n');
}

function inodes(repo: Repo): Map<string, number> {
  const found = changeLocks('main').flatMap((lock): [string, number][] => {
    const stat = fs.statSync(repo.path(lock), { throwIfNoEntry: false });
    return stat ? [[lock, stat.ino]] : [];
  });
  return new Map(found);
}

function attempt(repo: Repo, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, {
      cwd: repo.root,
      env: gitEnv,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return undefined;
  }
}
