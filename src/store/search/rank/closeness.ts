import type { AskedTerms } from '../query/asked-terms.ts';
import type { FieldScope } from '../query/field-scope.ts';
import { weigh } from '../terms/bm25.ts';
import { fieldNames, fieldWeights } from '../terms/search-document.ts';
import type { IndexedDocument, SearchedCollection } from '../terms/searched-collection.ts';

/** Length of a passage in tokens: a longer document is also scored by its best passage. */
const passageLength = 200;
/** Weight of the best passage, relative to the whole document. */
const passageWeight = 0.75;
/** Weight of two concepts near each other, relative to one concept. */
const pairWeight = 0.5;
/** Longest distance of two concepts that count as near each other, in tokens. */
const pairDistance = 8;
/** The part of the score that a title with all concepts adds. */
const titleWeight = 0.3;

/** A token that one of the concepts asks for. */
interface ConceptToken {
  /** Position among the tokens of the document; fields are far apart. */
  readonly at: number;
  readonly field: (typeof fieldNames)[number];
  /** Index of the concept. */
  readonly concept: number;
}

/** The parts of a score that come from the places of the matches in a document. */
export interface Closeness {
  readonly passage: number;
  readonly near: number;
  readonly title: number;
}

/**
 * Rates a document by where its matches are.
 *
 * @param rarities the weight of each concept.
 */
export function lookCloser(
  collection: SearchedCollection,
  entry: IndexedDocument,
  score: number,
  asked: AskedTerms,
  rarities: readonly number[],
  scope: FieldScope,
): Closeness {
  const places = locate(entry, asked, scope);
  const length = scope.length(collection, entry.number);
  const average = collection.averageLength;
  const best = passageWeight * passage(places, rarities, length, average);
  const near = pairWeight * pairs(places, rarities, length, average);
  const share = titleShare(places, rarities);
  // The score of a title that equals the query is infinite, and must not be multiplied by 0.
  const title = share > 0 ? (score + best + near) * titleWeight * share : 0;
  return { passage: best, near, title };
}

/**
 * Finds the tokens that concepts ask for, in the order of the text.
 *
 * Abbreviations are left out: on labelled questions their places made the order worse.
 */
function locate(entry: IndexedDocument, asked: AskedTerms, scope: FieldScope): ConceptToken[] {
  const places: ConceptToken[] = [];
  let at = 0;
  for (const [order, field] of fieldNames.entries()) {
    if (!scope.has(field)) continue;
    for (const number of entry.terms[order] ?? []) {
      const found = asked.writtenBy(number);
      if (found) for (const concept of found) places.push({ at, field, concept });
      at += 1;
    }
    at += pairDistance;
  }
  return places;
}

/** The score of the best passage. */
function passage(
  places: readonly ConceptToken[],
  rarities: readonly number[],
  length: number,
  average: number,
): number {
  const counts = rarities.map(() => 0);
  const worth = (count: number) =>
    weigh(count, Math.min(length, passageLength), Math.min(average, passageLength));
  let best = 0;
  let sum = 0;
  const count = ({ field, concept }: ConceptToken, sign: 1 | -1) => {
    const before = counts[concept] ?? 0;
    const after = before + sign * fieldWeights[field];
    counts[concept] = after;
    sum += (rarities[concept] ?? 0) * (worth(after) - worth(before));
  };
  let behind = 0;
  for (const place of places) {
    count(place, 1);
    for (let first = places[behind]; first && place.at - first.at > passageLength; ) {
      count(first, -1);
      behind += 1;
      first = places[behind];
    }
    best = Math.max(best, sum);
  }
  return best;
}

/** The score of the pairs of concepts that are near each other, in either order. */
function pairs(
  places: readonly ConceptToken[],
  rarities: readonly number[],
  length: number,
  average: number,
): number {
  const counts = new Map<number, number>();
  for (const [index, first] of places.entries()) {
    const seen = [first.concept];
    for (let next = index + 1; next < places.length; next++) {
      const second = places[next];
      if (second === undefined || second.at - first.at > pairDistance) break;
      if (seen.includes(second.concept)) continue;
      seen.push(second.concept);
      const low = Math.min(first.concept, second.concept);
      const pair = low * rarities.length + Math.max(first.concept, second.concept);
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
  }
  let sum = 0;
  for (const [pair, count] of counts) {
    const low = rarities[Math.floor(pair / rarities.length)] ?? 0;
    const high = rarities[pair % rarities.length] ?? 0;
    sum += ((low + high) / 2) * weigh(count, length, average);
  }
  return sum;
}

/** The share of the concepts that the title contains, by rarity, 0 to 1. */
function titleShare(places: readonly ConceptToken[], rarities: readonly number[]): number {
  const titled = new Set<number>();
  for (const { field, concept } of places) if (field === 'title') titled.add(concept);
  const sum = (concepts: Iterable<number>) => {
    let total = 0;
    for (const concept of concepts) total += rarities[concept] ?? 0;
    return total;
  };
  return sum(titled) / sum(rarities.keys());
}
