import { lstatSync, readdirSync } from 'node:fs';
import { entryRecord, type KnowledgeEntry } from '../../src/toolsets/knowledge/entry.ts';
import type { Repo } from '../support/repo.ts';
import { count, ms, Times } from './figures.ts';
import { placeOf } from './knowledge.ts';
import type { LabelledSet } from './labelled.ts';
import { addFiles, project } from './project.ts';
import { table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Number of starts of a server for the first search, and of questions to one that runs. */
const starts = 7;
/** Time after which an agent calls the first tool, in milliseconds: the server has read the memory by then. */
const idle = 3_000;
const questions = 100;
/** Time in which a server writes what it derives from 10,000 records, in milliseconds. */
const settling = 10_000;

/** Entries of a memory that a server searches. */
export interface ServedMemory {
  readonly title: string;
  readonly entries: readonly KnowledgeEntry[];
  readonly queries: readonly string[];
}

/** The documents of a set as entries of the memory, repeated up to a number. */
export function servedSet({ documents, questions }: LabelledSet, size: number): ServedMemory {
  const time = new Date(1_700_000_000_000).toISOString();
  const entries = Array.from({ length: size }, (_, at): KnowledgeEntry => {
    const fields = documents[at % documents.length]?.fields ?? { title: '' };
    return {
      category: 'project-learnings',
      key: `${fields.title} ${at}`,
      value: fields.body ?? '',
      ...(fields.reason && { reason: fields.reason }),
      ...(fields.notes && { context: fields.notes }),
      created_at: time,
      updated_at: time,
    };
  });
  const queries = questions.map(({ query }) => query);
  return { title: `${count(size)} entries`, entries, queries };
}

/** Entries with a value of a few words. */
export function tinyEntries(set: LabelledSet, size: number): ServedMemory {
  const { queries, entries } = servedSet(set, size);
  const tiny = entries.map(({ reason, context, ...entry }) => ({
    ...entry,
    value: entry.value.slice(0, 40),
  }));
  return { title: `${count(size)} entries of a few words`, queries, entries: tiny };
}

/** Measures searches over stdio, each with its look at the disk. */
export async function servedSearch(memories: readonly ServedMemory[]): Promise<string> {
  const rows: string[][] = [];
  for (const memory of memories) {
    console.error(`search over stdio: ${memory.title}`);
    const repo = project();
    rows.push(await measure(memory, repo));
    repo.remove();
  }
  const head = [
    '',
    'bytes each',
    'saved ÷ text',
    'first, ms',
    'CPU',
    'first when idle',
    'p50 / p95, ms',
    'CPU',
    'MB',
  ];
  return [
    '### Searches over stdio, each with a look at the disk',
    table(head, rows),
    `The first search is that of a new server after its reply to \`tools/list\`, with the index that an earlier one has saved: median / 95th percentile of ${starts}. The next one is the first search of a server that was idle for ${idle / 1000} seconds before, as it is while a person types. The others are ${questions} questions that the server has answered once before, so that its code is compiled. CPU is the mean time that all threads of the server compute for one of them, in milliseconds. The memory is the resident one after the first search.`,
  ].join('\n\n');
}

async function measure({ title, entries, queries }: ServedMemory, repo: Repo): Promise<string[]> {
  const texts = entries.map((value) => entryRecord.codec.encode(value));
  addFiles(
    repo,
    'packed',
    entries.map((value, at): [string, string] => [placeOf(at, value), texts[at] ?? '']),
  );
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const saved = await save(repo, entries.length);
  const [first, later] = [new Times(), new Times()];
  let processor = 0;
  let memory = 0;
  for (let at = 0; at < starts; at++) {
    const search = (server: ServerProcess) =>
      server.call('search_memory', { query: queries[at] ?? '' });
    const server = await ServerProcess.connect(repo.root);
    const before = server.processorTime;
    await first.measure(() => search(server));
    processor += server.processorTime - before;
    memory = Math.max(memory, server.memory);
    await server.end();
    const idling = await ServerProcess.connect(repo.root);
    await new Promise((resolve) => setTimeout(resolve, idle));
    await later.measure(() => search(idling));
    await idling.end();
  }
  const server = await ServerProcess.start(repo.root);
  const asked = queries.slice(0, questions);
  for (const query of asked) await server.call('search_memory', { query });
  const warm = new Times();
  const before = server.processorTime;
  for (const query of asked) await warm.measure(() => server.call('search_memory', { query }));
  const each = (server.processorTime - before) / asked.length;
  await server.end();
  return [
    title,
    count(Math.round(bytes / entries.length)),
    saved === undefined ? 'not saved' : (saved / bytes).toFixed(2),
    first.text,
    ms(processor / starts),
    later.text,
    warm.text,
    ms(each),
    memory.toFixed(0),
  ];
}

/** Has a server save the index and the learned words; returns the size of the index. */
async function save(repo: Repo, records: number): Promise<number | undefined> {
  const server = await ServerProcess.start(repo.root);
  await server.call('search_memory', { query: 'first' });
  await new Promise((resolve) => setTimeout(resolve, settling * Math.max(1, records / 10_000)));
  await server.end();
  const folder = repo.path('.git/memory-bank');
  const name = readdirSync(folder).find((name) => /^records-.*\.index$/.test(name));
  return name === undefined ? undefined : lstatSync(`${folder}/${name}`).size;
}
