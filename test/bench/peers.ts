import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { count, ms, Times } from './figures.ts';
import { type Note, type Peer, peers } from './peer.ts';
import { project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/**
 * The same work given to this program and to others, over stdio, by one client.
 *
 * The others are installed into a folder of their own for the run. One that cannot be had here, or
 * fails, is left out by name.
 */

const notes = 200;
const samples = 50;
const starts = 5;
const processes = 4;
const each = 25;

const packages = mkdtempSync(join(tmpdir(), 'memory-bank-peers-'));
const installed = new Map<string, Promise<string>>();

/** Puts a package into a folder of its own. */
function install({ npm }: Peer): Promise<string> {
  if (npm === undefined) return Promise.resolve('');
  const folder = join(packages, npm.replace(/\W+/g, '-'));
  const known = installed.get(npm);
  if (known) return known;
  mkdirSync(folder);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder, npm];
  const run = promisify(execFile)('npm', args, { cwd: folder }).then(() => folder);
  installed.set(npm, run);
  return run;
}

function note(number: number, writer = 'alone'): Note {
  const name = `note${number}of${writer}`;
  return {
    number,
    name,
    text: `${name}: ${'what was learnt here is said in about four lines of text, '.repeat(4)}or so`,
  };
}

/** An answer that should hold a text, or the failure that it does not. */
function expectIn(answer: string, text: string): void {
  if (!answer.includes(text)) throw new Error(`"${text}" is not in: ${answer.slice(0, 200)}`);
}

/** A program at work in a repository of its own, and how long it took. */
class Contestant {
  readonly started = new Times();
  readonly added = new Times();
  readonly readBack = new Times();
  readonly found = new Times();
  tools = '';
  readonly peer: Peer;
  readonly #from: string;
  readonly #repo = project();
  #servers: ServerProcess[] = [];

  constructor(peer: Peer, from: string) {
    this.peer = peer;
    this.#from = from;
  }

  async prepare(): Promise<void> {
    await this.peer.prepare?.(this.#repo.root, this.#from);
  }

  /** Starts its server anew. */
  async start(): Promise<void> {
    await this.end();
    await this.started.measure(() => this.#open());
  }

  async begin(): Promise<void> {
    const tools = await this.#server.tools();
    this.tools = `${tools.length} / ${count(countTokens(JSON.stringify(tools)))}`;
    const call = this.peer.begin?.(this.#repo.root);
    if (call) await this.#server.text(...call);
  }

  async add(given: Note): Promise<void> {
    await this.added.measure(() => this.#server.text(...this.peer.add(given)));
  }

  async find(wanted: Note): Promise<void> {
    const read = this.peer.read(wanted);
    expectIn(await this.readBack.measure(() => this.#server.text(...read)), wanted.text);
    const search = this.peer.search?.(wanted.name);
    if (!search) return;
    expectIn(await this.found.measure(() => this.#server.text(...search)), wanted.name);
  }

  /** Lets several servers of the store write at once, and says what is still there afterwards. */
  async race(): Promise<string[]> {
    const { race, begin } = this.peer;
    for (let i = 0; i < processes; i++) await this.#open();
    const call = begin?.(this.#repo.root);
    if (call) for (const server of this.#servers) await server.text(...call);
    const acknowledged: string[] = [];
    const times = new Times();
    await Promise.all(
      this.#servers.map(async (server, w) => {
        for (let i = 0; i < each; i++) {
          const given = note(i, `writer${w}`);
          try {
            await times.measure(() => server.text(...race(given)));
            acknowledged.push(given.name);
          } catch {
            // It was told that it failed; there is nothing to find later.
          }
        }
      }),
    );
    await this.end();
    const texts = filesOf(this.#repo.root).join('\n');
    const kept = acknowledged.filter((name) => texts.includes(`${name}:`));
    const all = `${acknowledged.length} of ${processes * each}`;
    return [`\`${race(note(0))[0]}\``, all, String(kept.length), times.text];
  }

  async end(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.end()));
    this.#servers = [];
  }

  async remove(): Promise<void> {
    await this.end();
    this.#repo.remove();
  }

  get #server(): ServerProcess {
    const [server] = this.#servers;
    if (!server) throw new Error('it was not started');
    return server;
  }

  async #open(): Promise<void> {
    this.#servers.push(await ServerProcess.open(this.peer.start(this.#repo.root, this.#from)));
  }
}

/** The contents of all files of a folder, without those of git. */
function filesOf(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = statSync(path);
    if (stat.isDirectory()) return name === '.git' ? [] : filesOf(path);
    return [readFileSync(path, 'latin1')];
  });
}

const contestants = new Set<Contestant>();
const missing: string[] = [];

/** Has each program do something, one after the other; one that fails takes no further part. */
async function byTurns(work: (one: Contestant) => Promise<void>): Promise<void> {
  for (const one of contestants) {
    try {
      await work(one);
    } catch (error) {
      leaveOut(one.peer, error);
      contestants.delete(one);
      await one.remove();
    }
  }
}

function leaveOut({ name }: Peer, error: unknown): void {
  console.error(`${name}: ${error}`);
  missing.push(name);
}

for (const peer of peers) {
  try {
    contestants.add(new Contestant(peer, await install(peer)));
  } catch (error) {
    leaveOut(peer, error);
  }
}
await byTurns((one) => one.prepare());
for (let i = 0; i < starts; i++) await byTurns((one) => one.start());
await byTurns((one) => one.begin());
for (let i = 0; i < notes; i++) await byTurns((one) => one.add(note(i)));
for (let i = 0; i < samples; i++) await byTurns((one) => one.find(note((i * 37) % notes)));
await byTurns((one) => one.end());
const alone: string[][] = [];
for (const { peer, tools, started, added, readBack, found } of contestants) {
  const search = peer.search ? found.text : '–';
  alone.push([peer.name, tools, ms(started.median), added.text, readBack.text, search]);
}
const together: string[][] = [];
await byTurns(async (one) => void together.push([one.peer.name, ...(await one.race())]));
for (const one of contestants) await one.remove();
rmSync(packages, { recursive: true, force: true });

// A run without a network leaves the table of the last one in its place.
if ([...contestants].some(({ peer }) => peer.npm !== undefined)) {
  report('peers', 'Beside other programs', [
    'The same notes given to each program over stdio by the same client, each in a repository of its own. What an acknowledged note is there differs, and so does what it can cost:',
    [
      '| program | version | kept when acknowledged |',
      '| --- | --- | --- |',
      ...peers.map(
        ({ name, npm, keeps }) => `| ${name} | ${npm?.split('@').at(-1) ?? 'this'} | ${keeps} |`,
      ),
    ].join('\n'),
    `One server: ${notes} notes added one after the other, then ${samples} read by name and found by a word of theirs, the programs by turns. Median / 95th percentile in milliseconds; for the start, to the reply to \`initialize\`.`,
    table(['', 'tools / tokens', 'start', 'add', 'read', 'search'], alone),
    `${processes} servers of one store, each adding ${each} notes at once, to one log where the program has one:`,
    table(['', 'call', 'acknowledged', 'still there', 'ms'], together),
    ...(missing.length === 0
      ? []
      : [`Not to be had, or failed, in this run: ${missing.join(', ')}.`]),
  ]);
} else console.log('No other program could be had; docs/benchmarks.md stays as it is.');
