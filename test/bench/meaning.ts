import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SearchDocument, SearchIndex } from '../../src/store/search/index.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { seeded } from '../support/seeded.ts';
import { learned, shipped } from './engines.ts';
import { labelledSets, misspell, Quality } from './labelled.ts';
import { report, table } from './report.ts';

/**
 * Asks for decision records of public repositories in other words than theirs.
 *
 * `--repositories <folder>` has a clone of each as `<owner>+<name>`; `--development` keeps the test half unread.
 */

interface MeaningQuestion {
  readonly half: 'development' | 'test';
  readonly kind: string;
  readonly repository: string;
  /** The record that answers it. */
  readonly at: string;
  readonly question: string;
}

/** Returns the hits of a query, the best first. */
type Ask = (query: string) => readonly string[];

const records = /(?:^|\/)(?:adr|adrs|decisions)\/.*\.md$/i;
const noRecords = /template|readme|index\.md|decisions\.md|0001-record-arch/i;
const halves = process.argv.includes('--development')
  ? (['development'] as const)
  : (['development', 'test'] as const);

/** Ways to search, with the signals that are switched on. */
const ways = [
  { name: 'this program', hasLearned: true, hasTable: true },
  { name: 'without meaning', hasLearned: true, hasTable: false },
  { name: 'without learned meaning', hasLearned: false, hasTable: true },
  { name: 'words alone', hasLearned: false, hasTable: false },
] as const;

/** Returns a function that asks an index of documents, for each way. */
function indexed(documents: readonly SearchDocument[]): Ask[] {
  const index = new SearchIndex();
  for (const document of documents) index.upsert(document);
  const meanings = learned(index);
  return ways.map(({ hasLearned, hasTable }) => (query) => {
    const options = {
      limit: 10,
      ...(hasLearned && { meanings }),
      ...(hasTable && { table: shipped }),
    };
    return index.search(query, options).hits.map(({ id }) => id);
  });
}

/** The decision records of a repository, at its commit. */
function documentsOf(clone: string, commit: string): SearchDocument[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', clone, ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
  const paths = git('ls-tree', '-r', '--name-only', commit).split('\n');
  return paths
    .filter((path) => records.test(path) && !noRecords.test(path))
    .map((path) => {
      const content = git('show', `${commit}:${path}`);
      return { id: path, fields: memoryFile.search({ path, content }) };
    });
}

function questionsReport(folder: string): string[] {
  const questions = readFileSync('test/fixtures/search/meaning-questions.jsonl', 'utf8')
    .trim()
    .split('\n')
    .map((line): MeaningQuestion => JSON.parse(line));
  const repositories: readonly string[] = JSON.parse(
    readFileSync('test/fixtures/search/meaning-repositories.json', 'utf8'),
  );
  const asks = new Map<string, Ask[]>();
  for (const repository of repositories) {
    const [name = '', commit = ''] = repository.split('@');
    const clone = join(folder, name.replace('/', '+'));
    if (existsSync(clone)) asks.set(name, indexed(documentsOf(clone, commit)));
  }
  return halves.map((half) => {
    const own = questions.filter((one) => one.half === half && asks.has(one.repository));
    const kinds = [...new Set(own.map(({ kind }) => kind))];
    const rows = ways.map(({ name }, way) => {
      const places = own.map(({ repository, at, question }) => {
        return asks.get(repository)?.[way]?.(question).indexOf(at) ?? -1;
      });
      const share = (most: number, kind?: string) => {
        const counted = places.filter((_, at) => kind === undefined || own[at]?.kind === kind);
        const right = counted.filter((place) => place >= 0 && place < most).length;
        return ((100 * right) / counted.length).toFixed(0);
      };
      const gain = places.reduce(
        (sum, place) => sum + (place < 0 ? 0 : 1 / Math.log2(place + 2)),
        0,
      );
      if (process.argv.includes('--list') && way === 0)
        for (const [at, place] of places.entries())
          console.error(place, own[at]?.kind, own[at]?.question, own[at]?.at);
      return [
        name,
        ...[1, 5, 10].map((most) => share(most)),
        ((100 * gain) / own.length).toFixed(1),
        ...kinds.map((kind) => share(5, kind)),
      ];
    });
    const head = [
      '',
      'first',
      'in five',
      'in ten',
      'nDCG@10',
      ...kinds.map((kind) => `${kind}: in five`),
    ];
    return [`### ${half} half: ${own.length} questions`, table(head, rows)].join('\n\n');
  });
}

/** The sets of questions that words answer. */
function wordsReport(): string {
  const rows = labelledSets().flatMap(({ title, documents, questions }) => {
    const asks = indexed(documents);
    const titles = documents
      .filter((_, at) => at % Math.ceil(documents.length / 200) === 0)
      .map(({ id, fields }) => ({ query: fields.title, grades: new Map([[id, 1]]) }));
    return ways.map(({ name }, way) => {
      const measured = (list: typeof questions, typos: 'none' | 'one') => {
        const [quality, random] = [new Quality(), seeded(1)];
        for (const one of list) {
          quality.add(one, asks[way]?.(misspell(one.query, typos, random)) ?? []);
        }
        return quality.get('ndcg10').toFixed(1);
      };
      return [
        `${title}: ${name}`,
        measured(questions, 'none'),
        measured(questions, 'one'),
        measured(titles, 'none'),
      ];
    });
  });
  const head = ['nDCG@10', 'questions', 'one typo', 'titles'];
  return ['### Questions that words answer', table(head, rows)].join('\n\n');
}

const at = process.argv.indexOf('--repositories');
const folder = at < 0 ? undefined : process.argv[at + 1];
const parts = [
  ...(folder === undefined ? [] : questionsReport(folder)),
  ...(process.argv.includes('--no-words') ? [] : [wordsReport()]),
];
if (process.argv.includes('--print')) console.log(parts.join('\n\n'));
else report('meaning', 'Meaning', parts);
