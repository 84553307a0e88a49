import { spawn } from 'node:child_process';
import { chmodSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { gitEnv, knowsTables, Repo } from '../support/repo.ts';
import { count, Times } from './figures.ts';
import { entry } from './knowledge.ts';
import { bindMemory, openMemory } from './memory.ts';
import { project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/**
 * Measures how often the git of a person fails because an agent changes the memory at the same time.
 *
 * `--seconds=10` is the time of each row, `--hooks=0,3` the durations of the pre-commit hook in seconds.
 */

const option = (name: string, usual: string) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? usual;
const seconds = Number(option('seconds', '60'));
const hooks = option('hooks', '0,0.1,1,3,10').split(',').map(Number);
/** Pause of the person between two commits, and of the agent between two changes, in milliseconds. */
const pause = 30;
/** Repositories at the same time where a hook leaves few commits to a row. */
const most = 4;
const changesForWindow = 100;

/** The git commands of a person, and those that failed, by message. */
interface Tally {
  commands: number;
  failed: number;
  readonly messages: Map<string, number>;
}

const emptyTally = (): Tally => ({ commands: 0, failed: 0, messages: new Map() });

/** Runs git as a person does; resolves to what it complains of if it fails. */
function runGit(root: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('git', args, {
      cwd: root,
      env: gitEnv,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaint = '';
    child.stderr.on('data', (data) => {
      complaint += data;
    });
    child.on('close', (status) => resolve(status === 0 ? undefined : complaint));
  });
}

/** Edits, stages and commits until the time is over. */
async function commitByHand(repo: Repo, end: number, tally: Tally): Promise<void> {
  for (let i = 0; performance.now() < end; i++) {
    repo.write('by-hand.txt', `edit ${i} at ${Date.now()}\n`);
    for (const args of [
      ['add', 'by-hand.txt'],
      ['commit', '-q', '-m', `By hand ${i}`],
    ]) {
      const complaint = await runGit(repo.root, args);
      tally.commands += 1;
      if (complaint === undefined) continue;
      tally.failed += 1;
      const [, lock = complaint.trim()] =
        /(cannot lock ref|index\.lock|tables\.list)/.exec(complaint) ?? [];
      const message = `git ${args[0]}: ${lock}`;
      tally.messages.set(message, (tally.messages.get(message) ?? 0) + 1);
      console.error(complaint.trim());
      break;
    }
    await sleep(pause);
  }
}

/** Changes the memory until the time is over; returns how often. */
async function changeMemory(server: ServerProcess, end: number): Promise<number> {
  let changes = 0;
  for (; performance.now() < end; changes++) {
    const { created_at, updated_at, ...given } = entry(changes, `Change at ${Date.now()}`);
    await server.call('memory_write', given);
    await sleep(pause);
  }
  return changes;
}

/** A repository whose hook takes a time, and the work tree in which all happens. */
function place(hook: number, isLinked: boolean, hasTables: boolean): { repo: Repo; tree: Repo } {
  const repo = hasTables ? project('--ref-format=reftable') : project();
  if (hook > 0) {
    repo.write('.git/hooks/pre-commit', `#!/bin/sh\nsleep ${hook}\n`);
    chmodSync(repo.path('.git/hooks/pre-commit'), 0o755);
  }
  if (!isLinked) return { repo, tree: repo };
  const path = `${realpathSync(repo.root)}-linked`;
  repo.git('worktree', 'add', '-q', '-b', 'side', path);
  return { repo, tree: new Repo(path) };
}

/** Counts the failures of one kind of repository: of git alone, and next to an agent. */
async function row(hook: number, isLinked: boolean, hasTables: boolean): Promise<string[]> {
  const places = Array.from({ length: hook >= 1 ? most : 1 }, () =>
    place(hook, isLinked, hasTables),
  );
  const [alone, next] = [emptyTally(), emptyTally()];
  // Git alone meets nobody: a shorter time shows it.
  const short = performance.now() + Math.max(1000 * hook, 200 * seconds);
  await Promise.all(places.map(({ tree }) => commitByHand(tree, short, alone)));
  const servers = await Promise.all(places.map(({ tree }) => ServerProcess.start(tree.root)));
  // Some commits at least are begun and ended.
  const end = performance.now() + 1000 * Math.max(seconds, 4 * hook);
  const [changes] = await Promise.all([
    Promise.all(servers.map((server) => changeMemory(server, end))),
    Promise.all(places.map(({ tree }) => commitByHand(tree, end, next))),
  ]);
  await Promise.all(servers.map((server) => server.end()));
  for (const { repo, tree } of places) {
    const problems = repo.fsck();
    if (problems !== '') throw new Error(problems);
    if (tree !== repo) tree.remove();
    repo.remove();
  }
  const share = `${next.failed} of ${count(next.commands)} (${((100 * next.failed) / next.commands).toFixed(2)} %)`;
  const cells = [
    [hook === 0 ? 'no hook' : `${hook} s`, isLinked ? 'linked' : 'main'].join(', ') +
      (hasTables ? ', refs in tables' : ''),
    `${alone.failed} of ${count(alone.commands)}`,
    share,
    [...next.messages].map(([text, times]) => `${times} × ${text}`).join(', '),
    count(changes.reduce((sum, each) => sum + each, 0)),
  ];
  console.log(cells.join(' | '));
  return cells;
}

/** The time for which a change holds the lock of the index, in which `git add` and `git commit` fail. */
async function heldTimes(): Promise<Times> {
  const times = new Times();
  let since = 0;
  class TimedFiles extends NodeFiles {
    override link(existing: string, path: string): void {
      super.link(existing, path);
      if (path.endsWith('/index.lock')) since = performance.now();
    }
    override rename(from: string, to: string): void {
      super.rename(from, to);
      this.#end(from);
    }
    override replace(from: string, to: string): void {
      super.replace(from, to);
      this.#end(from);
    }
    #end(path: string): void {
      if (path.endsWith('/index.lock')) times.add(performance.now() - since);
    }
  }
  const repo = project();
  const workspace = await openMemory(repo, 'full', new TimedFiles());
  for (let i = 0; i < changesForWindow; i++) {
    await bindMemory(workspace).store.change({ subject: `write ${i}` }, (draft) =>
      draft.put(entryRecord, entry(i, 'In the window')),
    );
  }
  await workspace.close();
  repo.remove();
  return times;
}

const held = await heldTimes();
const rows: string[][] = [];
for (const hasTables of knowsTables() ? [false, true] : [false]) {
  for (const hook of hooks) {
    for (const isLinked of [false, true]) rows.push(await row(hook, isLinked, hasTables));
  }
}

report('person', "A person's git at the same time", [
  `A person edits a file, runs \`git add\` and \`git commit\`, and begins again after ${pause} ms, for ${seconds} s in each row, at least four times the hook. An agent's server changes the memory of the same work tree, and begins again ${pause} ms after each answer. A pre-commit hook takes the given time; with one of a second or more, ${most} such repositories share a row. The first column counts the same git commands without the agent.`,
  table(
    ['pre-commit hook, work tree', 'failed alone', 'failed', 'by', 'changes of the memory'],
    rows,
  ),
  `A change holds \`index.lock\` for ${held.text} ms (median / 95th percentile of ${changesForWindow} changes). This is the window: a git command that reaches its own lock in it, and started after the change looked for git processes, fails.`,
]);
