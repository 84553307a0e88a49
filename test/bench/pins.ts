import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gitEnv, type Repo } from '../support/repo.ts';
import { count, ms, ratio, Times } from './figures.ts';
import { entries } from './knowledge.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { program, ServerProcess } from './server.ts';

/** Measures searches of a project that pins the memory of another one, next to a project without a pin. */

const full = process.argv.includes('--full');
const starts = full ? 40 : 10;
const records = 10_000;
const pinned = 2_000;
/** Time in which a server saves what it has indexed, in milliseconds. */
const settling = 8_000;
const later = 20;

const others = project();
addFiles(others, 'packed', entries(0, pinned));
const [plain, pinning] = [project(), project()];
for (const repo of [plain, pinning]) addFiles(repo, 'packed', entries(0, records));
const run = (repo: Repo, ...args: string[]) =>
  execFileSync(process.execPath, [program, ...args, '--root', repo.root], { env: gitEnv });
for (const repo of [plain, pinning]) run(repo, 'init', '--clients', 'none', '--yes');
run(pinning, 'memories', 'add', 'team', others.root, '--yes');

const queries = ['learnt four lines', 'text wanted again', 'said in about four lines'];
const search = (server: ServerProcess, at: number) =>
  server.call('search_memory', { query: queries[at % queries.length] ?? '' });

/** The durations of one kind of search, and the processor time of all of them. */
class Measured {
  readonly times = new Times();
  #processor = 0;
  #count = 0;

  async measure(server: ServerProcess, at: number): Promise<void> {
    const before = server.processorTime;
    await this.times.measure(() => search(server, at));
    this.#processor += server.processorTime - before;
    this.#count += 1;
  }

  /** The mean processor time, in milliseconds. */
  get processor(): string {
    return ms(this.#processor / this.#count);
  }
}

/** The searches of the processes of one project. */
class Searches {
  readonly repo: Repo;
  readonly unsaved = new Measured();
  readonly first = new Measured();
  readonly second = new Measured();
  readonly more = new Measured();

  constructor(repo: Repo) {
    this.repo = repo;
  }

  /** Has a server save the indexes. */
  async save(): Promise<void> {
    const server = await ServerProcess.connect(this.repo.root);
    await search(server, 0);
    await setTimeout(settling);
    await server.end();
  }

  /** Searches in a new process without the index of the pinned memory. */
  async measureUnsaved(): Promise<void> {
    const folder = this.repo.path('.git/memory-bank');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    for (const name of names) if (name.startsWith('records-tree-')) rmSync(join(folder, name));
    const server = await ServerProcess.connect(this.repo.root);
    await this.unsaved.measure(server, 0);
    await server.end();
  }

  async measure(): Promise<void> {
    const server = await ServerProcess.connect(this.repo.root);
    await this.first.measure(server, 0);
    await this.second.measure(server, 1);
    for (let at = 0; at < later; at++) await this.more.measure(server, at);
    await server.end();
  }
}

const both = [new Searches(plain), new Searches(pinning)] as const;
for (const one of both) await one.save();
for (let i = 0; i < starts; i++) for (const one of both) await one.measureUnsaved();
for (let i = 0; i < starts; i++) for (const one of both) await one.measure();
const [without, having] = both;
const row = (what: string, kind: 'unsaved' | 'first' | 'second' | 'more') => {
  const [one, other] = [without[kind], having[kind]];
  const shown = [one.times.text, other.times.text, ratio(other.times, one.times)];
  return [what, ...shown, one.processor, other.processor];
};
for (const repo of [others, plain, pinning]) repo.remove();

report('pins', 'Memories of other repositories', [
  `\`search_memory\` over stdio in a project with ${count(records)} records, without a pin and with one of a memory of ${count(pinned)} records, from the reply of a new server to \`tools/list\` on: median / 95th percentile of ${starts} servers, alternately, in milliseconds, and the mean time that all threads of the server compute for it.`,
  table(
    ['search', 'without a pin', 'with a pin', '÷ without', 'CPU without', 'CPU with'],
    [
      row('the first, where no process has indexed the pinned memory', 'unsaved'),
      row('the first', 'first'),
      row('the second', 'second'),
      row(`each of the ${later} after it`, 'more'),
    ],
  ),
]);
