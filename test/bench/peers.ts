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
    text: `${name}: ${'what was learnt here is said in about four lines of text. '.repeat(4)}`,
  };
}

/** An answer that should hold a text, or the failure that it does not. */
function expectIn(answer: string, text: string): void {
  if (!answer.includes(text)) throw new Error(`"${text}" is not in: ${answer.slice(0, 200)}`);
}

/** One program after the other, so that none is in the way of another. */
async function measure(peer: Peer): Promise<{ alone: string[]; together: string[] }> {
  const repo = project();
  const from = await install(peer);
  await peer.prepare?.(repo.root, from);
  const open = () => ServerProcess.open(peer.start(repo.root, from));
  try {
    const [started, added, readBack, found] = [new Times(), new Times(), new Times(), new Times()];
    let server = await started.measure(open);
    for (let i = 1; i < starts; i++) {
      await server.end();
      server = await started.measure(open);
    }
    const tools = await server.tools();
    const tokens = count(countTokens(JSON.stringify(tools)));
    if (peer.begin) await server.text(...peer.begin(repo.root));
    for (let i = 0; i < notes; i++) {
      await added.measure(() => server.text(...peer.add(note(i))));
    }
    for (let i = 0; i < samples; i++) {
      const wanted = note((i * 37) % notes);
      expectIn(await readBack.measure(() => server.text(...peer.read(wanted))), wanted.text);
      const search = peer.search?.(wanted.name);
      if (search) expectIn(await found.measure(() => server.text(...search)), wanted.name);
    }
    await server.end();
    const alone = [
      peer.name,
      `${tools.length} / ${tokens}`,
      ms(started.median),
      added.text,
      readBack.text,
      peer.search ? found.text : '–',
    ];
    return { alone, together: await race(peer, repo.root, open) };
  } finally {
    repo.remove();
  }
}

/** Lets several servers of one store write at once, and says what is still there afterwards. */
async function race(
  peer: Peer,
  folder: string,
  open: () => Promise<ServerProcess>,
): Promise<string[]> {
  const servers = await Promise.all(Array.from({ length: processes }, open));
  const begin = peer.begin?.(folder);
  if (begin) for (const server of servers) await server.text(...begin);
  const acknowledged: string[] = [];
  const times = new Times();
  await Promise.all(
    servers.map(async (server, w) => {
      for (let i = 0; i < each; i++) {
        const given = note(i, `writer${w}`);
        try {
          await times.measure(() => server.text(...peer.race(given)));
          acknowledged.push(given.name);
        } catch {
          // It was told that it failed; there is nothing to find later.
        }
      }
    }),
  );
  await Promise.all(servers.map((server) => server.end()));
  const texts = filesOf(folder).join('\n');
  const kept = acknowledged.filter((name) => texts.includes(`${name}:`));
  const all = `${acknowledged.length} of ${processes * each}`;
  const [tool] = peer.race(note(0));
  return [peer.name, `\`${tool}\``, all, String(kept.length), times.text];
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

const alone: string[][] = [];
const together: string[][] = [];
const missing: string[] = [];
for (const peer of peers) {
  try {
    const rows = await measure(peer);
    alone.push(rows.alone);
    together.push(rows.together);
    console.log(rows.alone.join(' | '), '|', rows.together.slice(1).join(' | '));
  } catch (error) {
    console.error(`${peer.name}: ${error}`);
    missing.push(peer.name);
  }
}
rmSync(packages, { recursive: true, force: true });

report('peers', 'Beside other programs', [
  'The same notes given to each program over stdio by the same client, each in a repository of its own. What an acknowledged note is there differs, and so does what it can cost:',
  [
    '| program | version | kept when acknowledged |',
    '| --- | --- | --- |',
    ...peers.map(
      ({ name, npm, keeps }) => `| ${name} | ${npm?.split('@').at(-1) ?? 'this'} | ${keeps} |`,
    ),
  ].join('\n'),
  `One server: ${notes} notes added one after the other, then ${samples} read by name and found by a word of theirs. Median / 95th percentile in milliseconds.`,
  table(['', 'tools / tokens', 'start', 'add', 'read', 'search'], alone),
  `${processes} servers of one store, each adding ${each} notes at once, to one log where the program has one:`,
  table(['', 'call', 'acknowledged', 'still there', 'ms'], together),
  ...(missing.length === 0
    ? []
    : [`Not to be had, or failed, in this run: ${missing.join(', ')}.`]),
]);
