import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import express from 'express';
import { gitEnv, Repo } from '../support/repo.ts';
import { count, ms } from './figures.ts';
import { report, table } from './report.ts';

/** Compares requests over 50 connections with a constant answer of the same framework, and measures memory. */

const connections = 50;
const reads = process.argv.includes('--full') ? 50_000 : 10_000;
const writes = process.argv.includes('--full') ? 2_000 : 500;
const steady = 100_000;

const key = 'key-of-the-bench';
const constant = { status: 'success', content: 'x'.repeat(500) };

/** A server process and its address. */
interface Running {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts a server and waits until it prints its address to stdout or stderr. */
async function start(args: readonly string[], cwd?: string): Promise<Running> {
  const env = { ...gitEnv, MEMORY_BANK_API_KEYS: key };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of createInterface(child.stderr)) {
    const [, url] = /listens on ([^\s,]+)/.exec(line) ?? [];
    if (url !== undefined) return { child, url };
  }
  throw new Error('the server did not start');
}

/** Measurements of the load tool. */
interface Load {
  readonly requests: { readonly total: number };
  /** In seconds. */
  readonly duration: number;
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly non2xx: number;
  readonly statusCodeStats: object;
  readonly errors: number;
}

/** Sends a number of requests to one path; `[<id>]` in the body is unique in each. */
async function load(url: string, amount: number, body?: object): Promise<Load> {
  // By default the tool ends at a full second, and a run of two seconds would count as one of three.
  const tool = ['node_modules/autocannon/autocannon.js', '--json', '--no-progress', '-L', '10'];
  const options = ['-c', `${connections}`, '-a', `${amount}`, '-H', `authorization=Bearer ${key}`];
  const post = ['-m', 'POST', '-H', 'content-type=application/json', '-I'];
  const sent = body ? [...post, '-b', JSON.stringify(body)] : [];
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [...tool, ...options, ...sent, url], {
    maxBuffer: 1 << 24,
  });
  const result: Load = JSON.parse(stdout);
  if (result.non2xx + result.errors > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${url}: ${result.errors} errors, statuses ${statuses}`);
  }
  return result;
}

/** Requests per second. */
function rate({ requests, duration }: Load): string {
  return count(Math.round(requests.total / duration));
}

function row(what: string, found: Load, beside: Load): string[] {
  const { p50, p99 } = found.latency;
  const part = (found.requests.total / found.duration) * (beside.duration / beside.requests.total);
  return [what, rate(found), rate(beside), part.toFixed(2), ms(p50), ms(p99)];
}

/** Resident memory of a process, in MiB. */
function residentMemory({ child }: Running): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

async function measure(): Promise<void> {
  const repo = Repo.create();
  const unlimited = ['--limit-minute', '1000000000', '--limit-hour', '1000000000'];
  const ours = await start(
    ['dist/main.cjs', 'serve', '--root', repo.root, '--port', '0', ...unlimited],
    process.cwd(),
  );
  const theirs = await start([import.meta.filename, '--constant']);
  const file = `${ours.url}/memory-bank/file`;
  const write = (content: string) => ({ filename: 'note.md', content });
  try {
    await load(file, connections, write(`# A note\n\n${'Some text. '.repeat(45)}\n\n[<id>]\n`));
    for (const url of [theirs.url, `${file}/note.md`]) await load(url, 1_000);
    const rows: string[][] = [];
    const works: [string, () => Promise<Load>][] = [
      ['`GET /status`', () => load(`${ours.url}/status`, reads)],
      ['`GET /memory-bank/file/note.md`', () => load(`${file}/note.md`, reads)],
      ['`GET /memory-bank/files`', () => load(`${file}s`, reads)],
      ['`POST /memory-bank/file`, one commit each', () => load(file, writes, write('[<id>]'))],
    ];
    for (const [what, work] of works) {
      // Repeated for each, because the load of the machine changes.
      const reference = await load(theirs.url, reads);
      rows.push(row(what, await work(), reference));
    }
    const memory: string[][] = [];
    for (let done = 0; done < steady; done += steady / 5) {
      await load(`${file}/note.md`, steady / 5);
      memory.push([count(done + steady / 5), residentMemory(ours).toFixed(0)]);
    }
    report('http', 'HTTP', [
      `${connections} connections, ${count(reads)} reads and ${count(writes)} writes, all with a key, measured with autocannon.`,
      table(
        ['request', 'per second', 'Express with a constant answer', '÷', 'median, ms', 'p99, ms'],
        rows,
      ),
      table(['reads so far', 'memory of the server, MiB'], memory),
    ]);
  } finally {
    for (const { child } of [ours, theirs]) child.kill();
    repo.remove();
  }
}

if (process.argv.includes('--constant')) {
  const server = express()
    .use(({ headers }, response, next) => {
      if (headers.authorization === `Bearer ${key}`) return next();
      response.status(401).json({ status: 'error' });
    })
    .get('/', (_, response) => void response.json(constant))
    .listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      process.stderr.write(`listens on http://127.0.0.1:${port}\n`);
    });
} else await measure();
