import type { Steps } from '../../records/slices.ts';
import type { Matched } from './hit-piece.ts';
import { type Range, sentenceEnd, sentenceStart } from './passage-range.ts';
import { type TextMatch, within } from './text-match.ts';

/** Saturation, and penalty for a passage longer than the usual length in characters. */
const k = 1.2;
const b = 0.75;
const usualLength = 87;
/** Characters around a match in which the ends of its passage are looked for. */
const longestPassage = 300;
/** Limit of the places of one text at which passages are looked for, apart from that of each concept. */
const fewPlaces = 3;
/** Matches compared with the following ones in one step. */
const stepPlaces = 1024;

/** The end of a text that says that something follows, and the beginning of a list item. */
const announcing = /[:：][*_`)]*\s*$/u;
const item = /^[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]/;

/** A sentence, list item or row of a piece that has words of the query. */
export interface MatchingPassage extends Range, Matched {
  readonly value: number;
}

/**
 * The weights of the concepts in one text, which take a passage for a document and the text for all.
 *
 * @param rarities the weight of each concept in the memory.
 */
export function passageWeights(
  length: number,
  places: readonly TextMatch[],
  rarities: readonly number[],
): number[] {
  const uses = rarities.map(() => 0);
  for (const { concept } of places) uses[concept] = (uses[concept] ?? 0) + 1;
  const passages = 1 + length / usualLength;
  return rarities.map((rarity, concept) => {
    const here = (k + 1) * Math.log(1 + (passages + 0.5) / ((uses[concept] ?? 0) + 0.5));
    return rarity * (1 + here);
  });
}

/**
 * Finds the passages of a piece that have the most of the query; early ones weigh a little more.
 *
 * The ends of a passage take time to find, so only the places where most matches are together are looked
 * at, and the best place of each concept.
 */
export function* passagesOf({ piece, matches: all }: Matched): Steps<MatchingPassage[]> {
  const found: MatchingPassage[] = [];
  const weights = piece.weights();
  for (const first of yield* likelyPlaces(all, weights)) {
    const match = all[first];
    if (!match || found.some(({ start, end }) => start <= match.start && match.start < end))
      continue;
    const { start, end } = passageAround(piece.text, match, piece);
    const matches = within(all, { start, end });
    const value = worthOf({ start, end }, piece, matches, weights);
    found.push({ piece, start, end, matches, value });
  }
  return found;
}

/** The numbers of the matches with which a passage may begin, in the order of the text. */
function* likelyPlaces(
  places: readonly TextMatch[],
  weights: readonly number[],
): Steps<readonly number[]> {
  if (places.length <= fewPlaces) return places.map((_, at) => at);
  const values = new Float64Array(places.length);
  const bestOf = weights.map(() => -1);
  for (const [at, first] of places.entries()) {
    if (at % stepPlaces === stepPlaces - 1) yield;
    const seen: number[] = [];
    let value = 0;
    for (let next = at; next < places.length; next++) {
      const place = places[next];
      if (place === undefined || place.end - first.start > 2 * usualLength) break;
      for (const [concept, worth] of place.worths) {
        if (seen.includes(concept)) continue;
        seen.push(concept);
        value += worth * (weights[concept] ?? 0);
      }
    }
    values[at] = value;
    for (const concept of first.worths.keys()) {
      const best = bestOf[concept] ?? -1;
      if (best < 0 || value > (values[best] ?? 0)) bestOf[concept] = at;
    }
  }
  const order = [...places.keys()].sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b);
  const chosen = new Set([...order.slice(0, fewPlaces), ...bestOf.filter((at) => at >= 0)]);
  return [...chosen].sort((a, b) => a - b);
}

/** The worth of a passage by the concepts that it has. */
function worthOf(
  { start, end }: Range,
  part: Range,
  matches: readonly TextMatch[],
  weights: readonly number[],
): number {
  const uses = new Map<number, number>();
  for (const { worths } of matches) {
    for (const [concept, worth] of worths) uses.set(concept, (uses.get(concept) ?? 0) + worth);
  }
  const longer = k * (1 - b + (b * (end - start)) / usualLength);
  let sum = 0;
  for (const [concept, use] of uses) sum += ((weights[concept] ?? 0) * use) / (use + longer);
  return sum * (1 + 1 / Math.log(usualLength + start - part.start));
}

/** The sentence, list item or row around a match, with the first ones that it announces. */
function passageAround(text: string, match: Range, part: Range): Range {
  const low = Math.max(part.start, match.start - longestPassage);
  const high = Math.min(part.end, match.end + longestPassage);
  const start = sentenceStart(text, match.start, low);
  let end = sentenceEnd(text, match.end, high);
  let isOpen = announcing.test(text.slice(Math.max(start, end - longestPassage), end));
  if (!isOpen) return { start, end };
  while (end < part.end && (isOpen || item.test(text.slice(end, end + usualLength)))) {
    const next = sentenceEnd(text, end, Math.min(part.end, end + longestPassage));
    if (next - start > 2 * (isOpen ? longestPassage : usualLength)) break;
    end = next;
    isOpen = announcing.test(text.slice(start, end));
  }
  return { start, end };
}
