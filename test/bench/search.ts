import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type SearchDocument, SearchIndex } from '../../src/store/search/index.ts';
import { seeded } from '../support/seeded.ts';
import { bankQuestions } from './bank-questions.ts';
import {
  type Engine,
  engines,
  fuseByDefault,
  hasSqlite,
  ours,
  oursByWords,
  switchedOff,
  usualMiniSearch,
  withoutSignals,
} from './engines.ts';
import { count, ms, Times } from './figures.ts';
import { type LabelledSet, labelledSets, misspell, Quality, type Typos } from './labelled.ts';
import { report, table } from './report.ts';
import { servedSearch, servedSet, tinyEntries } from './served-search.ts';

/** Compares the quality and speed of the search with other ways to search the same texts. */

const typosOf: readonly Typos[] = ['none', 'one', 'every'];
/** Whether to measure also the engines that take minutes for a set. */
const full = process.argv.includes('--full');
/** Number of questions of a set for a slow engine. */
const sample = 25;

const sets = labelledSets();
const length = ({ documents }: LabelledSet) =>
  documents.reduce((sum, { fields }) => sum + (fields.body?.length ?? 0), 0) / documents.length;
const longest = sets.reduce((a, b) => (length(b) > length(a) ? b : a));
const largest = sets.reduce((a, b) => (b.documents.length > a.documents.length ? b : a));
if (!hasSqlite) console.error('This Node.js has no SQLite: run the bench with Node.js 22.13.');
report('search', 'Search', [
  ...sets.map((set) => quality(set)),
  signals(),
  ...banks(),
  speed(largest, 10_000, [ours, oursByWords, usualMiniSearch, fuseByDefault]),
  speed(largest, 100_000, [ours, usualMiniSearch]),
  upkeep(largest, 10_000),
  await servedSearch([
    servedSet(largest, 10_000),
    tinyEntries(largest, 10_000),
    servedSet(longest, longest.documents.length),
    ...(full ? [servedSet(largest, 100_000)] : []),
  ]),
]);

function quality(set: LabelledSet): string {
  const rows = engines
    .filter(({ slow }) => full || !slow)
    .map((engine) => {
      console.error(`${clock()} ${set.title}: ${engine.name}`);
      const ask = engine.prepare(set.documents);
      const [clean, one, every] = typosOf.map((typos) => measure(set, engine, ask, typos));
      const figures = (['recall5', 'recall10', 'mrr', 'ndcg10'] as const).map((figure) =>
        clean?.get(figure).toFixed(1),
      );
      const misspelt = [one, every].map((quality) => quality?.get('ndcg10').toFixed(1));
      return [`${engine.name}${engine.slow ? ' ¹' : ''}`, ...[...figures, ...misspelt].map(String)];
    });
  const head = ['', 'recall@5', 'recall@10', 'MRR', 'nDCG@10', 'one typo', 'a typo in every word'];
  const size = `${count(set.documents.length)} entries, ${count(set.questions.length)} questions`;
  return [
    `### ${set.title}: ${size}`,
    table(head, rows),
    `¹ measured with ${Math.min(sample, set.questions.length)} of the questions. The last two columns are nDCG@10. SQLite FTS5 is measured with Node.js 22.13 and later, which bring it.`,
  ].join('\n\n');
}

/** The questions about memory banks in the folder after `--corpus`, or where the tests find it. */
function banks(): string[] {
  const at = process.argv.indexOf('--corpus');
  const text = bankQuestions(at < 0 ? undefined : process.argv[at + 1]);
  return text === undefined ? [] : [text];
}

/** The quality without each of the signals. */
function signals(): string {
  // By signal, a list of recall and nDCG for each set.
  const cells = switchedOff.map((): number[] => []);
  for (const set of sets) {
    console.error(`${clock()} ${set.title}: signals`);
    const ask = withoutSignals(set.documents);
    const [clean, typo] = (['none', 'one'] as const).map((typos) => {
      const random = seeded(1);
      const qualities = switchedOff.map(() => new Quality());
      for (const question of set.questions) {
        const answers = ask(misspell(question.query, typos, random));
        for (const [at, found] of answers.entries()) qualities[at]?.add(question, found);
      }
      return qualities;
    });
    for (const [at, list] of cells.entries()) {
      list.push(clean?.[at]?.get('recall10') ?? 0, clean?.[at]?.get('ndcg10') ?? 0);
      list.push(typo?.[at]?.get('ndcg10') ?? 0);
    }
  }
  const rows = switchedOff.map(({ name }, at) => {
    const list = cells[at] ?? [];
    const means = [0, 1, 2].map((kind) => {
      const values = list.filter((_, index) => index % 3 === kind);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    });
    return [name, ...[...means, ...list].map((value) => value.toFixed(1))];
  });
  const head = ['recall@10', 'nDCG@10', 'one typo'];
  return [
    '### Signals switched off one by one',
    table(['', ...head.map((name) => `mean ${name}`), ...sets.flatMap(() => head)], rows),
    'The means are over the sets above, which follow in their order. A signal that is off no longer adds to the score of the first 50 hits.',
  ].join('\n\n');
}

function measure(
  set: LabelledSet,
  engine: Engine,
  ask: (query: string) => string[],
  typos: Typos,
): Quality {
  const quality = new Quality();
  const random = seeded(1);
  const step = engine.slow ? Math.max(1, set.questions.length / sample) : 1;
  for (const [index, question] of set.questions.entries()) {
    // Every engine gets the same typos, whether it is asked or not.
    const query = misspell(question.query, typos, random);
    if (index % step < 1) quality.add(question, ask(query));
  }
  return quality;
}

/** Repeats the documents of a set up to a number, each with unique words. */
function multiply(set: LabelledSet, size: number): SearchDocument[] {
  return Array.from({ length: size }, (_, at) => {
    const { id, fields } = set.documents[at % set.documents.length] ?? {
      id: '',
      fields: { title: '' },
    };
    const copy = Math.floor(at / set.documents.length);
    return {
      id: `${id}/${at}`,
      fields: { ...fields, title: `${fields.title} copy${copy} n${at}x` },
    };
  });
}

function speed(set: LabelledSet, size: number, compared: readonly Engine[]): string {
  const documents = multiply(set, size);
  const rows = compared.map((engine) => {
    console.error(`${clock()} ${count(size)}: ${engine.name}`);
    const before = heap();
    const start = performance.now();
    let ask = engine.prepare(documents);
    const cold = performance.now() - start;
    const bytes = heap() - before;
    const times = new Times();
    const asked = set.questions.slice(0, engine.slow ? 10 : 300);
    for (const { query } of asked) {
      const from = performance.now();
      ask(query);
      times.add(performance.now() - from);
    }
    ask = () => [];
    return [
      engine.name,
      `${(cold / 1000).toFixed(2)} s`,
      `${(bytes / 2 ** 20).toFixed(0)} MiB`,
      ...[times.median, times.p95, times.max].map((value) => `${ms(value)} ms`),
    ];
  });
  const characters = documents.reduce(
    (sum, { fields }) => sum + Object.values(fields).join('').length,
    0,
  );
  return [
    `### Speed with ${count(size)} entries of ${count(Math.round(characters / size))} characters`,
    table(['', 'index from cold', 'memory', 'query p50', 'p95', 'slowest'], rows),
  ].join('\n\n');
}

function upkeep(set: LabelledSet, size: number): string {
  const index = new SearchIndex();
  const documents = multiply(set, size);
  for (const document of documents) index.upsert(document);
  const times = new Times();
  for (const [at, { id, fields }] of documents.slice(0, 1000).entries()) {
    const changed = { ...fields, body: `${fields.body} changed${at}` };
    const start = performance.now();
    index.upsert({ id, fields: changed });
    times.add(performance.now() - start);
  }
  return `One changed entry is indexed again in ${ms(times.median)} ms, p95 ${ms(times.p95)} ms (${count(size)} entries).`;
}

/** Heap bytes in use after a garbage collection. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

/** Seconds since the start, for progress messages. */
function clock(): string {
  return `${(performance.now() / 1000).toFixed(0)} s`;
}
