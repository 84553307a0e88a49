import type { LabelledText } from '../../../core/memory/store.ts';
import type { Steps } from '../../records/slices.ts';
import type { HitPiece, Matched } from './hit-piece.ts';
import { around, onOneLine, type Range, show, whole } from './passage-range.ts';
import { type MatchingPassage, passagesOf } from './passage-weight.ts';
import { rejectedText } from './rejected-text.ts';
import { conceptsIn, within } from './text-match.ts';

/** Limit of the reason next to an answer, in UTF-16 code units. */
export const reasonLength = 140;
/** A part whose text is longer than this many times its room is not read as a whole. */
const tooLong = 2;

/** A passage of a piece. */
interface PassageOfPiece extends MatchingPassage {
  readonly piece: HitPiece;
}

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
 * @param titled the concepts that the title of the hit has.
 * @param asksWhy whether a reason is shown in any case.
 */
export function* shownParts(
  pieces: readonly HitPiece[],
  titled: ReadonlySet<number>,
  length: number,
  asksWhy: boolean,
): Steps<ShownParts> {
  const matched = pieces.map((piece) => ({ piece, matches: within(piece.places, piece) }));
  const answers = matched.filter(({ piece }) => piece.role === 'answer');
  const { snippet, from } = yield* answerOf(answers, length);
  const others = matched.filter(
    ({ piece: { role }, matches }) =>
      (role === 'reason' && (asksWhy || matches.length > 0)) ||
      (role === 'rejected' && matches.length > 0),
  );
  if (others.length === 0) return { snippet, from };
  const known = new Set(titled);
  for (const { matches } of answers) for (const concept of conceptsIn(matches)) known.add(concept);
  const isAsked = ({ matches }: Matched) =>
    [...conceptsIn(matches)].some((concept) => !known.has(concept));
  const reasons = others.filter(({ piece }) => piece.role === 'reason');
  const [found] = yield* bestOf(reasons.filter(isAsked).map((one) => lessen(one, known)));
  const reason = found ?? (asksWhy ? mainReason(reasons) : undefined);
  const rejected = rejectedText(
    others.filter((one) => one.piece.role === 'rejected' && isAsked(one)),
  );
  return {
    snippet,
    from,
    ...(reason && { reason: labelled(reason.piece, textAround(reason, reasonLength)) }),
    ...(rejected && { rejected }),
  };
}

/** The beginning of the reason that a record gives as such, else of its context. */
function mainReason(reasons: readonly Matched[]): Opening | undefined {
  const given = reasons.find(({ piece }) => !piece.kind || piece.kind.name === 'reason');
  const [first] = reasons;
  const { piece } = given ?? first ?? {};
  return piece && openingOf(piece, reasonLength);
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

/** The answer as a whole, or the sentences of it that fit. */
function* answerOf(
  answers: readonly Matched[],
  length: number,
): Steps<Pick<ShownParts, 'snippet' | 'from'>> {
  const stated = answers.filter(({ piece }) => piece.kind?.role === 'answer');
  const main = (stated.length > 0 ? stated : answers).map(({ piece }) => piece);
  const [first] = main;
  if (!first) return { snippet: '', from: undefined };
  const all = wholeOf(main, length);
  if (all !== undefined) return { snippet: all, from: first };
  const found = yield* bestOf(answers);
  const [best] = found;
  if (!best) return { snippet: beginningOf(main, length), from: first };
  const isStated = best.piece.kind?.role === 'answer';
  // Of a decision, the beginning says most.
  const opening = isStated ? openingOf(first, length) : undefined;
  const other = opening && best.start > opening.end ? opening : secondOf(found, best);
  const both = other && inOrder(best, other, length);
  return { snippet: both ?? textAround(best, length), from: best.piece };
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

/** The best passages of some pieces, the best first. */
function* bestOf(answers: readonly Matched[]): Steps<PassageOfPiece[]> {
  const found: PassageOfPiece[] = [];
  for (const { piece, matches } of answers) {
    if (matches.length === 0) continue;
    const passages = yield* passagesOf(piece.text, piece, matches, piece.weights());
    for (const passage of passages) found.push({ ...passage, piece });
  }
  return found.sort((a, b) => b.value - a.value || a.start - b.start);
}

/** The best passage that has words of the query which the best of all has not. */
function secondOf(
  found: readonly PassageOfPiece[],
  best: PassageOfPiece,
): PassageOfPiece | undefined {
  const known = conceptsIn(best.matches);
  return found.find(
    (one) => one !== best && [...conceptsIn(one.matches)].some((concept) => !known.has(concept)),
  );
}

/** Two passages in the order of the record; undefined if they do not fit together. */
function inOrder(one: Opening, other: Opening, length: number): string | undefined {
  if (one.piece.text !== other.piece.text) return undefined;
  const [first, second] = one.start < other.start ? [one, other] : [other, one];
  const text = first.piece.text;
  const isNext = !/\S/u.test(text.slice(first.end, second.start));
  if (second.end - first.start <= length && isNext) return undefined;
  const area = { start: first.piece.start, end: second.piece.end };
  const [before, after] = [first, second].map((range) =>
    onOneLine(text.slice(range.start, range.end)),
  );
  if ((before ?? '').length + (after ?? '').length + 4 > length) return undefined;
  const begin = show(text, first, { start: area.start, end: first.end });
  return `${begin} … ${show(text, second, { start: second.start, end: area.end })}`;
}

/** A passage with as many neighbours as fit. */
function textAround(passage: Opening, length: number): string {
  const { piece } = passage;
  return (
    whole(piece.text, passage, piece, length) ?? around(piece.text, densest(passage), piece, length)
  );
}

/** The matches of a long passage, or its beginning. */
function densest(passage: Range & Partial<Pick<MatchingPassage, 'matches'>>): Range {
  const [first] = passage.matches ?? [];
  if (!first) return { start: passage.start, end: passage.start };
  const last = passage.matches?.findLast(({ end }) => end - first.start <= reasonLength) ?? first;
  return { start: first.start, end: last.end };
}
