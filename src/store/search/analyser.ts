import { stemmer } from 'stemmer';

/** Something that can be looked for, where it stands in a text. */
export interface Token {
  /** Case and diacritics folded, not stemmed. */
  readonly word: string;
  /** What the index knows it by: the stem of the word. */
  readonly term: string;
  /** Offsets in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /**
   * `word`: a word or a part of an identifier. `whole`: an identifier of several parts, `userId`
   * after `user` and `id`. `letter` and `pair`: where nothing marks the words, each letter and each
   * two neighbours.
   */
  readonly kind: 'word' | 'whole' | 'letter' | 'pair';
}

/** Letters and digits, together with the signs that hold an identifier, a path or a version together. */
const chunks =
  /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[_'’./\\:@-]{1,2}(?=[\p{L}\p{N}]))*(?:\+\+|#(?![\p{L}\p{N}]))?/gu;
/** The signs between the names of a path; `_` and `-` stand inside a name. */
const names = /[^'’./\\:@]+/gu;
/** The words of a name as `_` and `-` divide it. */
const words = /[^_-]+/gu;
/** Where a word divides: a change of case, a change between letters and digits. */
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
const cacheSize = 10_000;

/** The tokens of a text in the order they stand in it; a whole follows its parts. */
export function analyse(text: string, visit: (token: Token, offset: number) => void): void {
  for (const match of text.matchAll(chunks)) {
    const chunk = match[0];
    let tokens = cache.get(chunk);
    if (tokens === undefined) {
      tokens = divide(chunk);
      if (cache.size >= cacheSize) cache.clear();
      if (chunk.length <= longestWhole) cache.set(chunk, tokens);
    }
    for (const token of tokens) visit(token, match.index);
  }
}

/** The names of a path or of another chain, and the chain as a whole. */
function divide(chunk: string): Token[] {
  const text = chunk.replace(/['’]s$/iu, '');
  const tokens: Token[] = [];
  for (const name of matches(names, text)) {
    let at = 0;
    for (const run of matches(unspaced, name[0])) {
      divideName(name[0].slice(at, run.index), name.index + at, tokens);
      letters(run[0], name.index + run.index, tokens);
      at = run.index + run[0].length;
    }
    divideName(name[0].slice(at), name.index + at, tokens);
  }
  const whole = join(tokens, text, 0);
  // The only name of a chunk has its whole already.
  if (whole && tokens.at(-1)?.word !== whole.word) tokens.push(whole);
  return tokens;
}

/** All matches; `matchAll` would make the expression anew each time, at ten times the cost. */
function matches(expression: RegExp, text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match; match = expression.exec(text)) found.push(match);
  return found;
}

/** The parts of `userId`, `user_id` or `utf8`, and the whole when there is more than one. */
function divideName(name: string, offset: number, tokens: Token[]): void {
  const parts: Token[] = [];
  for (const word of matches(words, name)) {
    const found = matches(humps, word[0]);
    const encoded = found.length > mostDigitParts && /\p{N}/u.test(word[0]);
    for (const part of encoded || found.length === 0 ? [word] : found) {
      const start = offset + word.index + (part === word ? 0 : part.index);
      parts.push(token('word', part[0], start));
    }
  }
  // C++ and C# are more than C.
  const whole = /[+#]$/u.test(name) ? token('whole', name, offset) : join(parts, name, offset);
  tokens.push(...parts, ...(whole ? [whole] : []));
}

/** The whole that the words among some tokens make together. */
function join(parts: readonly Token[], text: string, start: number): Token | undefined {
  const joined = parts.filter((part) => part.kind === 'word').map((part) => part.word);
  if (joined.length < 2 || text.length > longestWhole) return undefined;
  // 3.15 is not 315.
  const word = joined.join(joined.every((part) => /^\p{N}+$/u.test(part)) ? '.' : '');
  return { kind: 'whole', word, term: stem(word), start, end: start + text.length };
}

/** Every letter and every pair of neighbours: where nothing marks the words, pairs stand in for them. */
function letters(run: string, offset: number, tokens: Token[]): void {
  const found = [...run.matchAll(/./gsu)];
  for (const [index, letter] of found.entries()) {
    const start = offset + letter.index;
    tokens.push(token(found.length > 1 ? 'letter' : 'word', letter[0], start));
    const next = found[index + 1];
    if (next) tokens.push(token('pair', letter[0] + next[0], start));
  }
}

function token(kind: Token['kind'], text: string, start: number): Token {
  const word = fold(text);
  return { kind, word, term: stem(word), start, end: start + text.length };
}

/** What the forms of an English word have in common. */
export function stem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}

/** Letters that are another letter, or two, with a stroke or in another place. */
const variants: { readonly [letter: string]: string } = {
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
    .replace(/[ßæœøđðłþıςىةـ]/gu, (letter) => variants[letter] ?? letter)
    .normalize('NFKC');
}
