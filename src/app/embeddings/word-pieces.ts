import { modelError } from './model-folder.ts';

/** Divides a word into tokens of a model. */
export interface Pieces {
  readonly size: number;
  /** The numbers of the known tokens of a word. */
  of(word: string): number[];
}

type Description = { readonly [key: string]: unknown };

/** WordPiece: the longest known beginning, then the longest known continuation, and so on. */
export function wordPiece(model: Description): Pieces {
  const { vocab, continuing_subword_prefix: prefix = '##', unk_token: unknown } = model;
  const most = model.max_input_chars_per_word ?? 100;
  if (typeof vocab !== 'object' || vocab === null || typeof prefix !== 'string') {
    throw modelError('tokenizer.json has no vocabulary');
  }
  const numbers = new Map<string, number>();
  let longest = 0;
  for (const [token, number] of Object.entries(vocab)) {
    if (!Number.isSafeInteger(number)) throw modelError('tokenizer.json numbers a token wrongly');
    longest = Math.max(longest, token.length);
    // A word without known pieces adds nothing.
    if (token !== unknown) numbers.set(token, number);
  }
  const of = (word: string): number[] => {
    const found: number[] = [];
    if (word.length > Number(most)) return found;
    for (let start = 0; start < word.length; ) {
      let end = Math.min(word.length, start + longest);
      let number: number | undefined;
      for (; end > start; end--) {
        number = numbers.get((start > 0 ? prefix : '') + word.slice(start, end));
        if (number !== undefined) break;
      }
      if (number === undefined) return [];
      found.push(number);
      start = end;
    }
    return found;
  };
  return { size: numbers.size, of };
}

/** Unigram: of all divisions into known pieces the likeliest. */
export function unigram(model: Description): Pieces {
  const { vocab, unk_id: unknown } = model;
  if (!Array.isArray(vocab)) throw modelError('tokenizer.json has no vocabulary');
  const pieces = new Map<string, { readonly number: number; readonly score: number }>();
  let longest = 1;
  let least = 0;
  for (const [number, entry] of vocab.entries()) {
    const [piece, score]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof piece !== 'string' || typeof score !== 'number') {
      throw modelError('tokenizer.json has a token without a score');
    }
    least = Math.min(least, score);
    if (number === unknown) continue;
    longest = Math.max(longest, piece.length);
    pieces.set(piece, { number, score });
  }
  // A letter that no piece contains costs more than any piece, and adds nothing.
  const penalty = least - 10;
  const of = (word: string): number[] => {
    const best: { score: number; from: number; number: number }[] = [
      { score: 0, from: 0, number: -1 },
    ];
    for (let end = 1; end <= word.length; end++) {
      const before = best[end - 1]?.score ?? 0;
      let likeliest = { score: before + penalty, from: end - 1, number: -1 };
      for (let from = Math.max(0, end - longest); from < end; from++) {
        const piece = pieces.get(word.slice(from, end));
        const score = (best[from]?.score ?? 0) + (piece?.score ?? 0);
        if (piece && score > likeliest.score) likeliest = { score, from, number: piece.number };
      }
      best.push(likeliest);
    }
    const found: number[] = [];
    for (let end = word.length; end > 0; end = best[end]?.from ?? 0) {
      const number = best[end]?.number ?? -1;
      if (number >= 0) found.push(number);
    }
    return found.reverse();
  };
  return { size: pieces.size, of };
}
