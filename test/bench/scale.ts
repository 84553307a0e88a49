import type { BoundWorkspace } from '../../src/core/declarations/workspace.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { addNote, Fleet } from '../support/fleet.ts';
import { manyWriters } from '../support/many-clones.ts';
import type { Transport } from '../support/remote-server.ts';
import type { Repo } from '../support/repo.ts';
import { simulateDay } from '../support/simulated-day.ts';
import { count, ms, Times } from './figures.ts';
import { entries, entry } from './knowledge.ts';
import { bindMemory, openMemory } from './memory.ts';
import { addFiles, diskUse, project } from './project.ts';
import { report, table } from './report.ts';

/** Measures how far one repository, one machine and one remote carry; `--full` adds the largest sizes. */

const isFull = process.argv.includes('--full');
const page = 'docs/scale.md';
const rounds = 15;

const write = (call: BoundWorkspace, i: number, text: string) =>
  call.store.change({ subject: `write ${i}` }, (tx) => tx.put(entryRecord, entry(i, text)));

/** The times of one repository with a number of records. */
async function records(size: number) {
  const repo = project();
  repo.write(
    '.memory-bank/config.yaml',
    'format: 1\nproject_id: 5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01\n',
  );
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Begin a memory');
  addFiles(repo, 'packed', entries(0, size));
  const bytes = diskUse(repo) / size;
  const first = new Times();
  const workspace = await openMemory(repo, 'full');
  await first.measure(() => bindMemory(workspace).store.search({ query: 'learnt here' }));
  const [search, change] = [new Times(), new Times()];
  for (let i = 0; i < rounds; i++) {
    await search.measure(() => bindMemory(workspace).store.search({ query: `learning ${i}` }));
    await change.measure(() => write(bindMemory(workspace), i, `Again ${i}`));
  }
  await workspace.close();
  repo.remove();
  return { size, first, search, change, bytes };
}

/** Makes commits that each change one of 1,000 records, and packs them. */
function history(commits: number): Repo {
  const repo = project();
  addFiles(repo, 'packed', entries(0, 1000));
  const lines: string[] = [];
  for (let i = 0; i < commits; i++) {
    const value = entry(i % 1000, `Changed for the time ${i}`);
    const text = entryRecord.codec.encode(value);
    const message = `memory: change ${i}\n\nMemory-Tool: memory_write\nMemory-Agent: bench/1.0\n`;
    lines.push(
      'commit refs/heads/main',
      `committer Ada <ada@example.org> ${1_700_000_000 + i * 60} +0000`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      ...(i === 0 ? ['from refs/heads/main^0'] : []),
      `M 100644 inline .memory-bank/${entryRecord.path(value)}`,
      `data ${Buffer.byteLength(text)}\n${text}`,
    );
  }
  if (commits > 0) repo.gitWith({ input: `${lines.join('\n')}\n` }, 'fast-import', '--quiet');
  repo.git('reset', '-q', '--hard');
  repo.git('gc', '-q');
  return repo;
}

/** The times of one repository with a number of commits. */
async function commits(size: number) {
  const empty = history(0);
  const base = diskUse(empty);
  empty.remove();
  const repo = history(size);
  const bytes = (diskUse(repo) - base) / size;
  const workspace = await openMemory(repo, 'full');
  const request = { revision: 'HEAD', path: entryRecord.path(entry(1, '')), limit: 10, skip: 0 };
  const [first, next] = [new Times(), new Times()];
  await first.measure(() => bindMemory(workspace).history.log(request));
  for (let i = 0; i < rounds; i++)
    await next.measure(() => bindMemory(workspace).history.log(request));
  await workspace.close();
  repo.remove();
  return { size, bytes, first, next };
}

/** The rate of durable changes that a number of agents of one server make at once. */
async function agents(size: number) {
  const repo = project();
  const workspace = await openMemory(repo, 'full');
  await write(bindMemory(workspace), 0, 'First');
  const each = Math.ceil(128 / size);
  const times = new Times();
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: size }, async (_, agent) => {
      for (let n = 0; n < each; n++) {
        await times.measure(() =>
          write(bindMemory(workspace), 1 + agent * each + n, 'By one of many'),
        );
      }
    }),
  );
  const rate = (size * each * 1000) / (performance.now() - begun);
  await workspace.close();
  repo.remove();
  return { size, rate, times };
}

/** The times of one change and of the list of branches, with a number of branches. */
async function branches(size: number) {
  const repo = project();
  const workspace = await openMemory(repo, 'full');
  await write(bindMemory(workspace), 0, 'First');
  const lines = Array.from({ length: size }, (_, i) => `create refs/heads/topic-${i} HEAD\n`);
  repo.gitWith({ input: lines.join('') }, 'update-ref', '--stdin');
  repo.git('pack-refs', '--all');
  const [list, change] = [new Times(), new Times()];
  for (let i = 0; i < rounds; i++) {
    await list.measure(() => bindMemory(workspace).history.branches(20));
    await change.measure(() => write(bindMemory(workspace), i, `With branches ${i}`));
  }
  await workspace.close();
  repo.remove();
  return { size, list, change };
}

/** The times of an exchange with one new change, and of one with nothing new. */
async function exchange(transport: Transport) {
  const fleet = await Fleet.create(1, transport);
  const [clone] = fleet?.clones ?? [];
  if (!fleet || !clone) return undefined;
  const request = { ours: [], theirs: [], confirm: false };
  const [push, idle] = [new Times(), new Times()];
  for (let i = 0; i < rounds; i++) {
    await addNote(clone, `n-${i}`);
    await push.measure(() => clone.opened.call.history.sync(request));
    await idle.measure(() => clone.opened.call.history.sync(request));
  }
  await fleet.remove();
  return { transport, push, idle };
}

const sized = async <T>(
  what: string,
  sizes: readonly number[],
  run: (size: number) => Promise<T>,
) => {
  const found: T[] = [];
  for (const size of sizes) {
    found.push(await run(size));
    console.error(`${size} ${what}`);
  }
  return found;
};

// The first work of a process also loads and compiles its code.
await records(100);
await commits(100);
await agents(8);
const byRecords = await sized(
  'records',
  isFull ? [1000, 10_000, 100_000] : [1000, 10_000],
  records,
);
const byCommits = await sized(
  'commits',
  isFull ? [1000, 10_000, 100_000] : [1000, 10_000],
  commits,
);
const byAgents = await sized('agents', [1, 8, 64], agents);
const byBranches = await sized('branches', [10, 1000, 10_000], branches);
const exchanges = [await exchange('a folder'), await exchange('HTTP'), await exchange('SSH')];
const writers = [
  await manyWriters('a folder', 2, 50, false),
  await manyWriters('a folder', 8, 50, false),
];
const changes = isFull ? 20 : 5;
const day = await simulateDay({ seed: 1, agents: 100, clones: 10, changes, outages: 16 });

const last = <T>(all: readonly T[]): T => all.at(-1) as T;
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const known = exchanges.flatMap((one) => one ?? []);
/** An agent that works all day makes about this many changes in an hour. */
const perAgent = 20;
/** Changes of a large team in a day. */
const perDay = 2000;
/** The longest time for which a server gathers changes, in seconds. */
const gather = 10;
const [rate, bytes] = [Math.min(...byAgents.map((one) => one.rate)), last(byCommits).bytes];
const slowest = Math.max(...known.map(({ push }) => push.median));
const perCommit = last(byCommits).first.median / last(byCommits).size;

report(
  'scale',
  'Measured',
  [
    `Records: an entry of about 400 bytes each. \`--full\` measures the largest sizes also. Times are medians in milliseconds, of changes that are durable when they are acknowledged.`,
    table(
      ['records', 'first search of a process', 'next search', 'one change', 'packed, per record'],
      byRecords.map(({ size, first, search, change, bytes }) => [
        count(size),
        ms(first.median),
        ms(search.median),
        ms(change.median),
        kilobytes(bytes),
      ]),
    ),
    table(
      ['commits', 'first log of a clone', 'next log', 'packed, per commit'],
      byCommits.map(({ size, first, next, bytes }) => [
        count(size),
        ms(first.median),
        ms(next.median),
        kilobytes(bytes),
      ]),
    ),
    table(
      ['agents of one server that write at once', 'changes per second', 'one change'],
      byAgents.map(({ size, rate, times }) => [String(size), rate.toFixed(0), ms(times.median)]),
    ),
    table(
      ['branches', 'the list of 20 branches', 'one change'],
      byBranches.map(({ size, list, change }) => [count(size), ms(list.median), ms(change.median)]),
    ),
    table(
      ['one exchange over', 'with a change', 'with nothing new'],
      known.map(({ transport, push, idle }) => [transport, ms(push.median), ms(idle.median)]),
    ),
    ...(known.length < exchanges.length ? ['There was no SSH server on this machine.'] : []),
    table(
      ['clones that write at once, 50 changes each', 'arrived', 'pushes', 'changes per second'],
      writers.flatMap((one, i) =>
        one
          ? [
              [
                String([2, 8][i]),
                `${one.arrived} of ${one.changes}`,
                String(one.pushes),
                ((one.arrived * 1000) / one.milliseconds).toFixed(0),
              ],
            ]
          : [],
      ),
    ),
    `A simulated day of 100 agents on 10 clones, with 16 outages of up to an hour: ${count(day.acknowledged)} acknowledged changes, ${day.lost.length} lost, ${count(day.pushes)} pushes, ${count(day.commits)} commits on the remote, and ${day.trees} tree${day.trees === 1 ? '' : 's'} in all clones and the remote at the end.`,
    '## Worked out',
    table(
      ['quantity', 'formula', 'result'],
      [
        [
          `agents on one clone that make ${perAgent} changes an hour each`,
          `slowest measured rate × 3,600 / ${perAgent} = ${rate.toFixed(0)} × 3,600 / ${perAgent}`,
          count(Math.floor((rate * 3600) / perAgent)),
        ],
        [
          'clones that write all the time to one branch, if the remote is busy half of the time',
          `gathering time / (2 × slowest exchange) = ${gather} s / (2 × ${(slowest / 1000).toFixed(2)} s)`,
          count(Math.floor(gather / (2 * (slowest / 1000)))),
        ],
        [
          `growth of a repository with ${count(perDay)} changes a day, packed`,
          `${count(perDay)} × 365 × ${kilobytes(bytes)}`,
          `${((perDay * 365 * bytes) / 1e9).toFixed(2)} GB a year`,
        ],
        [
          `the first log of a new clone after a year of these`,
          `${count(perDay)} × 365 × ${perCommit.toFixed(3)} ms`,
          `${((perDay * 365 * perCommit) / 1000).toFixed(0)} s, once`,
        ],
      ],
    ),
  ],
  page,
);
