import { kindOf } from '../../../core/declarations/part-kinds.ts';
import type { Steps } from '../../records/slices.ts';
import type { Concept } from '../query/query.ts';
import { rarity } from '../terms/bm25.ts';
import { type Area, isSuperseded } from '../text/passage-area.ts';
import type { AskedQuery } from './asked-query.ts';
import type { Range } from './passage-range.ts';
import { type TextMatch, within } from './text-match.ts';

/** The worth of a word in a heading above the section. */
const aboveWorth = 0.5;
/** The part of its score that a section keeps when it says that another one replaces it. */
const supersededShare = 0.6;
/** The worth of a section that gives reasons for a question that asks for one. */
const reasonWorth = 3;
/** A hit also names other sections that are worth this share of the best one, up to a number. */
const alsoShare = 0.6;
const mostAlso = 3;

/** The section that a hit names, with the areas in it. */
interface Unit {
  readonly section: Area['unit'];
  readonly areas: Area[];
}

/** The area of a text that has the most of the query. */
export interface BestArea {
  readonly area: Area;
  /** The paths of other sections that match nearly as well as the best one; see `also`. */
  also(shown: Area['unit']): readonly string[];
}

/** The weights of the concepts for one text: a word of few of its areas says more than one of all. */
export function weigh(
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

/** A unit with its worth. */
interface RatedUnit {
  readonly unit: Unit;
  readonly value: number;
}

/**
 * Rates the units of a text by what they have of the query; the best is undefined if none has any.
 *
 * @param asksWhy whether a section that gives reasons is worth more.
 */
export function* rateUnits(
  text: string,
  areas: readonly Area[],
  places: readonly TextMatch[],
  weights: readonly number[],
  asksWhy = false,
): Steps<{ readonly best: RatedUnit | undefined; readonly rated: readonly RatedUnit[] }> {
  let best: RatedUnit | undefined;
  const rated: RatedUnit[] = [];
  for (const unit of unitsOf(areas)) {
    const found = unitValue(text, unit, places, weights);
    const value = asksWhy && givesReasons(unit.section) ? reasonWorth * found : found;
    const one = { unit, value };
    if (value > (best?.value ?? 0)) best = one;
    rated.push(one);
    yield;
  }
  return { best, rated };
}

/** Chooses the area of a text that has the most of the query; undefined if none has any. */
export function* bestArea(
  text: string,
  areas: readonly Area[],
  places: readonly TextMatch[],
  { concepts, rarities, asksWhy }: Pick<AskedQuery, 'concepts' | 'rarities' | 'asksWhy'>,
): Steps<BestArea | undefined> {
  if (places.length === 0) return undefined;
  const [only, next] = areas;
  if (only && !next && within(places, only).length > 0) return { area: only, also: () => [] };
  const weights = weigh(concepts, rarities, places, areas);
  const { best, rated } = yield* rateUnits(text, areas, places, weights, asksWhy);
  if (!best) return undefined;
  let shown: { readonly area: Area; readonly value: number } | undefined;
  for (const area of best.unit.areas) {
    const above = area.section ? within(places, headingOf(area.section)) : [];
    const groups = [[within(places, area), 1] as const, [above, aboveWorth] as const];
    const value = worth(groups, weights);
    if (!shown || value > shown.value) shown = { area, value };
  }
  const { value } = best;
  if (!shown) return undefined;
  return {
    area: shown.area,
    also: (section) =>
      rated
        .filter((one) => one.value >= alsoShare * value && isApart(one.unit.section, section))
        .sort((a, b) => b.value - a.value)
        .flatMap((one) => one.unit.section?.path ?? [])
        .slice(0, mostAlso),
  };
}

/** Whether the heading of a section, such as `Motivation`, says that it gives reasons. */
function givesReasons(section: Area['unit']): boolean {
  return section !== undefined && kindOf(section.heading)?.role === 'reason';
}

/** The line of a heading. */
export function headingOf({ start, bodyStart }: NonNullable<Area['section']>): Range {
  return { start, end: bodyStart };
}

/** Returns whether neither of two sections contains the other. */
function isApart(one: Area['unit'], other: Area['unit']): boolean {
  return !!one && !!other && (one.end <= other.start || other.end <= one.start);
}

const known = new WeakMap<readonly Area[], readonly Unit[]>();

function unitsOf(areas: readonly Area[]): readonly Unit[] {
  const units = known.get(areas) ?? divide(areas);
  known.set(areas, units);
  return units;
}

function divide(areas: readonly Area[]): readonly Unit[] {
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
