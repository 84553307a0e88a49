import type { LabelledText } from '../../../core/memory/search-hit.ts';
import type { Steps } from '../../records/slices.ts';
import type { HitPiece, Matched } from './hit-piece.ts';
import { around, onOneLine, type Range, sentenceEnd, show, whole } from './passage-range.ts';
import { type MatchingPassage, passagesOf } from './passage-weight.ts';
import { rejectedText } from './rejected-text.ts';
import { conceptsIn, within } from './text-match.ts';

/** Limit of the reason next to an answer, in UTF-16 code units. */
export const reasonLength = 140;
/** The same of a reason that the query asks for. */
export const whyLength = 240;
/** A part whose text is longer than this many times its room is not read as a whole. */
const tooLong = 2;
/** A decision that is this much longer than the room is still shown as a whole. */
export const statedShare = 1.5;
/** Least share of the room that the second of two passages gets. */
const leastShare = 0.4;
/** Least room for what is said about a decision, and the sign between two passages. */
const leastDetail = 40;
const gap = ' … ';

/** A range of a piece. */
interface Opening extends Range {
  readonly piece: HitPiece;
}

/** The parts of a record that a hit shows. */
export interface ShownParts {
  /** The answer; empty if the record has none. */
  readonly snippet: string;
  readonly reason?: LabelledText;
  readonly rejected?: LabelledText;
  /** The piece that the answer is from. */
  readonly from: HitPiece | undefined;
}

/**
 * Chooses what a hit shows: the answer or the sentences of it that fit, and next to it the reason and the
 * rejected alternatives if only they have a word of the query.
 *
 * @param pieces in the order in which they are read.
 * @param titled returns the concepts that the title of the hit has.
 * @param asksWhy whether a reason is shown in any case.
 * @param opens whether a long answer is shown from its beginning, also where that is not a decision.
 */
export function* shownParts(
  pieces: readonly HitPiece[],
  titled: () => ReadonlySet<number>,
  length: number,
  asksWhy: boolean,
  opens = false,
): Steps<ShownParts> {
  const matched = pieces.map((piece) => ({ piece, matches: within(piece.places, piece) }));
  const answers = matched.filter(({ piece }) => piece.role === 'answer');
  const { snippet, from } = yield* answerOf(answers, length, opens);
  const others = matched.filter(
    ({ piece: { role }, matches }) =>
      (role === 'reason' && (asksWhy || matches.length > 0)) ||
      (role === 'rejected' && matches.length > 0),
  );
  if (others.length === 0) return { snippet, from };
  const known = new Set(titled());
  for (const { matches } of answers) for (const concept of conceptsIn(matches)) known.add(concept);
  const isAsked = ({ matches }: Matched) =>
    [...conceptsIn(matches)].some((concept) => !known.has(concept));
  const reasons = others.filter(({ piece }) => piece.role === 'reason');
  const [found] = yield* bestOf(reasons.filter(isAsked).map((one) => lessen(one, known)));
  const reason = asksWhy
    ? mainReason(reasons, found)
    : found && labelled(found.piece, textAround(found, reasonLength));
  const rejected = rejectedText(
    others.filter((one) => one.piece.role === 'rejected' && isAsked(one)),
  );
  return {
    snippet,
    from,
    ...(reason && { reason }),
    ...(rejected && { rejected }),
  };
}

/**
 * The answer to a question for a reason: the passage with words of the query, or the reason that a record
 * gives as such; without one, its context and its consequences.
 */
function mainReason(
  reasons: readonly Matched[],
  found: MatchingPassage | undefined,
): LabelledText | undefined {
  if (found) return labelled(found.piece, textAround(found, whyLength));
  const pieces = reasons.map(({ piece }) => piece);
  const given = pieces.find(({ kind }) => !kind || kind.name === 'reason');
  const first = given ?? pieces[0];
  if (!first) return undefined;
  const next = given ? undefined : pieces.find(({ kind }) => kind?.name !== first.kind?.name);
  const after = next && wholeOrBeginning(next, Math.floor(whyLength / 2));
  if (!after) return labelled(first, wholeOrBeginning(first, whyLength));
  const { label, text } = labelled(first, wholeOrBeginning(first, whyLength - after.length));
  return { label, text: `${text.replace(/[.;,]$/u, '')}; ${next.kind?.label}: ${after}` };
}

function wholeOrBeginning(piece: HitPiece, length: number): string {
  return wholeOf([piece], length) ?? textAround(openingOf(piece, length), length);
}

/** A matched piece in which only the concepts count that nothing else has. */
function lessen({ piece, matches }: Matched, known: ReadonlySet<number>): Matched {
  const weights = () =>
    piece.weights().map((weight, concept) => (known.has(concept) ? 0.01 : 1) * weight);
  return { piece: { ...piece, weights }, matches };
}

function labelled({ kind }: HitPiece, text: string): LabelledText {
  return { label: kind?.label || 'why', text };
}

/** The answer as a whole and what else is said about it, or the sentences of it that fit. */
function* answerOf(
  answers: readonly Matched[],
  length: number,
  opens: boolean,
): Steps<Pick<ShownParts, 'snippet' | 'from'>> {
  const stated = answers.filter(isStated);
  const main = (stated.length > 0 ? stated : answers).map(({ piece }) => piece);
  const [first] = main;
  if (!first) return { snippet: '', from: undefined };
  const all = wholeOf(main, stated.length > 0 ? statedShare * length : length);
  const left = length - (all ?? '').length - gap.length;
  if (all !== undefined) {
    const details = left < leastDetail ? [] : answers.filter((one) => !stated.includes(one));
    const detail = stated.length > 0 && (yield* detailOf(main, details, left));
    return { snippet: detail ? `${all}${gap}${detail}` : all, from: first };
  }
  const found = yield* bestOf(answers);
  const [best] = found;
  if (!best) return { snippet: beginningOf(main, length), from: first };
  // Of a decision, the beginning says most.
  const opening = opens || isStated(best) ? openingOf(first, length) : undefined;
  const isApart = opening && best.start > opening.end;
  let other = isApart ? opening : secondOf(found, best);
  // The sentences after the beginning say more about it than a word that is elsewhere.
  if (opens) other = isApart ? grown(opening, best, length) : undefined;
  const both = other && inOrder(best, other, length);
  return { snippet: both ?? textAround(best, length), from: best.piece };
}

function isStated({ piece }: Pick<Matched, 'piece'>): boolean {
  return piece.kind?.role === 'answer';
}

/** The passage of the details that has words of the query, or the text that follows the decision. */
function* detailOf(
  stated: readonly HitPiece[],
  details: readonly Matched[],
  length: number,
): Steps<string> {
  const [best] = yield* bestOf(details);
  if (best) return textAround(best, length);
  const end = stated.at(-1)?.end ?? 0;
  const next = details.find(({ piece }) => piece.start >= end)?.piece;
  return next ? beginningOf([next], length) : '';
}

/** The text of all pieces on one line; undefined if it is too long. */
function wholeOf(pieces: readonly HitPiece[], length: number): string | undefined {
  const size = pieces.reduce((sum, { start, end }) => sum + end - start, 0);
  if (size > tooLong * length) return undefined;
  const text = pieces
    .map((piece) => onOneLine(piece.text.slice(piece.start, piece.end)))
    .filter((one) => one !== '')
    .join(' ');
  return text.length <= length ? text : undefined;
}

/** The beginning of the first pieces, in whole sentences if they fit. */
function beginningOf(pieces: readonly HitPiece[], length: number): string {
  const texts: string[] = [];
  let left = length;
  for (const piece of pieces) {
    const text = wholeOf([piece], left);
    if (text === undefined && texts.length > 0 && left < length / 3) return `${texts.join(' ')}…`;
    const shown = text ?? textAround({ ...openingOf(piece, length), piece }, left);
    if (shown !== '') texts.push(shown);
    left -= shown.length + 1;
    if (text === undefined || left <= 0) break;
  }
  return texts.join(' ');
}

/** The first word of a piece. */
function openingOf(piece: HitPiece, length: number): Opening {
  const { text, start, end } = piece;
  const blank = text.slice(start, Math.min(end, start + length)).search(/\S/u);
  const at = start + Math.max(0, blank);
  const stop = text.slice(at, Math.min(end, at + length)).search(/[.!?…。！？](?:\s|$)|\n/u);
  return { piece, start: at, end: stop < 0 ? at : at + stop + 1 };
}

/** A beginning with the sentences after it that fit next to another passage. */
function grown(opening: Opening, next: Range, length: number): Opening {
  const { text } = opening.piece;
  const room = roomBeside(sizeIn(text, next), length);
  const most = Math.min(opening.piece.end, next.start);
  for (let { end } = opening; ; ) {
    const longer = sentenceEnd(text, end, most);
    if (longer >= most || sizeIn(text, { start: opening.start, end: longer }) > room)
      return { ...opening, end };
    end = longer;
  }
}

/** The best passages of some pieces, the best first. */
function* bestOf(answers: readonly Matched[]): Steps<MatchingPassage[]> {
  const found: MatchingPassage[] = [];
  for (const one of answers) {
    if (one.matches.length > 0) found.push(...(yield* passagesOf(one)));
  }
  return found.sort((a, b) => b.value - a.value || a.start - b.start);
}

/** The best passage that has words of the query which the best of all has not. */
function secondOf(
  found: readonly MatchingPassage[],
  best: MatchingPassage,
): MatchingPassage | undefined {
  const known = conceptsIn(best.matches);
  return found.find(
    (one) => one !== best && [...conceptsIn(one.matches)].some((concept) => !known.has(concept)),
  );
}

/**
 * The best passage and another one in the order of the record; a long one is cut.
 *
 * @returns undefined if they are one text that fits.
 */
function inOrder(best: MatchingPassage, other: Opening, length: number): string | undefined {
  const { text } = best.piece;
  if (text !== other.piece.text) return undefined;
  const [first, second] = best.start < other.start ? [best, other] : [other, best];
  const isNext = !/\S/u.test(text.slice(first.end, second.start));
  if (second.end - first.start <= length && isNext) return undefined;
  const left = roomBeside(sizeIn(text, best), length);
  const rest = length - gap.length - Math.min(left, sizeIn(text, other));
  const roomOf = (one: Opening) => Math.floor(one === other ? left : rest);
  const begin = cut(first, { start: first.piece.start, end: first.end }, roomOf(first));
  const end = cut(second, { start: second.start, end: second.piece.end }, roomOf(second));
  return `${begin.replace(/…$/u, '')}${gap}${end.replace(/^…/u, '')}`;
}

/** The room that a second passage has next to one of a size. */
function roomBeside(size: number, length: number): number {
  const room = length - gap.length;
  return Math.max(leastShare * room, room - size);
}

function sizeIn(text: string, { start, end }: Range): number {
  return onOneLine(text.slice(start, end)).length;
}

/** A passage, or the part of it that fits. */
function cut(passage: Opening, area: Range, length: number): string {
  const { text } = passage.piece;
  const line = onOneLine(text.slice(passage.start, passage.end));
  return line.length <= length ? show(text, passage, area) : partOf(passage, passage, length);
}

/** The beginning of a passage if its matches are there, else the text around them. */
function partOf(passage: Opening, area: Range, length: number): string {
  const { text } = passage.piece;
  const range = densest(passage);
  const isFirst = range.end - passage.start <= length;
  // The room after a place is half of that around it.
  return isFirst
    ? around(text, { start: passage.start, end: passage.start }, area, 2 * length)
    : around(text, range, area, length);
}

/** A passage with as many neighbours as fit. */
function textAround(passage: Opening, length: number): string {
  const { piece } = passage;
  return whole(piece.text, passage, piece, length) ?? partOf(passage, piece, length);
}

/** The matches of a long passage, or its beginning. */
function densest(passage: Range & Partial<Pick<MatchingPassage, 'matches'>>): Range {
  const [first] = passage.matches ?? [];
  if (!first) return { start: passage.start, end: passage.start };
  const last = passage.matches?.findLast(({ end }) => end - first.start <= reasonLength) ?? first;
  return { start: first.start, end: last.end };
}
