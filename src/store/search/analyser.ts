import { stemmer } from 'stemmer';

/** A word, a part of an identifier, or a whole identifier, where it stands in a text. */
export interface Token {
  /** Case and diacritics folded, not stemmed. */
  readonly word: string;
  /** What the index knows it by: the stem of the word. */
  readonly term: string;
  /** Offsets in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Whether it is several parts written as one, `userId` beside `user` and `id`. */
  readonly joined: boolean;
}

/** Letters and digits, together with the signs that hold an identifier, a path or a version together. */
const chunks =
  /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[_'’./\\:@-]{1,2}(?=[\p{L}\p{N}]))*(?:\+\+|#(?![\p{L}\p{N}]))?/gu;
/** The signs between the names of a path; `_` and `-` stand inside a name. */
const names = /[^'’./\\:@]+/gu;
/** Where a name divides: `_`, `-`, a change of case, a change between letters and digits. */
const humps =
  /\p{Lu}{2,}s(?![\p{L}\p{M}])|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|[\p{L}\p{M}]+?(?=\p{Lu}|[^\p{L}\p{M}]|$)|\p{N}+/gu;
/** Scripts that put no space between words, or, in Korean, more than one word between spaces. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+\p{M}*/gu;

/** Longer chunks are encoded data, not identifiers: their parts are indexed, the whole is not. */
const longestWhole = 80;
/** `utf8mb4` divides into four; a hash would divide into many meaningless ones. */
const mostDigitParts = 4;

const cache = new Map<string, readonly Token[]>();
const cacheSize = 50_000;

/** The tokens of a text in the order they stand in it; a whole follows its parts. */
export function analyse(text: string, visit: (token: Token, offset: number) => void): void {
  for (const match of text.matchAll(chunks)) {
    const chunk = match[0];
    let tokens = cache.get(chunk);
    if (tokens === undefined) {
      tokens = divide(chunk);
      if (cache.size >= cacheSize) cache.clear();
      cache.set(chunk, tokens);
    }
    for (const token of tokens) visit(token, match.index);
  }
}

function divide(chunk: string): Token[] {
  const text = chunk.replace(/['’]s$/iu, '');
  const tokens: Token[] = [];
  let spaced = 0;
  for (const name of text.matchAll(names)) {
    let at = 0;
    for (const run of name[0].matchAll(unspaced)) {
      divideName(name[0].slice(at, run.index), name.index + at, tokens);
      pairs(run[0], name.index + run.index, tokens);
      at = run.index + run[0].length;
    }
    divideName(name[0].slice(at), name.index + at, tokens);
    spaced += at === 0 ? 1 : 0;
  }
  if (spaced > 1) join(tokens, text, 0, tokens);
  return tokens;
}

/** The parts of `userId`, `user_id` or `utf8`, and the whole when there is more than one. */
function divideName(name: string, offset: number, tokens: Token[]): void {
  const parts: Token[] = [];
  for (const word of name.matchAll(/[^_-]+/gu)) {
    let humped = [...word[0].matchAll(humps)];
    if (humped.length > mostDigitParts && /\d/.test(word[0])) humped = [];
    if (humped.length === 0) {
      parts.push(token(word[0], offset + word.index, false));
    }
    for (const part of humped) parts.push(token(part[0], offset + word.index + part.index, false));
  }
  tokens.push(...parts);
  if (parts.length > 1) join(parts, name, offset, tokens);
  else if (/[+#]$/u.test(name)) tokens.push({ ...token(name, offset, true), term: fold(name) });
}

function join(parts: readonly Token[], text: string, offset: number, tokens: Token[]): void {
  if (text.length > longestWhole) return;
  const words = parts.filter((part) => !part.joined).map((part) => part.word);
  // 3.15 is not 315.
  const word = words.join(words.every((part) => /^\d+$/.test(part)) ? '.' : '');
  tokens.push({
    word,
    term: stem(word),
    start: offset,
    end: offset + text.length,
    joined: true,
  });
}

/** Every letter and every pair of neighbours: where nothing marks the words, pairs stand in for them. */
function pairs(run: string, offset: number, tokens: Token[]): void {
  const letters: Token[] = [];
  for (const letter of run.matchAll(/./gsu)) {
    const next = token(letter[0], offset + letter.index, false);
    const last = letters.at(-1);
    if (last) {
      const word = last.word + next.word;
      tokens.push({ word, term: word, start: last.start, end: next.end, joined: true });
    }
    tokens.push(next);
    letters.push(next);
  }
}

function token(text: string, start: number, joined: boolean): Token {
  const word = fold(text);
  return { word, term: stem(word), start, end: start + text.length, joined };
}

/** What the forms of an English word have in common. */
export function stem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}

const letters: { readonly [letter: string]: string } = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
  ى: 'ي',
  ة: 'ه',
  ـ: '',
};

/**
 * A word without case and diacritics, so that `Résumé` and `resume` are the same.
 *
 * Marks that make another letter stay: й, が, Indic and Thai vowels.
 */
export function fold(word: string): string {
  const lower = word.toLowerCase();
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(/(?<!и)\u0306|[\u0300-\u0305\u0307-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/gu, '')
    .replace(/[ßæœøđðłþıςىةـ]/gu, (letter) => letters[letter] ?? letter)
    .normalize('NFKC');
}
