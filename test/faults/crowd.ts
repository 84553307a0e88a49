import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { note } from '../support/note.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { litter, serve } from './place.ts';
import { begin } from './scenario.ts';
import type { Tally } from './tally.ts';
import type { Driver, Worker } from './worker.ts';

const run = promisify(execFile);

/** Number of processes, changes of each, and pause after each change. */
export interface Crowd {
  readonly processes: number;
  readonly changes: number;
  readonly calm: number;
}

/**
 * Processes change one memory while a user commits and git cleans up: no acknowledged change, no
 * increment of the shared counter and no commit of the user is lost.
 */
export async function crowdOnOneBranch(tally: Tally, driver: Driver, crowd: Crowd): Promise<void> {
  const repo = newRepo();
  try {
    const workers = start(driver, crowd, () => repo.root);
    const human = new Human(repo);
    const chores = [['gc', '-q'], ['repack', '-adq'], ['pack-refs', '--all'], ['status']];
    for (let i = 0; !over(workers); i++) {
      await human.commit(`work-${i}`);
      await human.git(...(chores[i % chores.length] ?? []));
    }
    const wrong = await account(repo, workers, human, crowd);
    const counter = /text: "?(\d+)/.exec(repo.read('.memory-bank/notes/counter.yaml'))?.[1];
    const changes = crowd.processes * crowd.changes;
    if (Number(counter) !== changes) wrong.push(`counted to ${counter}, not to ${changes}`);
    count(tally, 'processes next to git', changes, wrong);
  } finally {
    repo.remove();
  }
}

/** The same while the user switches between two branches. */
export async function crowdBetweenBranches(
  tally: Tally,
  driver: Driver,
  crowd: Crowd,
): Promise<void> {
  const repo = newRepo();
  try {
    repo.git('branch', 'topic/side');
    const workers = start(driver, crowd, () => repo.root);
    const human = new Human(repo);
    for (let i = 0; !over(workers); i++) {
      await human.git('checkout', '-q', i % 2 === 0 ? 'topic/side' : 'main');
      await human.commit(`work-${i}`);
      if (i % 5 === 0) await human.git('pack-refs', '--all');
    }
    const wrong = await account(repo, workers, human, crowd);
    count(tally, 'branches switched concurrently', crowd.processes * crowd.changes, wrong);
  } finally {
    repo.remove();
  }
}

/** Each process serves its own linked work tree of one repository. */
export async function crowdOnWorkTrees(tally: Tally, driver: Driver, crowd: Crowd): Promise<void> {
  const repo = newRepo();
  try {
    repo.write('.git/info/exclude', '/tree-*\n');
    for (let i = 1; i < crowd.processes; i++) {
      repo.git('worktree', 'add', '-q', '-b', `topic/${i}`, `tree-${i}`);
    }
    const workers = start(driver, crowd, (i) => (i === 0 ? repo.root : repo.path(`tree-${i}`)));
    const human = new Human(repo);
    for (let i = 0; !over(workers); i++) {
      await human.commit(`work-${i}`);
      await human.git(...(i % 2 === 0 ? ['pack-refs', '--all'] : ['gc', '-q']));
    }
    const wrong = await account(repo, workers, human, crowd);
    for (let i = 1; i < crowd.processes; i++) {
      const status = repo.gitWith({ cwd: repo.path(`tree-${i}`) }, 'status', '--porcelain');
      if (status !== '') wrong.push(`tree-${i} is not clean: ${status}`);
    }
    count(tally, 'linked work trees', crowd.processes * crowd.changes, wrong);
  } finally {
    repo.remove();
  }
}

function newRepo(): Repo {
  const repo = new Repo();
  begin(repo);
  return repo;
}

function start(driver: Driver, crowd: Crowd, rootOf: (i: number) => string): Worker[] {
  const { processes, changes, calm } = crowd;
  return Array.from({ length: processes }, (_, i) =>
    driver.start({ root: rootOf(i), id: `p${i}`, count: changes, calm }),
  );
}

function over(workers: readonly Worker[]): boolean {
  return workers.every((worker) => worker.over);
}

function count(tally: Tally, kind: string, changes: number, wrong: readonly string[]): void {
  for (let i = 1; i < changes; i++) tally.add(kind, []);
  tally.add(kind, wrong);
}

/** A user of git, who repeats a command that another process has blocked. */
class Human {
  /** The user's commits, each with its branch. */
  readonly commits: { readonly oid: string; readonly branch: string }[] = [];
  readonly #repo: Repo;

  constructor(repo: Repo) {
    this.#repo = repo;
  }

  async git(...args: string[]): Promise<string | undefined> {
    try {
      const { stdout } = await run('git', args, { cwd: this.#repo.root, env: gitEnv });
      return stdout.trim();
    } catch {
      return undefined;
    }
  }

  async commit(name: string): Promise<void> {
    this.#repo.write(`src/${name}.txt`, name);
    if ((await this.git('add', `src/${name}.txt`)) === undefined) return;
    if ((await this.git('commit', '-qm', name)) === undefined) return;
    // The user's branch stays checked out until the user checks out another.
    const branch = await this.git('symbolic-ref', 'HEAD');
    const oid = await this.git('log', '-1', '--format=%H', `--grep=^${name}$`);
    if (oid && branch) this.commits.push({ oid, branch });
  }
}

/** Lists missing acknowledged changes and other errors. */
async function account(
  repo: Repo,
  workers: readonly Worker[],
  human: Human,
  crowd: Crowd,
): Promise<string[]> {
  const wrong = workers.flatMap((worker) => worker.complaints);
  const acknowledged = workers.flatMap((worker) => worker.done);
  const changes = crowd.processes * crowd.changes;
  if (acknowledged.length !== changes) {
    wrong.push(`${acknowledged.length} of ${changes} changes were acknowledged`);
  }
  const known = new Map<string, Set<string>>();
  const holds = (branch: string, oid: string) => {
    const commits = known.get(branch) ?? new Set(repo.git('rev-list', branch).split('\n'));
    known.set(branch, commits);
    return commits.has(oid);
  };
  for (const { done, oid, branch = '' } of acknowledged) {
    if (!holds(`refs/heads/${branch}`, oid)) wrong.push(`${done} is not on ${branch}`);
    const text = repo.git('show', `${oid}:.memory-bank/notes/${done}.yaml`);
    if (!text.includes(`key: ${done}\n`)) wrong.push(`${done} is not in its commit`);
  }
  for (const { oid, branch } of human.commits) {
    if (!holds(branch, oid)) wrong.push(`the user's commit ${oid} is not on ${branch}`);
  }
  const ours = repo.git('log', '--all', '--format=%s', '--name-only', '--grep=^memory: ');
  if (ours.includes('src/')) wrong.push("the user's files are in a commit of the memory");
  const complaint = repo.fsck();
  if (complaint !== '') wrong.push(`git fsck: ${complaint}`);
  const left = litter(repo.root, false);
  if (left.length > 0) wrong.push(`left behind: ${left.join(', ')}`);
  const status = repo.status().filter((line) => line.includes('.memory-bank'));
  if (status.length > 0) wrong.push(`not clean: ${status.join(', ')}`);
  const opened = await serve(join(repo.root));
  const { damaged } = await opened.call.store.list(note);
  if (damaged.length > 0) wrong.push(`damaged: ${damaged.map(({ path }) => path).join(', ')}`);
  await opened.workspace.close();
  return wrong;
}
