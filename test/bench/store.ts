import { join } from 'node:path';
import { Session } from '../../src/core/memory/session.ts';
import { openWorkspace } from '../../src/store/session/open-workspace.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { entryRecord, type KnowledgeEntry } from '../../src/toolsets/knowledge/entry.ts';
import { gitEnv, knowsTables, type Repo } from '../support/repo.ts';
import { count, ratio, Times } from './figures.ts';
import { entries, entry, placeOf } from './knowledge.ts';
import { addFiles, diskUse, type Form, NativeGit, project, sources } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Compares one mutation, by the store and by the whole server, with the same commit by native git. */

type Durability = 'full' | 'relaxed';

const full = process.argv.includes('--full');
/** Measures only the repositories with refs in tables, and leaves the page as it is. */
const isTablesOnly = process.argv.includes('--tables');
const rounds = full ? 40 : 20;
// At its first calls, the code of a server is compiled only in part.
const warmUp = 20;

/** The refs and ids of a repository: those of git's default, or tables and SHA-256. */
type Kind = 'files' | 'tables';
const initOptions = { files: [], tables: ['--object-format=sha256', '--ref-format=reftable'] };

type Row = readonly [files: number, form: Form, records: readonly number[], kind?: Kind];

/** Number of files, their storage, number of records, and the kind of the repository. */
const rows: readonly Row[] = (
  full
    ? [100, 10_000, 100_000].flatMap((files) =>
        (['packed', 'loose'] as const).map((form): Row => [files, form, [100, 1000, 10_000]]),
      )
    : ([
        [100, 'loose', [100, 1000]],
        [10_000, 'packed', [1000, 10_000]],
      ] satisfies Row[])
)
  .filter(() => !isTablesOnly)
  .concat(knowsTables() ? [[100, 'loose', [100, 1000], 'tables']] : []);

async function withStore<R>(
  repo: Repo,
  durability: Durability,
  work: (change: (value: KnowledgeEntry) => Promise<unknown>) => Promise<R>,
): Promise<R> {
  const workspace = await openWorkspace(
    {
      root: repo.root,
      folder: join(repo.root, '.memory-bank'),
      repository: 'enclosing',
      records: toolsets.flatMap((toolset) => toolset.records),
      durability,
      now: () => new Date(),
      warn: console.warn,
    },
    { env: gitEnv },
  );
  const session = new Session(() => 'bench');
  const { signal } = new AbortController();
  const binding = { session, tool: 'bench', signal, onCommit() {}, progress() {} };
  try {
    return await work((value) =>
      workspace
        .bind(binding)
        .store.change({ subject: 'change a record' }, (draft) => draft.put(entryRecord, value)),
    );
  } finally {
    await workspace.close();
  }
}

/** Alternates between a new record and a changed one. */
function mutation(
  i: number,
  records: number,
): { readonly path: string; readonly value: KnowledgeEntry } {
  const number = i % 2 === 0 ? 1_000_000 + records + i : (i * 7919) % records;
  const value = entry(number, i % 2 === 0 ? 'New' : `Change ${i} of ${records}`);
  return { path: placeOf(number, value), value };
}

type Way = 'native' | 'store' | 'stdio';
const ways: readonly Way[] = ['native', 'store', 'stdio'];
type ForEach<T> = Record<Way, T>;

function forEach<T>(make: (way: Way) => T): ForEach<T> {
  return { native: make('native'), store: make('store'), stdio: make('stdio') };
}

/** Measures one row: alternates between the three ways, each in its own copy of the project. */
async function compare(
  places: ForEach<Repo>,
  durability: Durability,
  records: number,
  first: number,
): Promise<ForEach<Times>> {
  const times = forEach(() => new Times());
  const native = new NativeGit(places.native, durability);
  const server = await ServerProcess.start(places.stdio.root, durability);
  await withStore(places.store, durability, async (change) => {
    for (let i = 0; i < warmUp + rounds; i++) {
      const { path, value } = mutation(first + i, records);
      const { created_at, updated_at, ...given } = value;
      const text = entryRecord.codec.encode(value);
      const work: ForEach<() => Promise<unknown>> = {
        native: () => native.commit(path, text),
        store: () => change(value),
        stdio: () => server.call('memory_write', given),
      };
      for (let turn = 0; turn < ways.length; turn++) {
        // Each goes first equally often: the pending writes of one slow down the next.
        const way = ways[(i + turn) % ways.length] ?? 'native';
        const counted = i < warmUp ? new Times() : times[way];
        await counted.measure(work[way]);
      }
    }
  });
  await server.end();
  native.close();
  return times;
}

const speed: Record<Durability, string[][]> = { full: [], relaxed: [] };
const space: string[][] = [];

const used: Repo[] = [];
const compiled = project();
used.push(compiled);
// All rows are measured in this process; warm up, so that the first does not include compilation.
await withStore(compiled, 'relaxed', async (change) => {
  for (let i = 0; i < 300; i++) await change(entry(i, 'Warm'));
});

for (const [files, form, steps, kind = 'files'] of rows) {
  const places = forEach(() => project(...initOptions[kind]));
  used.push(...Object.values(places));
  for (const repo of Object.values(places)) addFiles(repo, form, sources(files));
  let before = 0;
  for (const records of steps) {
    for (const repo of Object.values(places)) addFiles(repo, form, entries(before, records));
    before = records;
    const sizes = forEach((way) => diskUse(places[way]));
    for (const [turn, durability] of (['full', 'relaxed'] as const).entries()) {
      const { native, store, stdio } = await compare(places, durability, records, turn * 1000);
      const row = [
        `${count(files)} ${form}${kind === 'tables' ? ', SHA-256 and reftable' : ''}`,
        count(records),
        ...[native, store, stdio].map((times) => times.text),
        ratio(store, native),
        ratio(stdio, native),
      ];
      console.log(durability, row.join(' | '));
      speed[durability].push(row);
    }
    if (form !== 'packed') continue;
    const each = (way: Way) => {
      const bytes = (diskUse(places[way]) - sizes[way]) / (2 * (warmUp + rounds));
      return (bytes / 1024).toFixed(1);
    };
    const loose = forEach(each);
    for (const repo of Object.values(places)) repo.git('gc', '-q', '--prune=now');
    const packed = forEach(each);
    space.push([
      count(files),
      count(records),
      loose.store,
      packed.store,
      loose.native,
      packed.native,
    ]);
    console.log('disk', space.at(-1)?.join(' | '));
  }
}
// Not earlier: ext4 checks all recently freed inodes before it allocates a new one.
for (const repo of used) repo.remove();

const head = ['files', 'records', 'native git', 'store', 'stdio', 'store ÷ git', 'stdio ÷ git'];
if (isTablesOnly) process.exit();
report('store', 'One mutation, one commit', [
  `A record is alternately created and changed, and committed: by the store alone, by a call of
\`memory_write\` over stdio, and by \`git add -- path && git commit -q -m … -- path\`.
Median / 95th percentile of ${rounds} each, in milliseconds.`,
  '### Durable when acknowledged (the default)',
  'Native git with `-c core.fsync=all -c core.fsyncMethod=fsync`.',
  table(head, speed.full),
  '### `MEMORY_BANK_DURABILITY=relaxed`',
  'Native git with its defaults, without fsync.',
  table(head, speed.relaxed),
  '### Disk space of a commit',
  'KiB of `.git/objects` for each commit, as allocated on disk, before and after `git gc`.',
  table(['files', 'records', 'store', 'after gc', 'native git', 'after gc'], space),
]);
