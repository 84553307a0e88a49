import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnv } from '../support/repo.ts';
import { count, ratio, Times } from './figures.ts';
import { entries, entry } from './knowledge.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Measures the time from the start of the process to its first answers. */

const full = process.argv.includes('--full');
const starts = full ? 40 : 20;
const firsts = full ? 10 : 3;
const records = 10_000;

const repo = project();
const node = new Times();
const initialized = new Times();
for (let i = 0; i < starts; i++) {
  const options = { env: gitEnv };
  await node.measure(() => once(spawn(process.execPath, ['-e', '0'], options), 'exit'));
  const server = await initialized.measure(() => ServerProcess.start(repo.root));
  await server.end();
}

addFiles(repo, 'packed', entries(0, records));
const { key, category } = entry(4711, '');
const calls = [
  ['get', 'memory_read', { category, key }],
  ['list', 'memory_list', {}],
  ['search', 'search_memory', { query: 'learnt four lines' }],
  ['create', 'memory_write', { category, key: 'new', value: 'text' }],
] as const;
const rows: string[][] = [];
for (const [what, tool, args] of calls) {
  const without = new Times();
  const first = new Times();
  const second = new Times();
  let memory = 0;
  for (let i = 0; i < 2 * firsts; i++) {
    // A server saves the index when it ends, so the next one has it.
    const isSaved = i % 2 === 1;
    if (!isSaved) removeIndex();
    const server = await ServerProcess.start(repo.root);
    const more = what === 'create' ? { key: `${args.key}-${i}` } : {};
    await (isSaved ? first : without).measure(() => server.call(tool, { ...args, ...more }));
    if (!isSaved) {
      await server.call('search_memory', { query: 'learnt' });
      await server.end();
      continue;
    }
    await second.measure(() => server.call(tool, { ...args, value: 'other text' }));
    memory = Math.max(memory, server.peakMemory);
    await server.end();
  }
  const cells = [without.text, first.text, ratio(first, without), second.text, memory.toFixed(0)];
  rows.push([`${what} (\`${tool}\`)`, ...cells]);
  console.log(rows.at(-1)?.join(' | '));
}
repo.remove();

report('start', 'Start', [
  'Median / 95th percentile, in milliseconds.',
  table(
    ['', 'ms', '÷ node -e 0'],
    [
      ['`node -e 0`, to its end', node.text, ''],
      ['the server, to its reply to `initialize`', initialized.text, ratio(initialized, node)],
    ],
  ),
  `The first call of a new server in a project with ${count(records)} records, without and with the index that an earlier server has saved, and the same call repeated:`,
  table(['call', 'first, without', 'first', '÷ without', 'second', 'peak memory, MB'], rows),
]);

function removeIndex(): void {
  const folder = repo.path('.git/memory-bank');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name.endsWith('.index')) rmSync(join(folder, name));
}
