import Fuse from 'fuse.js';
import MiniSearch from 'minisearch';
import type {
  MatchWay,
  SearchExplanation,
  SearchSignal,
} from '../../src/core/memory/search-hit.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { allAtOnce } from '../../src/store/records/slices.ts';
import { type SearchDocument, SearchIndex } from '../../src/store/search/index.ts';
import { preparedMeaning } from '../../src/store/search/meaning/learned-meaning.ts';
import type { PreparedMeaning } from '../../src/store/search/meaning/meaning.ts';
import { shippedTable } from '../../src/store/search/meaning/shipped-table.ts';
import type { WordTable } from '../../src/store/search/meaning/word-table.ts';
import { fieldNames, fieldWeights } from '../../src/store/search/terms/search-document.ts';
import { analyse } from '../../src/store/search/text/analyser.ts';
import { stopWords } from '../../src/store/search/text/stop-words.ts';

/** A way to search documents. */
export interface Engine {
  readonly name: string;
  /** Whether it is too slow for all questions. */
  readonly slow?: boolean;
  /** @returns a function that finds the ids of at most ten documents, the best first. */
  prepare(documents: readonly SearchDocument[]): (query: string) => string[];
}

/** The table of words that ships with the program. */
export const shipped = shippedTable(new NodeFiles());

/** Our engine over an index of the documents, with a table of words and the signals that `learn` returns. */
function ourEngine(
  name: string,
  learn: (index: SearchIndex) => readonly PreparedMeaning[],
  table: WordTable | undefined,
): Engine {
  return {
    name,
    prepare(documents) {
      const index = new SearchIndex();
      for (const document of documents) index.upsert(document);
      const meanings = learn(index);
      return (query) =>
        index.search(query, { limit: 10, meanings, table }).hits.map(({ id }) => id);
    },
  };
}

/** The signal learned from the documents alone; none if they are too few. */
export function learned(index: SearchIndex): readonly PreparedMeaning[] {
  const words = allAtOnce(index.learning([]));
  return words ? [preparedMeaning(words)] : [];
}

export const ours = ourEngine('this program', learned, shipped);
export const oursByWords = ourEngine('this program, by words alone', () => [], undefined);

export const usualMiniSearch: Engine = {
  name: 'MiniSearch as usually configured (boost, prefix, fuzzy 0.2)',
  prepare(documents) {
    const index = new MiniSearch({ fields: [...fieldNames] });
    index.addAll(documents.map(({ id, fields }) => ({ id, ...fields })));
    const boost = { title: 3, body: 2 };
    return (query) =>
      index
        .search(query, { boost, prefix: true, fuzzy: 0.2 })
        .slice(0, 10)
        .map((found) => String(found.id));
  },
};

/** MiniSearch with our analyser, but without our ranking and spelling. */
const analysedMiniSearch: Engine = {
  name: 'MiniSearch with the analyser of this program',
  prepare(documents) {
    const index = new MiniSearch({
      fields: [...fieldNames, 'all'],
      tokenize: (text) => {
        const terms: string[] = [];
        analyse(text, ({ word, term }) => {
          if (!stopWords.has(word)) terms.push(term);
        });
        return terms;
      },
      processTerm: (term) => term,
    });
    index.addAll(documents.map(({ id, fields }) => ({ id, ...fields, all: text({ id, fields }) })));
    const boost = { title: 0.3, body: 0.2, reason: 0.1, notes: 0.05, all: 1 };
    return (query) =>
      index
        .search(query, { boost, bm25: { k: 1.6, b: 0.6, d: 0 } })
        // MiniSearch multiplies by the number of query terms found, which gives worse results here.
        .map((found) => ({ id: String(found.id), score: found.score / found.queryTerms.length }))
        .sort((a, b) => b.score - a.score)
        .slice(0, 10)
        .map((found) => found.id);
  },
};

function fuse(name: string, useTokenSearch: boolean): Engine {
  return {
    name,
    slow: true,
    prepare(documents) {
      const weights = { title: 4, body: 3, reason: 2, notes: 1 };
      const index = new Fuse(
        documents.map(({ id, fields }) => ({ id, ...fields })),
        {
          keys: fieldNames.map((field) => ({ name: field, weight: weights[field] })),
          useTokenSearch,
          ignoreLocation: useTokenSearch,
        },
      );
      return (query) => index.search(query, { limit: 10 }).map(({ item }) => item.id);
    },
  };
}

export const fuseByDefault = fuse('Fuse.js by default', false);

/** Ranks by the number of query words that occur anywhere in the text. */
const wordsAsSubstrings: Engine = {
  name: 'words as substrings, ranked',
  prepare(documents) {
    const texts = documents.map((document) => ({ id: document.id, text: text(document) }));
    return (query) => {
      const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))];
      return texts
        .map(({ id, text }) => ({ id, found: words.filter((word) => text.includes(word)).length }))
        .filter(({ found }) => found > 0)
        .sort((a, b) => b.found - a.found)
        .slice(0, 10)
        .map(({ id }) => id);
    };
  },
};

const querySubstring: Engine = {
  name: 'the whole question as a substring',
  prepare(documents) {
    const texts = documents.map((document) => ({ id: document.id, text: text(document) }));
    return (query) =>
      texts
        .filter(({ text }) => text.includes(query.toLowerCase()))
        .slice(0, 10)
        .map(({ id }) => id);
  },
};

/** SQLite FTS5 with stems, and the words of the question joined by OR; Node.js 22.13 brings it. */
function fts5(sqlite: Sqlite): Engine {
  return {
    name: 'SQLite FTS5 (porter, words joined by OR, boost)',
    prepare(documents) {
      const database = new sqlite.DatabaseSync(':memory:');
      database.exec(
        `CREATE VIRTUAL TABLE entries USING fts5(id UNINDEXED, ${fieldNames.join(', ')}, tokenize = 'porter unicode61')`,
      );
      const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?)');
      database.exec('BEGIN');
      for (const { id, fields } of documents) {
        insert.run(id, ...fieldNames.map((field) => fields[field] ?? ''));
      }
      database.exec('COMMIT');
      const weights = fieldNames.map((field) => fieldWeights[field]).join(', ');
      const select = database.prepare(
        `SELECT id FROM entries WHERE entries MATCH ? ORDER BY bm25(entries, 0, ${weights}) LIMIT 10`,
      );
      return (query) => {
        const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
        if (words.length === 0) return [];
        return select
          .all(words.map((word) => `"${word}"`).join(' OR '))
          .map(({ id }) => String(id));
      };
    },
  };
}

/** The part of `node:sqlite` that the bench needs. */
interface Sqlite {
  readonly DatabaseSync: new (
    path: string,
  ) => {
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: readonly string[]): void;
      all(value: string): readonly { readonly id: unknown }[];
    };
  };
}

// Typed here, because the types of the oldest supported Node.js do not have it.
const sqlite = process.getBuiltinModule('node:sqlite' as 'node:path') as unknown as
  | Sqlite
  | undefined;

/** Whether this Node.js brings SQLite. */
export const hasSqlite = sqlite !== undefined;

/** This program first, then the others. */
export const engines: readonly Engine[] = [
  ours,
  oursByWords,
  ...(sqlite ? [fts5(sqlite)] : []),
  analysedMiniSearch,
  usualMiniSearch,
  wordsAsSubstrings,
  fuse('Fuse.js, token search', true),
  fuseByDefault,
  querySubstring,
];

/** Number of hits that are ranked again without a signal. */
const ranked = 100;

/** Returns the part of a score that a signal adds. */
type Part = (explanation: SearchExplanation) => number;

const signal =
  (name: SearchSignal): Part =>
  ({ signals }) =>
    signals[name] ?? 0;
/** The words that were only found in some ways. */
const ways =
  (...off: readonly MatchWay[]): Part =>
  ({ words }) =>
    words.reduce((sum, { found, added }) => {
      return sum + (found.every(({ how }) => off.includes(how)) ? added : 0);
    }, 0);

/** A signal of this program, and its part of the score of a hit. */
export interface SwitchedOff {
  readonly name: string;
  readonly part: Part;
}

/** The signals of this program; the first one is none. */
export const switchedOff: readonly SwitchedOff[] = [
  { name: 'this program', part: () => 0 },
  { name: 'without meaning', part: signal('meaning') },
  { name: 'without learned meaning', part: signal('learned') },
  { name: 'without words in one passage', part: signal('passage') },
  { name: 'without words near each other', part: signal('near') },
  { name: 'without words in the title', part: signal('title') },
  { name: 'without texts about little else', part: signal('fit') },
  { name: 'without corrections', part: ways('correction', 'half') },
  { name: 'without completions', part: ways('completion') },
  { name: 'without abbreviations', part: ways('abbreviation') },
  { name: 'without synonyms', part: ways('synonym') },
];

/**
 * Returns a function that finds the hits of this program without each of its signals.
 *
 * The first hits are ranked again by the score that their explanation leaves without the signal. A part
 * of the scaled score is the same part of the unscaled one.
 */
export function withoutSignals(
  documents: readonly SearchDocument[],
): (query: string) => readonly string[][] {
  const index = new SearchIndex();
  for (const document of documents) index.upsert(document);
  const meanings = learned(index);
  return (query) => {
    const options = { limit: ranked, meanings, table: shipped, explain: true };
    const { hits } = index.search(query, options);
    return switchedOff.map(({ part }) => {
      const scored = hits.map(({ id, score, explanation }) => {
        const left = explanation ? 1 - part(explanation) / score : 1;
        return { id, score: (left * score) / (1 - score) };
      });
      scored.sort((a, b) => b.score - a.score);
      return scored.slice(0, 10).map(({ id }) => id);
    });
  };
}

function text({ fields }: SearchDocument): string {
  return fieldNames
    .map((field) => fields[field] ?? '')
    .join('\n')
    .toLowerCase();
}
