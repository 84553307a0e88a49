import type { TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import type { AskedTerms } from '../query/asked-terms.ts';
import { fieldNames } from '../terms/search-document.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import { visitTokens } from '../terms/token-places.ts';
import type { Range } from './passage-range.ts';

/** The worth of a part of an identifier, `5` in `option5`, and of a synonym. */
const partWorth = 0.4;

/** A piece of a text that the query asks for. */
export interface TextMatch extends Range {
  start: number;
  end: number;
  /** The concept found last. */
  concept: number;
  /** The worth of each concept that is found here, at most 1. */
  worths: ReadonlyMap<number, number>;
}

/** Finds the wanted terms in a field of a document; merges matches that overlap. */
export function* findMatches(
  document: IndexedDocument,
  field: TextField,
  asked: AskedTerms,
): Steps<TextMatch[]> {
  const places: TextMatch[] = [];
  const terms = document.terms[fieldNames.indexOf(field)];
  // The places of the tokens take longer to read.
  if (!terms?.some((number) => asked.has(number))) return places;
  yield* visitTokens(document, field, (number, start, end, isWhole) => {
    const concept = asked.conceptsOf(number)?.at(-1);
    if (concept === undefined) {
      if (isWhole && places.length > 0) discountParts(places, start);
      return;
    }
    const isWritten = asked.writtenBy(number)?.includes(concept) ?? false;
    const place = { start, end, concept, worths: isWritten ? wholes(concept) : parts(concept) };
    let last = places.at(-1);
    while (last && place.start < last.end) {
      place.start = Math.min(place.start, last.start);
      place.end = Math.max(place.end, last.end);
      place.worths = most(place.worths, last.worths);
      places.pop();
      last = places.at(-1);
    }
    places.push(place);
  });
  return places;
}

/** The matches in a range; they are in the order of the text. */
export function within(places: readonly TextMatch[], { start, end }: Range): readonly TextMatch[] {
  const first = firstFrom(places, start);
  const next = firstFrom(places, end);
  return first === 0 && next === places.length ? places : places.slice(first, next);
}

/** The concepts of some matches. */
export function conceptsIn(places: readonly TextMatch[]): Set<number> {
  const found = new Set<number>();
  let last: TextMatch['worths'] | undefined;
  for (const { worths } of places) {
    // Most matches of one concept share their worths.
    if (worths !== last) for (const concept of worths.keys()) found.add(concept);
    last = worths;
  }
  return found;
}

/** The index of the first match that does not start before an offset. */
function firstFrom(places: readonly TextMatch[], offset: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((places[middle]?.start ?? offset) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Lowers the worth of the matches that are parts of a word that was not asked for. */
function discountParts(places: readonly TextMatch[], start: number): void {
  for (let at = places.length - 1; at >= 0; at--) {
    const place = places[at];
    if (place === undefined || place.start < start) return;
    place.worths =
      place.worths === single[place.concept]
        ? parts(place.concept)
        : new Map(
            [...place.worths].map(([concept, worth]) => [concept, Math.min(worth, partWorth)]),
          );
  }
}

/** The worths of a match of one concept; most matches are of one, and share this object. */
function wholes(concept: number): ReadonlyMap<number, number> {
  single[concept] ??= new Map([[concept, 1]]);
  return single[concept];
}

const single: ReadonlyMap<number, number>[] = [];

/** The worths of a match by a synonym or an abbreviation of the word that was asked for. */
function parts(concept: number): ReadonlyMap<number, number> {
  other[concept] ??= new Map([[concept, partWorth]]);
  return other[concept];
}

const other: ReadonlyMap<number, number>[] = [];

/** The larger worth of each concept. */
function most(
  a: ReadonlyMap<number, number>,
  b: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const worths = new Map(a);
  for (const [concept, worth] of b) worths.set(concept, Math.max(worth, a.get(concept) ?? 0));
  return worths;
}
