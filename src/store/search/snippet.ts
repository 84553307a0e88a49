import type { SearchFields } from '../../core/record-type.ts';
import type { Steps } from '../records/slices.ts';
import { analyse } from './analyser.ts';
import type { FieldScope } from './field-scope.ts';
import type { Concept } from './query.ts';
import { pieces } from './search-pieces.ts';

/** Approximate length of a snippet in UTF-16 code units. */
const length = 160;
const mostMatches = 10;

interface TextMatch {
  readonly concept: number;
  start: number;
  end: number;
}

/** Finds the matches in a document, and the piece of its text with the most of them. */
export function* excerpt(
  fields: SearchFields,
  concepts: readonly Concept[],
  scope: FieldScope,
): Steps<{ matches: string[]; snippet: string }> {
  const wanted = new Map<string, number>();
  for (const [index, { terms }] of concepts.entries()) {
    for (const term of terms.keys()) wanted.set(term.text, index);
  }
  const matches = new Map<string, number>();
  let snippet = '';
  let best = -1;
  // A hit shows its title anyway, so the snippet comes from the text if possible.
  for (const field of ['body', 'reason', 'notes', 'title'] as const) {
    const text = scope.text(fields, field);
    if (text === '') continue;
    const places = yield* find(text, wanted);
    for (const { start, end, concept } of places) {
      const match = text.slice(start, end);
      if (!matches.has(match)) matches.set(match, concept);
    }
    const window = yield* densest(places);
    if (window && window.concepts > best) {
      best = window.concepts;
      snippet = around(text, window.start, window.end);
    }
  }
  const order = [...matches].sort((a, b) => a[1] - b[1]).map(([match]) => match);
  return { matches: order.slice(0, mostMatches), snippet };
}

/** Finds the wanted terms; merges matches that overlap. */
function* find(text: string, wanted: ReadonlyMap<string, number>): Steps<TextMatch[]> {
  const places: TextMatch[] = [];
  for (const { start, piece } of pieces(text)) {
    analyse(piece, (token, offset) => {
      const concept = wanted.get(token.term);
      if (concept === undefined) return;
      const from = start + offset;
      const place = { concept, start: from + token.start, end: from + token.end };
      let last = places.at(-1);
      while (last && place.start < last.end) {
        place.start = Math.min(place.start, last.start);
        place.end = Math.max(place.end, last.end);
        places.pop();
        last = places.at(-1);
      }
      places.push(place);
    });
    yield;
  }
  return places;
}

/** Matches compared with the following ones in one step. */
const stepPlaces = 1024;

/** Finds the range that has the most different concepts and is short enough to show. */
function* densest(
  places: readonly TextMatch[],
): Steps<{ start: number; end: number; concepts: number } | undefined> {
  let best: { start: number; end: number; concepts: number } | undefined;
  for (const [index, first] of places.entries()) {
    if (index % stepPlaces === stepPlaces - 1) yield;
    const seen = new Set<number>();
    let end = first.end;
    for (let at = index; at < places.length; at++) {
      const place = places[at];
      if (place === undefined || (at > index && place.end - first.start > length)) break;
      seen.add(place.concept);
      end = place.end;
    }
    if (best === undefined || seen.size > best.concepts) {
      best = { start: first.start, end, concepts: seen.size };
    }
  }
  return best;
}

/** Returns the text around a range, cut between words and never inside a character. */
export function around(text: string, start: number, end: number): string {
  const stop = Math.min(end, start + 2 * length);
  const margin = Math.max(0, Math.floor((length - (stop - start)) / 2));
  let from = Math.max(0, start - margin);
  let to = Math.min(text.length, stop + margin);
  if (from > 0) {
    const space = text.slice(from, start).search(/\s/u);
    from = space < 0 ? from : from + space + 1;
  }
  if (to < text.length) {
    const rest = text.slice(stop, to);
    const space = rest.search(/\s\S*$/u);
    to = space < 0 ? to : stop + space;
  }
  const piece = text.slice(boundary(text, from, 'start'), boundary(text, to, 'end'));
  const shown = piece.replace(/\s+/gu, ' ').trim();
  return `${from > 0 ? '…' : ''}${shown}${to < text.length ? '…' : ''}`;
}

let characters: Intl.Segmenter | undefined;

/** Moves a cut from inside a character to its start or end. */
function boundary(text: string, at: number, side: 'start' | 'end'): number {
  // A character always ends between two of these, and a segmenter is slow to construct.
  if (/^[ -~]{0,2}$/.test(text.slice(Math.max(0, at - 1), at + 1))) return at;
  characters ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  // A short context is enough; segmenting all of a long text is slow.
  const base = Math.max(0, at - 64);
  const around = characters.segment(text.slice(base, at + 64)).containing(at - base);
  if (around === undefined || base + around.index === at) return at;
  return base + around.index + (side === 'start' ? 0 : around.segment.length);
}
