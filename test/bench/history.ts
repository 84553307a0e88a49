import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from '../../src/core/declarations/workspace.ts';
import { Session } from '../../src/core/memory/session.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { Repo } from '../support/repo.ts';
import { count, ms, ratio, Times } from './figures.ts';
import { entry } from './knowledge.ts';
import { openMemory } from './memory.ts';
import { report, table } from './report.ts';

/** Compares a record's log in a long history with `git log -- path` and `git log --follow`. */

const commits = 50_000;
const records = 1000;
const rounds = 10;

/** Writes commits that alternately change a record and code; every hundredth is a merge. */
function history(): Repo {
  const repo = Repo.create();
  for (const gone of Array(rounds).keys()) {
    repo.write(`.memory-bank/${pathOf(records + gone)}`, textOf(records + gone, 0));
  }
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Add what will be removed');
  repo.git('rm', '-rq', '.memory-bank');
  repo.git('commit', '-q', '-m', 'Remove it');
  const stream: string[] = [];
  for (let i = 0; i < commits; i++) {
    const number = (Math.floor(i / 2) * 7919) % records;
    const path =
      i % 2 === 0 ? `.memory-bank/${pathOf(number)}` : `src/part-${i % 20}/file-${i % 400}.ts`;
    const text = i % 2 === 0 ? textOf(number, i) : `export const value = ${i};\n`;
    const message = `memory: change ${i}\n\nMemory-Tool: memory_write\nMemory-Agent: bench/1.0\n`;
    const side = i % 100 === 99;
    stream.push(
      `commit refs/heads/${side ? 'side' : 'main'}`,
      `mark :${i + 1}`,
      `committer Ada <ada@example.org> ${1_600_000_000 + i * 60} +0000`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      ...parents(i),
      `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}`,
    );
  }
  repo.gitWith({ input: `${stream.join('\n')}\n` }, 'fast-import', '--quiet');
  repo.git('reset', '-q', '--hard');
  return repo;
}

/** Marks are one higher than the number of the commit. */
function parents(i: number): string[] {
  if (i === 0) return ['from refs/heads/main^0'];
  if (i % 100 === 99) return [`from :${i - 5}`];
  return i % 100 === 0 ? [`from :${i - 1}`, `merge :${i}`] : [`from :${i}`];
}

function pathOf(number: number): string {
  return entryRecord.path(entry(number, ''));
}

function textOf(number: number, i: number): string {
  return entryRecord.codec.encode(entry(number, `Changed for the time ${i}`));
}

function pastOf(workspace: Workspace) {
  return workspace.bind({
    session: new Session(() => 'bench'),
    tool: 'bench',
    signal: new AbortController().signal,
    onCommit() {},
    progress() {},
  }).history;
}

/** Git options for the durability of the server. */
function restoreByGit(path: string): void {
  const removed = repo.git('rev-list', '-1', 'HEAD', '--', path).trim();
  repo.git('checkout', `${removed}~`, '--', path);
  const fsync = ['-c', 'core.fsync=all', '-c', 'core.fsyncMethod=fsync'];
  repo.git(...fsync, 'commit', '-q', '-m', 'Restore', '--', path);
}

const repo = history();
const request = { revision: 'HEAD', limit: 20, skip: 0 };
const times = {
  build: new Times(),
  load: new Times(),
  record: new Times(),
  all: new Times(),
  blame: new Times(),
  restore: new Times(),
  log: new Times(),
  follow: new Times(),
  nativeAll: new Times(),
  nativeBlame: new Times(),
  nativeRestore: new Times(),
};

const first = await openMemory(repo, 'full');
await times.build.measure(() => pastOf(first).log({ ...request, path: pathOf(0) }));
for (let i = 0; i < rounds; i++) {
  const number = (i * 37) % records;
  const path = pathOf(number);
  const full = `.memory-bank/${path}`;
  await times.log.measure(() => repo.git('log', '--format=fuller', '--', full));
  await times.follow.measure(() => repo.git('log', '--format=fuller', '--follow', '--', full));
  await times.record.measure(() => pastOf(first).log({ ...request, path }));
  await times.nativeAll.measure(() =>
    repo.git('log', '-20', '--format=fuller', '--', '.memory-bank'),
  );
  await times.all.measure(() => pastOf(first).log(request));
  await times.nativeBlame.measure(() => repo.git('blame', '--porcelain', full));
  await times.blame.measure(() => pastOf(first).blame(path, 'HEAD'));
}
for (let i = 0; i < rounds; i++) {
  const path = pathOf(records + i);
  await times.restore.measure(() => pastOf(first).restore(path, undefined));
  repo.git('reset', '-q', '--hard', 'HEAD~1');
  await times.nativeRestore.measure(() => restoreByGit(`.memory-bank/${path}`));
}
await first.close();
for (let i = 0; i < 5; i++) {
  const again = await openMemory(repo, 'full');
  await times.load.measure(() => pastOf(again).log({ ...request, path: pathOf(i) }));
  await again.close();
}
const folder = repo.path('.git/memory-bank');
const [name = ''] = readdirSync(folder).filter((name) => name.startsWith('history-'));
const size = statSync(join(folder, name)).size;

const row = (what: string, ours: Times, command: string, theirs: Times) => [
  what,
  `${ms(ours.median)} / ${ms(ours.p95)}`,
  `\`${command}\``,
  `${ms(theirs.median)} / ${ms(theirs.p95)}`,
  ratio(ours, theirs),
];
report('history', 'History of a record', [
  `${count(commits)} commits, half of which change one of ${count(records)} records; each answer has 20 entries
with their changes. Median / 95th percentile of ${rounds} each, in milliseconds.`,
  table(
    ['', 'memory-bank', 'native', 'native git', 'ratio'],
    [
      row('one record', times.record, 'git log -- path', times.log),
      row('one record, following renames', times.record, 'git log --follow -- path', times.follow),
      row('everything', times.all, 'git log -20 -- .memory-bank', times.nativeAll),
      row('who wrote each line', times.blame, 'git blame', times.nativeBlame),
      row('one record, by a new process', times.load, 'git log -- path', times.log),
      row(
        'restore a record removed at the beginning',
        times.restore,
        'git rev-list -1, checkout, commit',
        times.nativeRestore,
      ),
    ],
  ),
  `The first query builds the index, which took ${ms(times.build.median / 1000)} s here. It is in the git directory, has
${(size / 1024 / 1024).toFixed(1)} MiB, and grows with the commits.`,
]);
repo.remove();
