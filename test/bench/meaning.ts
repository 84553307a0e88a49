import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SearchDocument, SearchIndex } from '../../src/store/search/index.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { seeded } from '../support/seeded.ts';
import { learned, shipped } from './engines.ts';
import { labelledSets, misspell, Quality } from './labelled.ts';
import { report, table } from './report.ts';
import { talkSets } from './talk.ts';

/**
 * Asks for decision records of public repositories, in other words than theirs and in ordinary ones.
 *
 * `--repositories <folder>` has a clone of each as `<owner>+<name>`; `--development` keeps the test half unread.
 * `--talk <folder>` has the conversations of LoCoMo: see `talkSets`.
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

/** The records of each repository that is there, in an index for each way. */
function askable(folder: string): ReadonlyMap<string, readonly Ask[]> {
  const repositories: readonly string[] = JSON.parse(
    readFileSync('test/fixtures/search/meaning-repositories.json', 'utf8'),
  );
  const asks = new Map<string, Ask[]>();
  for (const repository of repositories) {
    const [name = '', commit = ''] = repository.split('@');
    const clone = join(folder, name.replace('/', '+'));
    if (existsSync(clone)) asks.set(name, indexed(documentsOf(clone, commit)));
  }
  return asks;
}

/** Asks the questions of a file; returns a table for each half. */
function questionsReport(asks: ReadonlyMap<string, readonly Ask[]>, file: string): string[] {
  const questions = readFileSync(`test/fixtures/search/${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line): MeaningQuestion => JSON.parse(line));
  return halves.map((half) => {
    const own = questions.filter((one) => one.half === half && asks.has(one.repository));
    const all = [...new Set(own.map(({ kind }) => kind))];
    const kinds = all.length > 1 ? all : [];
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
    const about = kinds.length > 0 ? 'questions' : `${all[0]} questions`;
    return [`### ${half} half: ${own.length} ${about}`, table(head, rows)].join('\n\n');
  });
}

/** A name of the code or a path. */
const identifier = /[\p{L}\p{N}]+(?:[_./][\p{L}\p{N}]+)+|\p{Ll}+\p{Lu}[\p{L}\p{N}]*/gu;
/** The number of words of a phrase. */
const phraseWords = 5;

/** Some words of a document as they follow each other. */
function phraseOf({ fields }: SearchDocument): string[] {
  const words = (fields.body ?? '').split(/\s+/);
  const start = Math.floor(words.length / 2);
  const found = words.slice(start, start + phraseWords);
  return found.length < phraseWords ? [] : [found.join(' ')];
}

/** Returns a function that finds an identifier that only one document has. */
function identifiersOf(documents: readonly SearchDocument[]) {
  const own = ({ fields }: SearchDocument) => new Set(fields.body?.match(identifier));
  const holders = new Map<string, number>();
  for (const document of documents) {
    for (const one of own(document)) holders.set(one, (holders.get(one) ?? 0) + 1);
  }
  return (document: SearchDocument) =>
    [...own(document)].filter((one) => holders.get(one) === 1).slice(0, 1);
}

/** The sets of questions that words answer. */
function wordsReport(): string {
  const rows = labelledSets().flatMap(({ title, documents, questions }) => {
    const asks = indexed(documents);
    const some = documents.filter((_, at) => at % Math.ceil(documents.length / 200) === 0);
    /** Questions with one right answer. */
    const asking = (queryOf: (document: SearchDocument) => readonly string[]) =>
      some.flatMap((one) =>
        queryOf(one).map((query) => ({ query, grades: new Map([[one.id, 1]]) })),
      );
    const titles = asking(({ fields }) => [fields.title]);
    const [phrases, names] = [asking(phraseOf), asking(identifiersOf(documents))];
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
        measured(phrases, 'none'),
        measured(names, 'none'),
      ];
    });
  });
  const head = ['nDCG@10', 'questions', 'one typo', 'titles', 'phrases', 'identifiers'];
  return ['### Questions that words answer', table(head, rows)].join('\n\n');
}

/** Questions about private talk, which is not in the words of software. */
function talkReport(folder: string): string {
  const qualities = ways.map(() => new Quality());
  for (const { documents, questions } of talkSets(folder)) {
    const asks = indexed(documents);
    for (const one of questions) {
      for (const [way, quality] of qualities.entries())
        quality.add(one, asks[way]?.(one.query) ?? []);
    }
  }
  const rows = ways.map(({ name }, way) => [
    name,
    ...(['recall5', 'recall10', 'ndcg10'] as const).map((figure) =>
      (qualities[way]?.get(figure) ?? 0).toFixed(1),
    ),
  ]);
  const head = ['', 'recall@5', 'recall@10', 'nDCG@10'];
  return ['### Questions about private talk (LoCoMo)', table(head, rows)].join('\n\n');
}

function given(option: string): string | undefined {
  const at = process.argv.indexOf(option);
  return at < 0 ? undefined : process.argv[at + 1];
}

const folder = given('--repositories');
const talk = given('--talk');
const asks = folder === undefined ? undefined : askable(folder);
const parts = [
  ...(asks ? questionsReport(asks, 'meaning-questions.jsonl') : []),
  ...(asks ? questionsReport(asks, 'ordinary-questions.jsonl') : []),
  ...(process.argv.includes('--no-words') ? [] : [wordsReport()]),
  ...(talk === undefined ? [] : [talkReport(talk)]),
];
if (process.argv.includes('--print')) console.log(parts.join('\n\n'));
else report('meaning', 'Meaning', parts);
