import type {
  ExplainedWord,
  MatchWay,
  SearchExplanation,
  SimilarWords,
} from '../../../core/memory/search-hit.ts';
import type { TextField } from '../../../core/record/record-type.ts';
import type { FieldScope } from '../query/field-scope.ts';
import type { Concept } from '../query/query.ts';
import { weigh } from '../terms/bm25.ts';
import { fieldNames, fieldWeights } from '../terms/search-document.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';
import type { Ranked } from './ranking.ts';

/** Limit of the words of a document that are listed for one word of the query. */
const mostFound = 10;

/**
 * Explains the score of a document: the words that matched, and what each signal added.
 *
 * @param rarities the weight of each concept.
 * @param similarIn finds the words of a document that are like those of the query.
 */
export function explain(
  collection: SearchedCollection,
  { entry, score, closeness, fit, meaning, meant, share }: Ranked,
  concepts: readonly Concept[],
  rarities: readonly number[],
  scope: FieldScope,
  similarIn: (entry: IndexedDocument) => readonly SimilarWords[],
): SearchExplanation {
  const length = scope.length(collection, entry.number);
  const matched = concepts.flatMap((concept, index) => {
    const { found, frequency } = occurrences(entry, concept, scope);
    if (frequency === 0) return [];
    const value = (rarities[index] ?? 0) * weigh(frequency, length, collection.averageLength);
    return [{ asked: concept.asked, found, value }];
  });
  const { passage, near, title } = closeness;
  const learned = Object.values(meaning).reduce((total, value) => total + value, 0);
  const own = matched.reduce(
    (total, { value }) => total + value,
    passage + near + title + fit + learned,
  );
  const sum = share * own + meant;
  // A title that equals the query has this score whatever else matches.
  const isSame = score === 1;
  const part = (value: number) => rounded(isSame ? 0 : (score * share * value) / sum);
  const words = matched.map(
    ({ value, ...word }): ExplainedWord => ({
      ...word,
      added: part(value),
    }),
  );
  if (isSame) return { words, signals: { same_title: 1 } };
  const signals = { passage: part(passage), near: part(near), title: part(title), fit: part(fit) };
  const meanings = Object.entries(meaning).map(([name, value]) => [name, part(value)]);
  const similar = meant > 0 ? similarIn(entry) : [];
  return {
    words,
    ...(similar.length > 0 && { similar }),
    signals: {
      ...signals,
      ...Object.fromEntries(meanings),
      ...(meant > 0 && { meaning: rounded((score * meant) / sum) }),
    },
  };
}

/** Explains a hit that has the query as a literal text. */
export function explainLiteral(query: string, field: TextField, added: number): SearchExplanation {
  const found = [{ word: query, how: 'literal', fields: [field] }] as const;
  return { words: [{ asked: query, found, added }], signals: {} };
}

/** The words of a document that a concept asks for, and their frequency as the ranking counts it. */
function occurrences(entry: IndexedDocument, { asked, terms, ways }: Concept, scope: FieldScope) {
  const found = new Map<string, { word: string; how: MatchWay; fields: TextField[] }>();
  let frequency = 0;
  for (const [order, field] of fieldNames.entries()) {
    if (!scope.has(field)) continue;
    for (const { text, term } of entry.words[order] ?? []) {
      const weight = terms.get(term);
      if (weight === undefined) continue;
      frequency += weight * fieldWeights[field];
      const known = found.get(text);
      if (known && !known.fields.includes(field)) known.fields.push(field);
      if (known || found.size >= mostFound) continue;
      const how = ways.get(term) ?? (text === asked ? 'written' : 'form');
      found.set(text, { word: text, how, fields: [field] });
    }
  }
  return { found: [...found.values()], frequency };
}

function rounded(value: number): number {
  return Math.round(1e4 * value) / 1e4;
}
