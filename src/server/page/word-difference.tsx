import { hunksOf } from '../../core/diff/line-diff.ts';

/** Limit of the words of both texts together; longer ones are shown one after the other. */
const maxWords = 20_000;

type Piece = readonly [kind: 'same' | 'old' | 'new', text: string];

/** Two versions of a text as one, with the words that were removed and added. */
export function WordDifference({ before, after }: { before: string; after: string }) {
  return (
    <p class="text words">
      {piecesOf(before, after).map(([kind, text], i) => {
        if (kind === 'old') return <del key={i}>{text}</del>;
        return kind === 'new' ? <ins key={i}>{text}</ins> : <span key={i}>{text}</span>;
      })}
    </p>
  );
}

function piecesOf(before: string, after: string): Piece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const pieces: Piece[] = [];
  const add = (kind: Piece[0], words: readonly string[]) => {
    if (words.length > 0) pieces.push([kind, words.join('')]);
  };
  if (old.length + now.length > maxWords) {
    add('old', old);
    add('new', now);
    return pieces;
  }
  let at = 0;
  for (const { start, length, newStart, newLength } of hunksOf(old, now)) {
    add('same', old.slice(at, start));
    add('old', old.slice(start, start + length));
    add('new', now.slice(newStart, newStart + newLength));
    at = start + length;
  }
  add('same', old.slice(at));
  return pieces;
}

/** A word with the blanks after it is one piece, so that few pieces alternate. */
function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}
