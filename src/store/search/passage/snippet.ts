import { DecisionParts, type Saying } from '../../../core/declarations/decision-parts.ts';
import { plainOutline } from '../../../core/markdown/plain-outline.ts';
import { usualRoles } from '../../../core/record/part-role.ts';
import type { SearchFields, TextField } from '../../../core/record/record-type.ts';
import { notesEnd } from '../../../core/record/searched-fields.ts';
import { allAtOnce, type Steps } from '../../records/slices.ts';
import type { SectionOfHit, TextOfHit } from '../terms/search-document.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import type { DatedEntry } from '../text/log-entries.ts';
import { type Area, areasOf, linesOf, longestText, type OutlineOf } from '../text/passage-area.ts';
import type { AskedQuery } from './asked-query.ts';
import { type BestArea, bestArea, headingOf } from './best-section.ts';
import { shownParts } from './hit-parts.ts';
import type { HitPiece } from './hit-piece.ts';
import { stateOf } from './hit-state.ts';
import type { Range } from './passage-range.ts';
import { passageWeights } from './passage-weight.ts';
import type { RatedEntry } from './rated-entries.ts';
import { conceptsIn, findMatches, type TextMatch, within } from './text-match.ts';

const mostMatches = 10;
/** Limit of the matches in a text without an outline whose places are looked at. */
const mostOffsets = 200;
/** Approximate length of an answer in UTF-16 code units, and of one under a heading. */
export const passageLength = 160;
export const sectionPassageLength = 240;

interface ShownExcerpt {
  readonly text: SectionOfHit & TextOfHit;
  /** Whether the answer is one of several in a section: the title of the document is not its own. */
  readonly isListed: boolean;
}

/** The text around an area that says one thing, among all that the document says. */
interface Said {
  readonly parts: DecisionParts;
  readonly said: Saying;
  /** Whether it is one of several in a list. */
  readonly isListed: boolean;
}

/** The matches of each field of a record. */
type PlacesOf = (field: TextField) => readonly TextMatch[];

/**
 * Finds the matches in a document, and the parts of it that answer the query best.
 *
 * @param only an entry of the body, outside of which nothing is shown.
 */
export function* excerpt(
  document: IndexedDocument,
  query: AskedQuery,
  outlineOf: OutlineOf,
  only?: RatedEntry,
): Steps<ShownExcerpt & { readonly matches: string[] }> {
  const { fields } = document;
  const { asked, scope } = query;
  const matches = new Map<string, number>();
  const places = new Map<TextField, readonly TextMatch[]>();
  for (const field of ['body', 'reason', 'notes', 'title'] as const) {
    const text = scope.text(fields, field);
    if (text === '') continue;
    if (only && field !== 'body') continue;
    const found = only
      ? within(only.places, only.entry.section)
      : yield* findMatches(document, field, asked);
    places.set(field, found);
    for (const { start, end, concept } of found) {
      const match = text.slice(start, end);
      if (!matches.has(match)) matches.set(match, concept);
    }
  }
  const conceptOf = (match: string) => matches.get(match) ?? 0;
  const order = [...matches.keys()].sort((a, b) => conceptOf(a) - conceptOf(b));
  const placesOf = (field: TextField) => places.get(field) ?? [];
  const areas = only?.entry.shown ?? areasOf(fields, 'body', outlineOf);
  const best = yield* bestArea(fields.body ?? '', areas, placesOf('body'), query);
  const { text, isListed } = yield* composed(fields, placesOf, query, areas, best, outlineOf);
  return { text, isListed, matches: order.slice(0, mostMatches) };
}

/**
 * The text of a hit in which a range matched literally.
 *
 * @param only an entry of the body, outside of which nothing is shown.
 */
export function literalPassage(
  fields: SearchFields,
  field: TextField,
  start: number,
  end: number,
  outlineOf: OutlineOf,
  only?: DatedEntry,
): TextOfHit & SectionOfHit {
  const place = { start, end, concept: 0, worths: new Map([[0, 1]]) };
  const placesOf = (one: TextField) => (one === field ? [place] : []);
  const areas = only?.shown ?? areasOf(fields, 'body', outlineOf);
  // A match in a heading is above the area of its section.
  const isBefore = (one: Area) => (one.section?.start ?? one.start) <= start;
  const area = field === 'body' ? (areas.findLast(isBefore) ?? areas[0]) : undefined;
  const best = area && { area, also: () => [] };
  return allAtOnce(composed(fields, placesOf, { rarities: [1] }, areas, best, outlineOf)).text;
}

/** The answer of a record without a query. */
export function answerOf(fields: SearchFields, outlineOf: OutlineOf): TextOfHit {
  const areas = areasOf(fields, 'body', outlineOf);
  const { text } = allAtOnce(
    composed(fields, () => [], { rarities: [] }, areas, undefined, outlineOf),
  );
  return { snippet: text.snippet, ...(text.state !== undefined && { state: text.state }) };
}

/** Puts together what a hit shows: the decision or text around the best area, or the first one. */
function* composed(
  fields: SearchFields,
  placesOf: PlacesOf,
  { rarities, asksWhy = false, atLength }: Pick<AskedQuery, 'rarities'> & Partial<AskedQuery>,
  areas: readonly Area[],
  best: BestArea | undefined,
  outlineOf: OutlineOf,
): Steps<ShownExcerpt> {
  const { body = '', roles = usualRoles } = fields;
  const area = best?.area ?? areas[0];
  const found = area && saidAt(fields, area, placesOf('body'), outlineOf);
  const end = area?.unit?.end ?? areas.at(-1)?.end ?? 0;
  const { said, isListed = false } = (found && sayingUntil(found, area.start, end)) ?? {};
  const pieces: HitPiece[] = [];
  const addPieces = (
    field: 'body' | 'reason' | 'notes',
    parts: readonly Omit<HitPiece, 'text' | 'places' | 'weights'>[],
  ) => {
    const text = fields[field] ?? '';
    const places = placesOf(field);
    let known: readonly number[] | undefined;
    const weights = () => {
      known ??= passageWeights(text.length, places, rarities);
      return known;
    };
    for (const { start, end, role, kind } of parts) {
      pieces.push({ text, places, weights, start, end, role, kind });
    }
  };
  if (said && roles.body === 'answer') addPieces('body', said.parts);
  for (const field of ['reason', 'notes'] as const) {
    const end = notesEnd(fields[field] ?? '');
    if (end > 0) addPieces(field, [{ start: 0, end, role: roles[field], kind: undefined }]);
  }
  const heading = best?.area.section;
  const titled = () => {
    const found = conceptsIn(placesOf('title'));
    for (let up = heading; up; up = up.parent) {
      for (const concept of conceptsIn(within(placesOf('body'), headingOf(up)))) found.add(concept);
    }
    return found;
  };
  const usual = best?.area.unit ? sectionPassageLength : passageLength;
  const length = atLength ? 2 * usual : usual;
  const shown = yield* shownParts(pieces, titled, length, asksWhy, atLength);
  const { snippet, from, reason, rejected } = shown;
  const start = areasOf(fields, 'body', outlineOf)[0]?.start ?? 0;
  const state = stateOf(fields, said, heading, start);
  // The answer may be in another section than the words of the query.
  const holder = best?.area.unit && from?.text === body ? areaAt(areas, from) : undefined;
  const section = best?.area.unit && (holder?.unit ?? best.area.unit);
  const also = section ? best.also(section) : [];
  const isBare = fields.markdown && !(said && isDecision(said));
  const text = {
    // The heading of a decision without a text is the decision.
    snippet: snippet || (isBare ? '' : (said?.section?.heading ?? fields.title)),
    ...(reason && { reason }),
    ...(rejected && { rejected }),
    ...(state !== undefined && { state }),
    ...(section && { section: section.path, lines: linesOf(body, section) }),
    ...(also.length > 0 && { also }),
  };
  return { text, isListed };
}

function areaAt(areas: readonly Area[], { start }: Range): Area | undefined {
  return areas.findLast((area) => area.start <= start);
}

const known = new WeakMap<SearchFields, DecisionParts>();

/** The decision or other text that an area belongs to: in a list of decisions, that with most matches. */
function saidAt(
  fields: SearchFields,
  area: Area,
  places: readonly TextMatch[],
  outlineOf: OutlineOf,
): Said {
  const { body = '' } = fields;
  const parts = known.get(fields) ?? partsOf(fields, body, outlineOf);
  known.set(fields, parts);
  const matches = within(places, area);
  // A text without an outline is one area.
  const offsets = body.length > longestText ? matches.slice(0, mostOffsets) : [area];
  const said = new Set(offsets.flatMap(({ start }) => parts.around(start)));
  if (said.size <= 1) {
    return { parts, said: parts.at(offsets[0]?.start ?? area.start), isListed: false };
  }
  let best: { readonly saying: Saying; readonly count: number } | undefined;
  for (const saying of said) {
    const own = saying.parts.flatMap((part) => within(places, part));
    const count = conceptsIn(own).size;
    if (count > (best?.count ?? 0)) best = { saying, count };
  }
  return { parts, said: best?.saying ?? parts.at(area.start), isListed: true };
}

/** The same, or what follows up to an offset if the heading has no text: its own is not an answer. */
function sayingUntil(found: Said, start: number, end: number): Said {
  const { parts, said } = found;
  if (isDecision(said) || said.parts.some(({ role }) => role === 'answer')) return found;
  for (const next of parts) {
    const answer = next.parts.find(({ role }) => role === 'answer');
    if (answer && answer.start >= start && answer.start < end) return { ...found, said: next };
  }
  return found;
}

/** Whether a text has the parts of a decision, even if the decision itself is not among them. */
function isDecision({ parts }: Saying): boolean {
  return parts.some(
    ({ kind }) => kind && (kind.role !== 'bookkeeping' || /^(?:status|claim)$/.test(kind.name)),
  );
}

function partsOf(fields: SearchFields, body: string, outlineOf: OutlineOf): DecisionParts {
  if (!fields.markdown) return new DecisionParts(body, 0, []);
  const { start, sections } = outlineOf(fields);
  // A search finds no sections in a long text, but what it rejects has to be known.
  if (body.length > longestText) return new DecisionParts(body, start, plainOutline(body, start));
  return new DecisionParts(body, start, sections);
}
