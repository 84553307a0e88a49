import { z } from 'zod';
import type { JsonObject } from '../../src/core/values/json.ts';
import { count, ratio, Times } from './figures.ts';
import { project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Measures a very large plan, created and read with the graph tools. */

const features = 2000;
const paths = 10_000;
const objectives = 100;
const tasks = 10_000;
const batch = 500;
const rounds = process.argv.includes('--full') ? 40 : 15;

const words = 'parser token cache index merge lock commit branch record schema search query'.split(
  ' ',
);
const word = (i: number) => words[i % words.length] ?? '';
const slug = (i: number) => `area-${i % 50}/${word(i)}-${i}`;
const pathOf = (i: number) => `src/area-${i % 50}/${word(i)}/file-${i}.ts`;
const objective = (i: number) => `objective-${i}`;

function batches<T>(total: number, make: (i: number) => T): T[][] {
  return Array.from({ length: Math.ceil(total / batch) }, (_, b) =>
    Array.from({ length: Math.min(batch, total - b * batch) }, (_, i) => make(b * batch + i)),
  );
}

/** Finds the ids of the records in an answer of the graph toolset. */
function idsOf(answer: JsonObject): string[] {
  const lists = z.object({ data: z.record(z.string(), z.array(z.object({ id: z.string() }))) });
  return Object.values(lists.parse(answer).data).flatMap((list) => list.map(({ id }) => id));
}

/** Creates the plan and returns the ids of the paths. */
async function plan(server: ServerProcess): Promise<string[]> {
  const ids: string[] = [];
  const create = async (tool: string, args: JsonObject) => {
    const started = performance.now();
    const made = await server.call(tool, args);
    console.log(tool, ((performance.now() - started) / 1000).toFixed(1), 's');
    return made;
  };
  for (const list of batches(features, (i) => ({
    slug: slug(i),
    name: `Feature ${i}`,
    description: `What the ${word(i)} of area ${i % 50} has to do, and for whom.`,
  }))) {
    await create('create_features', { features: list });
  }
  for (const list of batches(paths, (i) => ({
    path: pathOf(i),
    type: 'file',
    description: `The ${word(i)} of area ${i % 50}, part ${i}.`,
    use_when: [`something about the ${word(i + 1)} has to change`, `a ${word(i + 5)} is slow`],
  }))) {
    ids.push(...idsOf(await create('create_paths', { paths: list })));
  }
  for (let i = 0; i < objectives; i++) {
    await server.call('create_objective', { slug: objective(i), name: `Objective ${i}` });
    const list = Array.from({ length: tasks / objectives }, (_, t) => ({
      text: `Step ${t}: change the ${word(t)} of area ${i}`,
    }));
    await server.call('create_tasks', { objective_slug: objective(i), tasks: list });
  }
  for (let i = 0; i < 20; i++) {
    await server.call('link_paths_to_feature', {
      feature_slug: slug(i),
      path_ids: ids.slice(i * 5, i * 5 + 5),
    });
    await server.call('create_requirements', {
      feature_slug: slug(i),
      requirements: [{ text: `It does what ${i} says` }, { text: 'It is quick' }],
    });
  }
  return ids;
}

const repo = project();
const maker = await ServerProcess.start(repo.root, 'relaxed');
const ids = await plan(maker);
const taskIds = idsOf(await maker.call('list_tasks', { objective_slug: objective(7) }));
await maker.end();

const server = await ServerProcess.start(repo.root);
const empty = project();
const small = await ServerProcess.start(empty.root);
await small.call('create_objective', { slug: objective(0), name: 'Objective' });

const reads: readonly (readonly [tool: string, args: (i: number) => JsonObject, what?: string])[] =
  [
    ['get_feature', (i) => ({ slug: slug(i * 7) })],
    ['get_path', (i) => ({ path: pathOf(i * 31) })],
    ['get_path', (i) => ({ id: ids[i * 31] ?? '' }), 'by id'],
    ['get_objective', (i) => ({ slug: objective(i) })],
    ['get_task', (i) => ({ id: taskIds[i] ?? '' })],
    ['list_features', () => ({})],
    ['list_paths', () => ({})],
    ['list_paths', (i) => ({ feature_slug: slug(i % 20) }), 'of a feature'],
    ['list_objectives', () => ({})],
    ['list_tasks', (i) => ({ objective_slug: objective(i) })],
    ['list_requirements', (i) => ({ feature_slug: slug(i % 20) })],
    ['get_feature_context', (i) => ({ slug: slug(i % 20) })],
    ['get_objective_context', (i) => ({ slug: objective(i) })],
    ['find_relevant_paths', (i) => ({ query: `${word(i)} slow` })],
    ['build_context', (i) => ({ feature_slugs: [slug(i % 20)] })],
    ['search_memory', (i) => ({ query: `${word(i)} area ${i}` })],
  ];
const rows: string[][] = [];
for (const [tool, args, what] of reads) {
  const first = new Times();
  const later = new Times();
  await first.measure(() => server.call(tool, args(0)));
  for (let i = 1; i <= rounds; i++) await later.measure(() => server.call(tool, args(i)));
  rows.push([`\`${tool}\`${what ? ` ${what}` : ''}`, first.median.toFixed(1), later.text]);
  console.log(rows.at(-1)?.join(' | '));
}
const memory = server.memory;

const writes: readonly (readonly [tool: string, args: (i: number) => JsonObject])[] = [
  ['create_features', (i) => ({ features: [{ slug: `new/feature-${i}`, name: 'New' }] })],
  ['create_paths', (i) => ({ paths: [{ path: `src/new-${i}.ts`, type: 'file' }] })],
  ['create_tasks', (i) => ({ objective_slug: objective(0), tasks: [{ text: `New ${i}` }] })],
  ['create_tickets', (i) => ({ tickets: [{ key: `NEW-${i}` }] })],
];
const creations: string[][] = [];
for (const [tool, args] of writes) {
  const here = new Times();
  const there = new Times();
  for (let i = -2; i < rounds; i++) {
    await (i < 0 ? new Times() : here).measure(() => server.call(tool, args(i + 2)));
    await (i < 0 ? new Times() : there).measure(() => small.call(tool, args(i + 2)));
  }
  creations.push([`\`${tool}\``, here.text, there.text, ratio(here, there)]);
  console.log(creations.at(-1)?.join(' | '));
}
const peak = server.peakMemory;
for (const one of [server, small]) await one.end();
for (const one of [repo, empty]) one.remove();

report('graph', 'A large plan', [
  `${count(features)} features, ${count(paths)} paths and ${count(tasks)} tasks of ${objectives} objectives, created with the tools over stdio, and read by a new server. Milliseconds until the client has read the answer (5.9 MB for all paths); for later calls, median / 95th percentile.`,
  table(['call', 'first', 'later'], rows),
  'Creating a record in this project and in an empty one, alternately:',
  table(['call', 'large', 'empty', 'ratio'], creations),
  `Resident memory after the reads: ${memory.toFixed(0)} MB, at most ${peak.toFixed(0)} MB.`,
]);
