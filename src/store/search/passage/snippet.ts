import type { SearchFields, TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import type { AskedTerms } from '../query/asked-terms.ts';
import type { FieldScope } from '../query/field-scope.ts';
import type { Concept } from '../query/query.ts';
import { rarity } from '../terms/bm25.ts';
import type { SectionOfHit } from '../terms/search-document.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import { visitTokens } from '../terms/token-places.ts';
import { type Area, areasOf, isSuperseded, linesOf, type OutlineOf } from '../text/passage-area.ts';
import { answerLine, answerTo, isAnswer } from './passage-answer.ts';
import { around, type Range, whole } from './passage-range.ts';

const mostMatches = 10;
/** Approximate length of a passage in UTF-16 code units, and of one under a heading. */
export const passageLength = 160;
export const sectionPassageLength = 240;
/** The worth of a part of an identifier, `5` in `option5`, and of a synonym. */
const partWorth = 0.4;
/** The worth of a word in a heading above the section. */
const aboveWorth = 0.5;
/** The part of its score that a section keeps when it says that another one replaces it. */
const supersededShare = 0.6;
/** A hit also names other sections that are worth this share of the best one, up to a number. */
const alsoShare = 0.6;
/** A decision is shown for a section that weighs its options if it is worth this share of it. */
const answerShare = 0.4;
const mostAlso = 3;

interface TextMatch extends Range {
  start: number;
  end: number;
  /** The concept found last. */
  concept: number;
  /** The worth of each concept that is found here, at most 1. */
  worths: ReadonlyMap<number, number>;
}

export interface Excerpt extends SectionOfHit {
  readonly matches: string[];
  readonly snippet: string;
}

/**
 * Finds the matches in a document, and the passage of its text that answers the query best.
 *
 * @param rarities the weight of each concept among all documents.
 */
export function* excerpt(
  document: IndexedDocument,
  concepts: readonly Concept[],
  asked: AskedTerms,
  rarities: readonly number[],
  scope: FieldScope,
  outlineOf: OutlineOf,
): Steps<Excerpt> {
  const { fields } = document;
  const matches = new Map<string, number>();
  let shown: { readonly snippet: string } & SectionOfHit = { snippet: '' };
  let best = 0;
  // A hit shows its title anyway, so the snippet comes from the text if possible.
  for (const field of ['body', 'reason', 'notes', 'title'] as const) {
    const text = scope.text(fields, field);
    if (text === '') continue;
    const places = yield* find(document, field, asked);
    for (const { start, end, concept } of places) {
      const match = text.slice(start, end);
      if (!matches.has(match)) matches.set(match, concept);
    }
    if (best === Number.POSITIVE_INFINITY) continue;
    const areas = areasOf(fields, field, outlineOf);
    const weights = weigh(concepts, rarities, places, areas);
    const found = yield* choose(text, areas, places, weights);
    if (!found || found.value <= best) continue;
    // The headings of a markdown text are its title, so that no other field can say more.
    const isWhole = fields.markdown && field === 'body' && found.value > Number.MIN_VALUE;
    best = isWhole ? Number.POSITIVE_INFINITY : found.value;
    shown = found.shown;
  }
  const order = [...matches].sort((a, b) => a[1] - b[1]).map(([match]) => match);
  return { matches: order.slice(0, mostMatches), ...shown };
}

/** Returns the passage around a range that matched literally. */
export function literalPassage(
  fields: SearchFields,
  field: TextField,
  start: number,
  end: number,
  outlineOf: OutlineOf,
): { readonly snippet: string } & SectionOfHit {
  const text = fields[field] ?? '';
  const areas = areasOf(fields, field, outlineOf);
  const area = areas.find((one) => one.start <= start && end <= one.end);
  const limits = area ?? { start: 0, end: text.length };
  return passageOf(text, { start, end }, limits, area?.unit);
}

/** Shows whole sentences around a range if they fit, and the section of the hit. */
function passageOf(
  text: string,
  range: Range,
  area: Range,
  section: Area['unit'],
): { readonly snippet: string } & SectionOfHit {
  const length = section ? sectionPassageLength : passageLength;
  const snippet = whole(text, range, area, length) ?? around(text, range, area, passageLength);
  if (!section) return { snippet };
  return { snippet, section: section.path, lines: linesOf(text, section) };
}

/** The weights of the concepts for one text: a word of few of its areas says more than one of all. */
function weigh(
  concepts: readonly Concept[],
  rarities: readonly number[],
  places: readonly TextMatch[],
  areas: readonly Area[],
): number[] {
  const holders = concepts.map(() => new Set<number>());
  let area = 0;
  for (const { start, worths } of places) {
    while (start >= (areas[area]?.end ?? Number.POSITIVE_INFINITY)) area += 1;
    for (const concept of worths.keys()) holders[concept]?.add(area);
  }
  return concepts.map(({ weight }, index) => {
    const here = rarity(Math.min(holders[index]?.size ?? 0, areas.length), areas.length);
    return (rarities[index] ?? 0) + weight * here;
  });
}

/** Finds the wanted terms; merges matches that overlap. */
function* find(document: IndexedDocument, field: TextField, asked: AskedTerms): Steps<TextMatch[]> {
  const places: TextMatch[] = [];
  yield* visitTokens(document, field, (number, start, end, isWhole) => {
    const concept = asked.conceptsOf(number)?.at(-1);
    if (concept === undefined) {
      if (isWhole) discountParts(places, start);
      return;
    }
    const place = { start, end };
    const isWritten = asked.writtenBy(number)?.includes(concept) ?? false;
    let worths = isWritten ? wholes(concept) : parts(concept);
    let last = places.at(-1);
    while (last && place.start < last.end) {
      place.start = Math.min(place.start, last.start);
      place.end = Math.max(place.end, last.end);
      worths = most(worths, last.worths);
      places.pop();
      last = places.at(-1);
    }
    places.push({ ...place, concept, worths });
  });
  return places;
}

/** Lowers the worth of the matches that are parts of a word that was not asked for. */
function discountParts(places: readonly TextMatch[], start: number): void {
  for (let at = places.length - 1; at >= 0; at--) {
    const place = places[at];
    if (place === undefined || place.start < start) return;
    place.worths = new Map(
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

/** A passage, and its worth compared with passages of other fields. */
interface Choice {
  readonly value: number;
  readonly shown: { readonly snippet: string } & SectionOfHit;
}

/** Chooses the section that has the most of the query, and the passage of it to show. */
function* choose(
  text: string,
  areas: readonly Area[],
  places: readonly TextMatch[],
  weights: readonly number[],
): Steps<Choice | undefined> {
  if (places.length === 0) return undefined;
  let best: { units: Unit; value: number } | undefined;
  const rated: { section: Area['unit']; value: number }[] = [];
  for (const unit of unitsOf(areas)) {
    const value = unitValue(text, unit, places, weights);
    if (value > (best?.value ?? 0)) best = { units: unit, value };
    rated.push({ section: unit.section, value });
    yield;
  }
  const [opening] = areas;
  if (!best) {
    // Only front matter matched: any text says more.
    if (!opening) return undefined;
    const shown = passageOf(text, beginning(text, opening), opening, undefined);
    return { value: Number.MIN_VALUE, shown };
  }
  const asked = best.units;
  const answer = answerOf(text, best.units, best.value, areas, rated);
  const { section, areas: parts } = answer ? { section: answer.unit, areas: [answer] } : asked;
  let shown: { area: Area; value: number } | undefined;
  for (const area of parts) {
    const above = area.section ? within(places, headingOf(area.section)) : [];
    const value = worth(
      [
        [within(places, area), 1],
        [above, aboveWorth],
      ],
      weights,
    );
    if (!shown || value > shown.value) shown = { area, value };
  }
  if (!shown) return undefined;
  const { area } = shown;
  const length = section ? sectionPassageLength : passageLength;
  const found = (yield* densest(within(places, area), weights, length)) ?? beginning(text, area);
  // Of a decision, the beginning says most.
  const isNear = isAnswer(area) && found.start - area.start < 2 * length;
  const range = answer || isNear ? beginning(text, area) : (answerLine(text, found, area) ?? found);
  const shownSection = passageOf(text, range, area, section);
  const also = rated
    .filter((one) => one.value >= alsoShare * best.value && isApart(one.section, section))
    .sort((a, b) => b.value - a.value)
    .flatMap((one) => one.section?.path ?? [])
    .slice(0, mostAlso);
  const named = section && also.length > 0 ? { ...shownSection, also } : shownSection;
  return { value: best.value, shown: named };
}

/** The area that answers the question of the best unit, if it is worth enough to be shown for it. */
function answerOf(
  text: string,
  best: Unit,
  value: number,
  areas: readonly Area[],
  rated: readonly { readonly section: Area['unit']; readonly value: number }[],
): Area | undefined {
  const [first] = best.areas;
  const answer = first && answerTo(text, first, areas);
  if (!answer?.weighs) return answer?.area;
  const own = rated.find(({ section }) => section === answer.area.unit)?.value ?? 0;
  return own >= answerShare * value ? answer.area : undefined;
}

/** Returns whether neither of two sections contains the other. */
function isApart(one: Area['unit'], other: Area['unit']): boolean {
  return !!one && !!other && (one.end <= other.start || other.end <= one.start);
}

/** The section that a hit names, with the areas in it. */
interface Unit {
  readonly section: Area['unit'];
  readonly areas: Area[];
}

function unitsOf(areas: readonly Area[]): Unit[] {
  const units: Unit[] = [];
  for (const area of areas) {
    const last = units.at(-1);
    if (last && area.unit && last.section === area.unit) last.areas.push(area);
    else units.push({ section: area.unit, areas: [area] });
  }
  return units;
}

/** The worth of a unit; sub-sections that are units of their own do not count for it. */
function unitValue(
  text: string,
  { section, areas }: Unit,
  places: readonly TextMatch[],
  weights: readonly number[],
): number {
  const groups: [readonly TextMatch[], number][] = section
    ? [[within(places, { start: section.start, end: areas.at(-1)?.end ?? section.end }), 1]]
    : areas.map((area) => [within(places, area), 1]);
  for (let up = section?.parent; up; up = up.parent) {
    groups.push([within(places, headingOf(up)), aboveWorth]);
  }
  const value = worth(groups, weights);
  return value > 0 && section && isSuperseded(text, section) ? supersededShare * value : value;
}

function headingOf({ start, bodyStart }: NonNullable<Area['section']>): Range {
  return { start, end: bodyStart };
}

/** The sum of the concepts found, each where it is worth most; a repeated one counts a little more. */
function worth(
  groups: readonly (readonly [readonly TextMatch[], number])[],
  weights: readonly number[],
): number {
  const most = weights.map(() => 0);
  const uses = weights.map(() => 0);
  for (const [places, share] of groups) {
    for (const { worths } of places) {
      for (const [concept, value] of worths) {
        most[concept] = Math.max(most[concept] ?? 0, share * value);
        uses[concept] = (uses[concept] ?? 0) + share * value;
      }
    }
  }
  return weights.reduce((sum, weight, concept) => {
    const repeated = Math.max(0, (uses[concept] ?? 0) - (most[concept] ?? 0));
    return sum + weight * ((most[concept] ?? 0) + (0.1 * repeated) / (repeated + 1));
  }, 0);
}

/** The matches in a range; they are in the order of the text. */
function within(places: readonly TextMatch[], { start, end }: Range): readonly TextMatch[] {
  return places.slice(firstFrom(places, start), firstFrom(places, end));
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

/** The first word of an area whose heading alone matched. */
function beginning(text: string, { start, end }: Area): Range {
  const blank = text.slice(start, end).search(/\S/u);
  const at = start + Math.max(0, blank);
  return { start: at, end: at };
}

/** Matches compared with the following ones in one step. */
const stepPlaces = 1024;

/** Finds the range that has the heaviest concepts and is short enough to show. */
function* densest(
  places: readonly TextMatch[],
  weights: readonly number[],
  length: number,
): Steps<Range | undefined> {
  let best: (Range & { readonly value: number }) | undefined;
  for (const [index, first] of places.entries()) {
    if (index % stepPlaces === stepPlaces - 1) yield;
    const seen = new Map<number, number>();
    let value = 0;
    for (let at = index; at < places.length; at++) {
      const place = places[at];
      if (place === undefined || (at > index && place.end - first.start > length)) break;
      let added = 0;
      for (const [concept, worth] of place.worths) {
        const more = worth - (seen.get(concept) ?? 0);
        if (more <= 0) continue;
        seen.set(concept, worth);
        added += more * (weights[concept] ?? 0);
      }
      value += added;
      if (best && (added === 0 || value <= best.value)) continue;
      best = { start: first.start, end: place.end, value };
    }
  }
  return best;
}
