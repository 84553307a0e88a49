import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { Random } from '../support/random.ts';
import { gitEnv } from '../support/repo.ts';
import { count, ms, Times } from './figures.ts';
import { entry, placeOf } from './knowledge.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/**
 * Measures what one change costs a server after its answer: the processor time and the bytes written in
 * the seconds after it, and the size of everything that is derived from the memory.
 */

const full = process.argv.includes('--full');
const sizes = full ? [1_000, 10_000, 100_000] : [1_000, 10_000];
const changes = full ? 5 : 3;
const wordsOfRecord = 40;
/** How long a server is observed after the answer to a change, in milliseconds. */
const observed = 6_000;
/** How long a server gets to end the work that its start has caused, in milliseconds. */
const settling = 20_000;

/** The words of the project's pages, in their order. */
const words = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => readFileSync(join('docs', name), 'utf8').match(/[a-z]{2,}/gi) ?? []);

function* records(size: number): Generator<[path: string, text: string]> {
  const random = new Random(4711);
  const categories = ['project-learnings', 'patterns', 'decisions'] as const;
  for (let i = 0; i < size; i++) {
    const start = random.below(words.length - wordsOfRecord);
    const { reason: _, ...plain } = entry(i, '');
    const value = {
      ...plain,
      category: categories[i % 3] ?? 'decisions',
      value: `${words.slice(start, start + wordsOfRecord).join(' ')}.\n`,
    };
    yield [placeOf(i, value), entryRecord.codec.encode(value)];
  }
}

/** The size of the files in a folder whose names match, in bytes. */
function bytesIn(folder: string, pattern: RegExp): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && pattern.test(one.name))
    .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
}

/** The processor time of `node -e 0`, in milliseconds. */
function nodeTime(): number {
  const code = 'const { user, system } = process.cpuUsage(); console.log(user + system)';
  return Number(execFileSync(process.execPath, ['-e', code], { env: gitEnv })) / 1000;
}

const rows: string[][] = [];
for (const size of sizes) {
  const repo = project();
  addFiles(repo, 'packed', records(size));
  const node = new Times();
  for (let i = 0; i < 5; i++) node.add(nodeTime());
  const server = await ServerProcess.connect(repo.root);
  const write = (i: number) =>
    server.call('memory_write', { category: 'patterns', key: `new-${i}`, value: `Text ${i}` });
  await server.call('search_memory', { query: 'lock' });
  await write(0);
  await setTimeout(settling);
  const [time, bytes] = [new Times(), new Times()];
  for (let i = 1; i <= changes; i++) {
    await write(i);
    const before = [server.processorTime, server.bytesWritten] as const;
    await setTimeout(observed);
    time.add(server.processorTime - before[0]);
    bytes.add(server.bytesWritten - before[1]);
  }
  await server.end();
  const memory = bytesIn(repo.path('.memory-bank'), /./);
  const derived = bytesIn(repo.path('.git/memory-bank'), /\.(?:index|jsonl)$/);
  rows.push([
    count(size),
    ms(time.median),
    `${(time.median / node.median).toFixed(1)}×`,
    (bytes.median / 1e6).toFixed(2),
    (memory / 1e6).toFixed(1),
    (derived / 1e6).toFixed(1),
    `${(derived / memory).toFixed(2)}×`,
  ]);
  console.log(rows.at(-1)?.join(' | '));
  repo.remove();
}

report('write', 'After a change', [
  `A server that has searched once gets a change; what it computes and writes in the ${observed / 1000} s after the answer, next to the processor time of \`node -e 0\`: medians of ${changes} changes. The records have ${wordsOfRecord} words. Derived is everything in the git directory that is made from the memory for later processes.`,
  table(
    [
      'records',
      'processor time, ms',
      '÷ `node -e 0`',
      'written, MB',
      'memory, MB',
      'derived, MB',
      'derived ÷ memory',
    ],
    rows,
  ),
]);
