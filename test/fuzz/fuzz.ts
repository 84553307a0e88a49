import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MemoryError } from '../../src/core/values/error.ts';
import { dice, mutate } from './mutation.ts';
import type { Target } from './target.ts';
import { targets } from './targets.ts';

/**
 * More processor time than this for one input of at most 64 kB is a finding, in milliseconds: the
 * least of a few runs, because the machine has other work too.
 */
const tooSlow = 1000;
const runs = 3;
/** So many inputs that led somewhere new are kept to start from. */
const maxPool = 4000;

/** What became of an input; a kind that was not seen before makes the input worth keeping. */
interface Outcome {
  readonly kind: string;
  readonly finding: string | undefined;
}

function attempt(target: Target, input: Buffer, run = 1): Outcome {
  const start = process.cpuUsage();
  let kind: string;
  let finding: string | undefined;
  try {
    kind = target.run(input);
  } catch (error) {
    const known = error instanceof MemoryError && error.code !== 'internal';
    kind = String(error)
      .replace(/".*"|\d+/gs, '')
      .slice(0, 80);
    if (!known) finding = error instanceof Error ? (error.stack ?? kind) : kind;
  }
  const { user, system } = process.cpuUsage(start);
  const spent = (user + system) / 1000;
  if (finding === undefined && spent > tooSlow) {
    if (run < runs) return attempt(target, input, run + 1);
    finding = `took ${spent.toFixed(0)} ms`;
  }
  return { kind: `${kind} ${spent > 50 ? Math.ceil(Math.log2(spent)) : ''}`, finding };
}

async function main([
  name = '',
  seconds = '60',
  seed = String(Date.now() % 2 ** 31),
]: string[]): Promise<number> {
  const target = targets[name];
  if (!target) {
    console.error(`npm run fuzz -- <${Object.keys(targets).join('|')}> [seconds] [seed]`);
    return 2;
  }
  console.log(`${name}: seed ${seed}, ${seconds} s`);
  const random = dice(Number(seed));
  const pool = target.seeds().filter(({ length }) => length <= 64 * 1024);
  const words = target.words.map((word) => Buffer.from(word));
  const seen = new Set<string>();
  const found = new Map<string, string>();
  const any = () => pool[random.roll(pool.length)] ?? Buffer.alloc(0);
  /** The shortest of a few: long inputs take the time in which many short ones try more. */
  const pick = () =>
    [any(), any(), any()].reduce((short, next) => (next.length < short.length ? next : short));
  let tried = 0;
  for (const end = Date.now() + Number(seconds) * 1000; Date.now() < end; tried++) {
    // What streams have put off until later is done now, and not kept for an hour.
    if (tried % 100 === 0) await setImmediate();
    const input = tried < pool.length ? pick() : mutate(pick(), pick(), words, random);
    const { kind, finding } = attempt(target, input);
    if (!seen.has(kind) && pool.length < maxPool) pool.push(input);
    seen.add(kind);
    if (finding === undefined) continue;
    // One of each kind is enough: the place in the code tells them apart.
    const place = finding
      .replace(/\d+(?= ms)|0x[0-9a-f]+/g, '')
      .split('\n')
      .slice(0, 3)
      .join('\n');
    if (found.has(place) || found.size >= 20) continue;
    found.set(place, keep(name, input));
    console.log(`${finding}\n  input: ${found.get(place)}`);
  }
  console.log(`${name}: ${tried} inputs, ${seen.size} outcomes, ${found.size} findings`);
  return found.size === 0 ? 0 : 1;
}

function keep(name: string, input: Buffer): string {
  const folder = join(tmpdir(), 'memory-bank-findings');
  mkdirSync(folder, { recursive: true });
  const id = createHash('sha1').update(input).digest('hex').slice(0, 12);
  const path = join(folder, `${name}-${id}`);
  writeFileSync(path, input);
  return path;
}

process.exitCode = await main(process.argv.slice(2));
