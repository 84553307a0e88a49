import { type Collection, type Entry, passageLength } from './collection.ts';
import type { Term } from './dictionary.ts';
import type { Concept } from './query.ts';

/** A document that matched. */
export interface Ranked {
  readonly entry: Entry;
  /** Above 0, below 1. */
  readonly score: number;
}

/** How soon a repeated word counts no more. */
const k = 1.6;
/** How much a document longer than the average is held against it, 0 to 1. */
const b = 0.8;
/** How many documents are looked at closely. */
const closely = 100;
/** How much the best passage counts beside the whole. */
const passageWeight = 1;
/** How much two words of the query near each other count beside one. */
const pairWeight = 0.4;
/** How near. */
const pairDistance = 8;
/** How much a title that holds the whole query adds. */
const titleWeight = 0.3;

/**
 * The documents that hold something of the query, the best first.
 *
 * All are ranked by BM25 over the weighted sum of their fields; the first of them also by how close
 * together the words stand, by their best passage and by their title.
 *
 * @returns at least `limit` of them, or all, and how many there are.
 */
export function rank(
  collection: Collection,
  concepts: readonly Concept[],
  accepts: (id: string) => boolean,
  limit: number,
): { ranked: Ranked[]; total: number } {
  const rarities: number[] = [];
  const scores = new Float64Array(collection.entries.length);
  for (const { terms, weight } of concepts) {
    const holders = frequencies(terms, scores.length);
    const rarity = Math.log(
      1 + (collection.size - holders.documents.length + 0.5) / (holders.documents.length + 0.5),
    );
    rarities.push(weight * rarity);
    const share = (b / collection.averageLength) * k;
    for (let at = 0; at < holders.documents.length; at++) {
      const number = holders.documents[at] ?? 0;
      const frequency = holders.frequencies[at] ?? 0;
      const norm = k * (1 - b) + share * (collection.lengths[number] ?? 0);
      const score = (weight * rarity * frequency * (k + 1)) / (frequency + norm);
      scores[number] = (scores[number] ?? 0) + score;
    }
  }
  const asked = rarities.reduce((total, rarity) => total + rarity, 0);
  const { best, total } = select(collection, scores, accepts, Math.max(limit, closely));
  const ranked = best.map(({ entry, score }, index) => {
    const closer = index < closely ? look(collection, entry, score, concepts, rarities) : score;
    return { entry, score: closer / (closer + asked / 2) };
  });
  return { ranked: ranked.sort(order), total };
}

/** In which documents any of the terms stands, and how often all together. */
function frequencies(
  terms: Concept['terms'],
  size: number,
): Pick<Term, 'documents' | 'frequencies'> {
  const [first] = terms.keys();
  if (first && terms.size === 1 && terms.get(first) === 1) return first;
  const sums = new Float64Array(size);
  const documents: number[] = [];
  for (const [term, weight] of terms) {
    for (let at = 0; at < term.documents.length; at++) {
      const number = term.documents[at] ?? 0;
      if (sums[number] === 0) documents.push(number);
      sums[number] = (sums[number] ?? 0) + weight * (term.frequencies[at] ?? 0);
    }
  }
  return { documents, frequencies: documents.map((number) => sums[number] ?? 0) };
}

function order(a: Ranked, b: Ranked): number {
  return b.score - a.score || (a.entry.id < b.entry.id ? -1 : 1);
}

/** The best of all scores, without sorting the many that are not among them. */
function select(
  collection: Collection,
  scores: Float64Array,
  accepts: (id: string) => boolean,
  limit: number,
): { best: Ranked[]; total: number } {
  let best: Ranked[] = [];
  let total = 0;
  let least = 0;
  for (const [number, score] of scores.entries()) {
    if (score === 0) continue;
    const entry = collection.entries[number];
    if (entry === undefined || !accepts(entry.id)) continue;
    total += 1;
    if (score < least) continue;
    best.push({ entry, score });
    if (best.length >= 4 * limit) {
      best = best.sort(order).slice(0, limit);
      least = best.at(-1)?.score ?? 0;
    }
  }
  return { best: best.sort(order).slice(0, limit), total };
}

/** What a closer look at a document makes of its score. */
function look(
  collection: Collection,
  entry: Entry,
  score: number,
  concepts: readonly Concept[],
  rarities: readonly number[],
): number {
  const places = locate(entry, concepts);
  const sum = score + passageWeight * passage(collection, entry, places, rarities);
  const near = pairWeight * pairs(collection, entry, places, rarities);
  const asked = rarities.reduce((total, rarity) => total + rarity, 0);
  const titled = new Set(
    places.filter(({ at }) => at < (entry.ends[0] ?? 0)).map((place) => place.concept),
  );
  const share = [...titled].reduce((total, concept) => total + (rarities[concept] ?? 0), 0) / asked;
  return (sum + near) * (1 + titleWeight * share);
}

interface Place {
  /** Index of a token. */
  readonly at: number;
  /** Index of a concept. */
  readonly concept: number;
}

/** Where the concepts stand, in the order of the text. */
function locate(entry: Entry, concepts: readonly Concept[]): Place[] {
  const wanted = new Map<Term, number[]>();
  for (const [index, { terms }] of concepts.entries()) {
    for (const term of terms.keys()) wanted.set(term, [...(wanted.get(term) ?? []), index]);
  }
  const places: Place[] = [];
  let at = 0;
  let field = 0;
  for (const [index, { term }] of entry.words.entries()) {
    while (index >= (entry.ends[field] ?? Number.POSITIVE_INFINITY)) {
      field += 1;
      at += 2 * pairDistance;
    }
    for (const concept of wanted.get(term) ?? []) places.push({ at, concept });
    at += 1;
  }
  return places;
}

/** The score of the best stretch of a document. */
function passage(
  collection: Collection,
  entry: Entry,
  places: readonly Place[],
  rarities: readonly number[],
): number {
  const length = Math.min(collection.lengths[entry.number] ?? 0, passageLength);
  const norm = k * (1 - b + (b * length) / collection.averagePassage);
  const worth = (count: number) => (count * (k + 1)) / (count + norm);
  const counts = rarities.map(() => 0);
  let best = 0;
  let sum = 0;
  let first = 0;
  const count = ({ at, concept }: Place, sign: 1 | -1) => {
    const before = counts[concept] ?? 0;
    const after = before + sign * (at < (entry.ends[0] ?? 0) ? 3 : 1);
    counts[concept] = after;
    sum += (rarities[concept] ?? 0) * (worth(after) - worth(before));
  };
  for (const place of places) {
    count(place, 1);
    for (let behind = places[first]; behind && place.at - behind.at > passageLength; ) {
      count(behind, -1);
      first += 1;
      behind = places[first];
    }
    best = Math.max(best, sum);
  }
  return best;
}

/** The score of the pairs of concepts that stand near each other. */
function pairs(
  collection: Collection,
  entry: Entry,
  places: readonly Place[],
  rarities: readonly number[],
): number {
  const counts = new Map<number, number>();
  for (const [index, first] of places.entries()) {
    const seen = new Set([first.concept]);
    for (let next = index + 1; next < places.length; next++) {
      const second = places[next];
      if (second === undefined || second.at - first.at > pairDistance) break;
      if (seen.has(second.concept)) continue;
      seen.add(second.concept);
      const low = Math.min(first.concept, second.concept);
      const pair = low * rarities.length + Math.max(first.concept, second.concept);
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }
  }
  const length = collection.lengths[entry.number] ?? 0;
  const norm = k * (1 - b + (b * length) / collection.averageLength);
  let sum = 0;
  for (const [pair, count] of counts) {
    const low = rarities[Math.floor(pair / rarities.length)] ?? 0;
    const high = rarities[pair % rarities.length] ?? 0;
    sum += (((low + high) / 2) * count * (k + 1)) / (count + norm);
  }
  return sum;
}
