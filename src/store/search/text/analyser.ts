import { stemmer } from 'stemmer';

/** A searchable part of a text, with its position. */
export class SearchToken {
  /** Case and diacritics folded, not stemmed. */
  readonly word: string;
  /** Offsets in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /**
   * `word`: a word or a part of an identifier. `whole`: an identifier of several parts, `userId`
   * after `user` and `id`. `letter` and `pair`: where nothing marks the words, each letter and each
   * two neighbours.
   */
  readonly kind: 'word' | 'whole' | 'letter' | 'pair';
  #term: string | undefined;

  constructor(kind: SearchToken['kind'], word: string, start: number, end: number) {
    this.kind = kind;
    this.word = word;
    this.start = start;
    this.end = end;
  }

  /** The stem of the word, under which the index keeps it. */
  get term(): string {
    this.#term ??= stem(this.word);
    return this.#term;
  }
}

/** Makes an expression when it is first needed: those of Unicode delay the start of a hook. */
function once(make: () => RegExp): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Letters and digits, and the signs that join the parts of an identifier, a path or a version. */
const chunks = once(
  () =>
    /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[_'’./\\:@-]{1,2}(?=[\p{L}\p{N}]))*(?:\+\+|#(?![\p{L}\p{N}]))?/gu,
);
/** The role of an ASCII character in `chunks`. */
const [divider, joint, ending, letter, foreign] = [0, 1, 2, 3, 4];
const kinds = new Uint8Array(128);
for (let code = 0; code < kinds.length; code++) {
  const character = String.fromCharCode(code);
  const isLetter = character.toUpperCase() !== character.toLowerCase();
  if (isLetter || (character >= '0' && character <= '9')) kinds[code] = letter;
  else if ("_'./\\:@-".includes(character)) kinds[code] = joint;
  else kinds[code] = '+#'.includes(character) ? ending : divider;
}
/** A chunk of a single word, as most are. */
const plain = /^(?:[A-Za-z][a-z]*|\d+)$/;
/** The names of a path; `_` and `-` are part of a name. */
const names = /[^'’./\\:@]+/gu;
/** The words of a name as `_` and `-` divide it. */
const words = /[^_-]+/gu;
/** The parts of a word, divided at a change of case or between letters and digits. */
const humps = once(
  () =>
    /\p{Lu}{2,}s(?![\p{L}\p{M}])|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|[\p{L}\p{M}]+?(?=\p{Lu}|[^\p{L}\p{M}]|$)|\p{N}+/gu,
);
/** The same for words of ASCII, at a fraction of the cost. */
const asciiHumps = /[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const ascii = /^[\0-\x7f]*$/;
/** Scripts that put no space between words, or, in Korean, more than one word between spaces. */
const unspaced = once(
  () =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+\p{M}*/gu,
);

/** Longer chunks are encoded data, not identifiers: their parts are indexed, the whole is not. */
const longestWhole = 80;
/** `utf8mb4` divides into four; a hash would divide into many meaningless ones. */
const mostDigitParts = 4;

/** Cache of chunks seen more than once, by hash. */
const cache: ({ readonly chunk: string; readonly tokens: readonly SearchToken[] } | undefined)[] =
  new Array(1 << 14);
/** The hash last seen in each slot: most numbers and ids come only once and are not worth caching. */
const seen = new Int32Array(cache.length);

/** Visits the tokens of a text in order; a whole follows its parts. */
export function analyse(text: string, visit: (token: SearchToken, offset: number) => void): void {
  for (let at = nextLetter(text, 0); at < text.length; ) {
    let end = asciiEnd(text, at);
    if (end === undefined) {
      const expression = chunks();
      expression.lastIndex = at;
      const match = expression.exec(text);
      if (!match) return;
      at = match.index;
      end = expression.lastIndex;
    }
    const tokens = tokensOf(text, at, end);
    // An iterator would take 50% longer.
    for (let i = 0; i < tokens.length; i++) visit(tokens[i] as SearchToken, at);
    at = nextLetter(text, end);
  }
}

/** The next offset where a chunk may begin: a letter, a digit, or anything that is not ASCII. */
function nextLetter(text: string, from: number): number {
  let at = from;
  while (at < text.length && kindAt(text, at) < letter) at += 1;
  return at;
}

/**
 * Returns the end of a chunk of ASCII, as nearly all are; `chunks` would take several times as long.
 *
 * Undefined if `chunks` has to decide, because a character that is not ASCII is next to it.
 */
function asciiEnd(text: string, start: number): number | undefined {
  let end = start;
  for (;;) {
    while (kindAt(text, end) === letter) end += 1;
    if (kindAt(text, end) !== joint) break;
    const next = kindAt(text, end + 1) === joint ? end + 2 : end + 1;
    const after = kindAt(text, next);
    if (after === foreign) return undefined;
    if (after !== letter) return end;
    end = next;
  }
  const after = kindAt(text, end);
  if (end === start || after === foreign) return undefined;
  if (after !== ending) return end;
  if (text[end] === '+') return text[end + 1] === '+' ? end + 2 : end;
  const last = kindAt(text, end + 1);
  return last === foreign ? undefined : last === letter ? end : end + 1;
}

/** The role of a character in `chunks`; the end of the text divides. */
function kindAt(text: string, at: number): number {
  if (at >= text.length) return divider;
  const code = text.charCodeAt(at);
  if (code < kinds.length) return kinds[code] ?? foreign;
  // The other characters of this range are signs, which divide.
  return code >= 0x2010 && code <= 0x205e ? (code === 0x2019 ? joint : divider) : foreign;
}

/** The tokens of a chunk; a cached chunk is found without creating a string for it. */
function tokensOf(text: string, start: number, end: number): readonly SearchToken[] {
  if (end - start > longestWhole) return divide(text.slice(start, end));
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  const place = (hash ^ (hash >>> 14)) & (cache.length - 1);
  const known = cache[place];
  if (known?.chunk.length === end - start && text.startsWith(known.chunk, start)) {
    return known.tokens;
  }
  const chunk = text.slice(start, end);
  const tokens = divide(chunk);
  if (seen[place] === hash) cache[place] = { chunk, tokens };
  else seen[place] = hash;
  return tokens;
}

/** Divides a path or another chain into its names, followed by the whole chain. */
function divide(chunk: string): SearchToken[] {
  if (plain.test(chunk)) return [token('word', chunk, 0)];
  const text = chunk.replace(/['’]s$/iu, '');
  const tokens: SearchToken[] = [];
  const spaced = ascii.test(text);
  for (const name of matches(names, text)) {
    let at = 0;
    for (const run of spaced ? [] : matches(unspaced(), name[0])) {
      divideName(name[0].slice(at, run.index), name.index + at, tokens);
      letters(run[0], name.index + run.index, tokens);
      at = run.index + run[0].length;
    }
    divideName(name[0].slice(at), name.index + at, tokens);
  }
  const whole = join(tokens, 0, text, 0);
  // A chunk of a single name already has its whole.
  if (whole && tokens.at(-1)?.word !== whole.word) tokens.push(whole);
  return tokens;
}

/** All matches. `matchAll` clones the expression each time, at ten times the cost. */
function matches(expression: RegExp, text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  expression.lastIndex = 0;
  for (let match = expression.exec(text); match; match = expression.exec(text)) found.push(match);
  return found;
}

/** Divides `userId`, `user_id` or `utf8` into parts, followed by the whole if there are several. */
function divideName(name: string, offset: number, tokens: SearchToken[]): void {
  const first = tokens.length;
  for (const { 0: word, index } of matches(words, name)) {
    const start = offset + index;
    const parts = plain.test(word) ? [] : matches(ascii.test(word) ? asciiHumps : humps(), word);
    const encoded = parts.length > mostDigitParts && /\p{N}/u.test(word);
    if (encoded || parts.length === 0) tokens.push(token('word', word, start));
    else for (const part of parts) tokens.push(token('word', part[0], start + part.index));
  }
  // C++ and C# are more than C.
  const whole = /[+#]$/.test(name)
    ? token('whole', name, offset)
    : join(tokens, first, name, offset);
  if (whole) tokens.push(whole);
}

/** Joins the words among the tokens, from an index on, into a whole; undefined for a single word. */
function join(
  tokens: readonly SearchToken[],
  first: number,
  text: string,
  start: number,
): SearchToken | undefined {
  if (text.length > longestWhole) return undefined;
  const parts: string[] = [];
  for (const { kind, word } of tokens.slice(first)) if (kind === 'word') parts.push(word);
  if (parts.length < 2) return undefined;
  // 3.15 is not 315.
  const word = parts.join(parts.every((part) => /^\p{N}+$/u.test(part)) ? '.' : '');
  return new SearchToken('whole', word, start, start + text.length);
}

/** Adds every letter and every pair of neighbours: without word boundaries, pairs replace words. */
function letters(run: string, offset: number, tokens: SearchToken[]): void {
  const found = [...run.matchAll(/./gsu)];
  for (const [index, letter] of found.entries()) {
    const start = offset + letter.index;
    tokens.push(token(found.length > 1 ? 'letter' : 'word', letter[0], start));
    const next = found[index + 1];
    if (next) tokens.push(token('pair', letter[0] + next[0], start));
  }
}

function token(kind: SearchToken['kind'], text: string, start: number): SearchToken {
  return new SearchToken(kind, fold(text), start, start + text.length);
}

const stems = new Map<string, string>();
const mostStems = 10_000;

/** Returns the stem that the forms of an English word have in common. */
export function stem(word: string): string {
  if (!/^[a-z]{3,}$/.test(word)) return word;
  let found = stems.get(word);
  if (found === undefined) {
    found = stemmer(word);
    if (stems.size >= mostStems) stems.clear();
    stems.set(word, found);
  }
  return found;
}

/** Letters that are searched as another letter, or as two. */
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
 * Removes case and diacritics, so that `Résumé` and `resume` are the same.
 *
 * Marks that make a different letter stay: й, が, Indic and Thai vowels.
 */
function fold(word: string): string {
  const lower = word.toLowerCase();
  if (ascii.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(/(?<!и)\u0306|[\u0300-\u0305\u0307-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/gu, '')
    .replace(/[ßæœøđðłþıςىةـ]/gu, (letter) => variants[letter] ?? letter)
    .normalize('NFKC');
}
