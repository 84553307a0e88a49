import { analyse } from '../src/store/search/text/analyser.ts';
import { stopWords } from '../src/store/search/text/stop-words.ts';
import { isLeftOut } from './left-out.ts';
import type { SourceText } from './source-texts.ts';

/** Marks the end of a text among the tokens. */
export const textEnd = -1;
/** The number of all words that are left out. */
const leftOut = -1;
/** Added to the words of an original that a translation is read with. */
export const original = 1 << 24;

/** A word in fewer places than this has too few neighbours to learn from. */
const leastUses = 12;
const longestWord = 24;
/** Numbers and single Latin letters are no words. */
const noWord = /^(?:[a-z]|.*\d.*)$/;

/** The words of all texts as numbers, and how often each of them is used. */
export interface TokenStream {
  readonly words: readonly string[];
  readonly counts: Float64Array;
  /** The number of each word in the order of the texts; `textEnd` after each text. */
  readonly tokens: Int32Array;
}

/** Divides texts into the stems of the search, and keeps the most frequent ones. */
export function readTokens(texts: Iterable<SourceText>, mostWords: number): TokenStream {
  const numbers = new Map<string, number>();
  const counts: number[] = [];
  let tokens = new Int32Array(1 << 22);
  let length = 0;
  const put = (token: number) => {
    if (length === tokens.length) {
      const larger = new Int32Array(2 * length);
      larger.set(tokens);
      tokens = larger;
    }
    tokens[length++] = token;
  };
  const numbersOf = (text: string): number[] => {
    const found: number[] = [];
    analyse(text, ({ kind, word, term }) => {
      if (kind === 'letter' || stopWords.has(word) || noWord.test(term)) return;
      if (term.length > longestWord) return;
      let number = numbers.get(term);
      if (number === undefined) {
        number = isLeftOut(term) ? leftOut : counts.length;
        numbers.set(term, number);
        if (number !== leftOut) counts.push(0);
      }
      if (number !== leftOut) found.push(number);
    });
    return found;
  };
  for (const { text, original: source } of texts) {
    const own = numbersOf(text);
    for (const number of own) counts[number] = (counts[number] as number) + 1;
    const mixed =
      source === undefined
        ? own
        : interleaved(
            own,
            numbersOf(source).map((one) => one + original),
          );
    for (const token of mixed) put(token);
    put(textEnd);
  }
  const kept = [...numbers]
    .map(([word, number]) => ({ word, number, count: counts[number] ?? 0 }))
    .filter(({ count }) => count >= leastUses)
    .sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
    .slice(0, mostWords)
    .sort((a, b) => (a.word < b.word ? -1 : 1));
  const place = new Int32Array(counts.length).fill(-1);
  for (const [at, { number }] of kept.entries()) place[number] = at;
  let used = 0;
  for (let at = 0; at < length; at++) {
    const token = tokens[at] as number;
    const flag = token >= original ? original : 0;
    const found = token === textEnd ? textEnd : (place[token - flag] as number);
    if (token === textEnd) tokens[used++] = textEnd;
    else if (found >= 0) tokens[used++] = found + flag;
  }
  return {
    words: kept.map(({ word }) => word),
    counts: Float64Array.from(kept, ({ count }) => count),
    tokens: tokens.subarray(0, used),
  };
}

/** Mixes two lists so that what is at the same part of both is near each other. */
function interleaved(some: readonly number[], others: readonly number[]): number[] {
  const mixed: number[] = [];
  let next = 0;
  for (const [at, one] of some.entries()) {
    const until = ((at + 1) * others.length) / some.length;
    while (next < until) mixed.push(others[next++] as number);
    mixed.push(one);
  }
  return mixed;
}
