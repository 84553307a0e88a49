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
 * Compares this program with others that do the same work for one client over stdio.
 *
 * The others are installed into a separate folder for the run. A program that cannot be installed, or
 * that fails, is omitted, and the report names it.
 */

const notes = 200;
const samples = 50;
const starts = 5;
const processes = 4;
const each = 25;

const packages = mkdtempSync(join(tmpdir(), 'memory-bank-peers-'));
const installed = new Map<string, Promise<string>>();

/** Installs a package into its own folder. */
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

/** Returns an answer that must contain a text. */
function expectIn(answer: string, text: string): void {
  if (!answer.includes(text)) throw new Error(`"${text}" is not in: ${answer.slice(0, 200)}`);
}

/** A program that works in its own repository, with its times. */
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

  /** Restarts its server. */
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

  /** Lets several servers of the store write concurrently, and counts the notes that are present afterwards. */
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
            // An error was reported; the note must not count.
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

/** Contents of all files of a folder except git's. */
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

/** Runs one step for each program in turn; a program that fails is dropped. */
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
  const listed = peer.npm === undefined ? '[tokens](#tokens)' : tools;
  alone.push([peer.name, listed, ms(started.median), added.text, readBack.text, search]);
}
const together: string[][] = [];
await byTurns(async (one) => void together.push([one.peer.name, ...(await one.race())]));
for (const one of contestants) await one.remove();
rmSync(packages, { recursive: true, force: true });

// Without a network, the table of the last run is kept.
if ([...contestants].some(({ peer }) => peer.npm !== undefined)) {
  report('peers', 'Comparison with other programs', [
    'One client sends the same notes to each program over stdio, each program in its own repository. The programs differ in what they guarantee when they acknowledge a note, and therefore in cost:',
    [
      '| program | version | stored when acknowledged |',
      '| --- | --- | --- |',
      ...peers.map(
        ({ name, npm, keeps }) => `| ${name} | ${npm?.split('@').at(-1) ?? 'this'} | ${keeps} |`,
      ),
    ].join('\n'),
    `One server: ${notes} notes are added one after the other, then ${samples} are read by name and searched for by a word; the programs alternate. Median / 95th percentile, in milliseconds; the start ends with the reply to \`initialize\`.`,
    table(['', 'tools / tokens', 'start', 'add', 'read', 'search'], alone),
    `${processes} servers of one store add ${each} notes each concurrently, to the same log if the program has one:`,
    table(['', 'call', 'acknowledged', 'present afterwards', 'ms'], together),
    ...(missing.length === 0
      ? []
      : [`Not available, or failed, in this run: ${missing.join(', ')}.`]),
  ]);
} else console.log('No other program is available; docs/benchmarks.md is unchanged.');
