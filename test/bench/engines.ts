import Fuse from 'fuse.js';
import MiniSearch from 'minisearch';
import { allAtOnce } from '../../src/store/records/slices.ts';
import { analyse } from '../../src/store/search/analyser.ts';
import { type SearchDocument, SearchIndex } from '../../src/store/search/index.ts';
import { LearnedMeaning, learnedWeight } from '../../src/store/search/learned-meaning.ts';
import type { CompareMeaning, PreparedMeaning } from '../../src/store/search/meaning.ts';
import { fieldNames } from '../../src/store/search/search-document.ts';
import { stopWords } from '../../src/store/search/stop-words.ts';

/** A way to search documents. */
export interface Engine {
  readonly name: string;
  /** Whether it is too slow for all questions. */
  readonly slow?: boolean;
  /** @returns a function that finds the ids of at most ten documents, the best first. */
  prepare(documents: readonly SearchDocument[]): (query: string) => string[];
}

/** Our engine over an index of the documents, with the signals of meaning that `learn` returns. */
function ourEngine(
  name: string,
  learn: (index: SearchIndex) => readonly PreparedMeaning[],
): Engine {
  return {
    name,
    prepare(documents) {
      const index = new SearchIndex();
      for (const document of documents) index.upsert(document);
      const meanings = learn(index);
      return (query) => index.search(query, { limit: 10, meanings }).hits.map(({ id }) => id);
    },
  };
}

/** The signal learned from the documents alone; none if they are too few. */
export function learned(index: SearchIndex): readonly PreparedMeaning[] {
  const words = allAtOnce(index.learning([]));
  if (!words) return [];
  const meaning = new LearnedMeaning(words);
  const compare: CompareMeaning = (...asked) => meaning.compare(...asked);
  return [{ name: 'learned', weight: learnedWeight, compare }];
}

export const ours = ourEngine('this program', learned);
export const oursByWords = ourEngine('this program, without learned meaning', () => []);

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

/** This program first, then the others. */
export const engines: readonly Engine[] = [
  ours,
  oursByWords,
  analysedMiniSearch,
  usualMiniSearch,
  wordsAsSubstrings,
  fuse('Fuse.js, token search', true),
  fuseByDefault,
  querySubstring,
];

function text({ fields }: SearchDocument): string {
  return fieldNames
    .map((field) => fields[field] ?? '')
    .join('\n')
    .toLowerCase();
}
