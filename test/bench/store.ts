import { join } from 'node:path';
import { Session } from '../../src/core/session.ts';
import type { Workspace } from '../../src/core/workspace.ts';
import { openWorkspace } from '../../src/store/workspace.ts';
import { type Entry, entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { toolsets } from '../../src/toolsets.ts';
import { gitEnv, type Repo } from '../support/repo.ts';
import { count, ms, ratio, Times } from './figures.ts';
import { diskUse, type Form, NativeGit, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** One mutation, through the store and through the whole server, beside the same commit by native git. */

type Durability = 'full' | 'relaxed';

const full = process.argv.includes('--full');
const rounds = full ? 40 : 20;
const warmUp = 4;

/** Files of the project, how they are stored, and with how many records. */
const rows: readonly (readonly [files: number, form: Form, records: readonly number[]])[] = full
  ? [100, 10_000, 100_000].flatMap((files) =>
      (['packed', 'loose'] as const).map((form) => [files, form, [100, 1000, 10_000]] as const),
    )
  : [
      [100, 'loose', [100, 1000]],
      [10_000, 'packed', [1000, 10_000]],
    ];

function entry(i: number, text: string): Entry {
  const time = new Date(1_700_000_000_000 + i * 1000).toISOString();
  return {
    category: 'project-learnings',
    key: `learning-${i}`,
    value: `${text} ${i}.\n${'What was learnt here is said in about four lines of text. '.repeat(5)}\n`,
    reason: 'It will be wanted again',
    created_at: time,
    updated_at: time,
  };
}

async function withStore<R>(
  repo: Repo,
  durability: Durability,
  work: (change: (values: readonly Entry[]) => Promise<void>) => Promise<R>,
): Promise<R> {
  const workspace: Workspace = await openWorkspace(
    {
      root: repo.root,
      bank: join(repo.root, '.memory-bank'),
      repository: 'enclosing',
      records: toolsets.flatMap((toolset) => toolset.records),
      durability,
      now: () => new Date(),
    },
    { env: gitEnv },
  );
  const session = new Session('bench');
  const { signal } = new AbortController();
  const binding = { session, tool: 'bench', signal, onCommit() {}, progress() {} };
  try {
    return await work((values) =>
      workspace.bind(binding).store.change({ subject: 'change a record' }, async (draft) => {
        for (const value of values) await draft.put(entryRecord, value);
      }),
    );
  } finally {
    await workspace.close();
  }
}

/** Fills a project up to so many records. */
async function fill(repo: Repo, form: Form, from: number, to: number): Promise<void> {
  const values = Array.from({ length: to - from }, (_, i) => entry(from + i, 'First'));
  await withStore(repo, 'relaxed', (change) => change(values));
  if (form === 'packed') repo.git('repack', '-adq');
}

/** By turns a new record and a changed one. */
function mutation(i: number, records: number): Entry {
  return i % 2 === 0
    ? entry(1_000_000 + records + i, 'New')
    : entry((i * 7919) % records, `Changed for the time ${i} of ${records}`);
}

interface Places {
  readonly store: Repo;
  readonly server: Repo;
  readonly native: Repo;
}

/** One row: the three ways by turns, each in its own copy of the project. */
async function compare(places: Places, durability: Durability, records: number, first: number) {
  const times = { store: new Times(), server: new Times(), native: new Times() };
  const native = new NativeGit(places.native, durability);
  const server = new ServerProcess(places.server.root, durability);
  await server.initialize();
  await withStore(places.store, durability, async (change) => {
    for (let i = 0; i < warmUp + rounds; i++) {
      const counted = i < warmUp ? undefined : times;
      const value = mutation(first + i, records);
      const { created_at, updated_at, ...given } = value;
      const path = `.memory-bank/${entryRecord.path(value)}`;
      const text = entryRecord.codec.encode(value);
      await (counted?.native ?? new Times()).measure(() => native.commit(path, text));
      await (counted?.store ?? new Times()).measure(() => change([value]));
      await (counted?.server ?? new Times()).measure(() => server.call('memory_write', given));
    }
  });
  await server.end();
  native.close();
  return times;
}

const kilobytes = (bytes: number) => (bytes / 1024).toFixed(1);
const speed: Record<Durability, string[][]> = { full: [], relaxed: [] };
const space: string[][] = [];

for (const [files, form, steps] of rows) {
  const places = {
    store: project(files, form),
    server: project(files, form),
    native: project(files, form),
  };
  let before = 0;
  for (const records of steps) {
    for (const repo of Object.values(places)) await fill(repo, form, before, records);
    before = records;
    const sizes = Object.values(places).map(diskUse);
    for (const [turn, durability] of (['full', 'relaxed'] as const).entries()) {
      const times = await compare(places, durability, records, turn * 1000);
      const row = [
        `${count(files)} ${form}`,
        count(records),
        `${ms(times.native.median)} / ${ms(times.native.p95)}`,
        `${ms(times.store.median)} / ${ms(times.store.p95)}`,
        ratio(times.store, times.native),
        `${ms(times.server.median)} / ${ms(times.server.p95)}`,
        ratio(times.server, times.native),
      ];
      console.log(durability, row.join(' | '));
      speed[durability].push(row);
    }
    if (form !== 'packed') continue;
    const commits = 2 * (warmUp + rounds);
    const each = (repo: Repo, i: number) => (diskUse(repo) - (sizes[i] ?? 0)) / commits;
    const loose = Object.values(places).map(each);
    for (const repo of Object.values(places)) repo.git('gc', '-q', '--prune=now');
    const packed = Object.values(places).map(each);
    space.push([
      count(files),
      count(records),
      ...[0, 2].flatMap((i) => [loose[i], packed[i]].map((size) => kilobytes(size ?? 0))),
    ]);
    console.log('disk', space.at(-1)?.join(' | '));
  }
  for (const repo of Object.values(places)) repo.remove();
}

const head = ['files', 'records', 'native git', 'store', 'store ÷ git', 'stdio', 'stdio ÷ git'];
report('store', 'One mutation, one commit', [
  `A record is created or changed, by turns, and committed: through the store alone, by a call of
\`memory_write\` to the server over stdio, and by \`git add -- path && git commit -q -m … -- path\`.
Median / 95th percentile of ${rounds} each, in milliseconds.`,
  '### On the medium before it is acknowledged (the default)',
  'Native git with `-c core.fsync=all -c core.fsyncMethod=fsync`.',
  table(head, speed.full),
  '### `MEMORY_BANK_DURABILITY=relaxed`',
  'Native git as it is by default, without any fsync.',
  table(head, speed.relaxed),
  '### Disk space of a commit',
  'KiB of `.git/objects` a commit, as `du` counts, before `git gc` and after it.',
  table(['files', 'records', 'store', 'after gc', 'native git', 'after gc'], space),
]);
