/** Invisible characters: soft hyphens, zero-width and other format characters, control characters. */
const invisible =
  '\\p{Default_Ignorable_Code_Point}\\p{Cf}\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f';
/** The full-width forms of ASCII, each one code unit as its ASCII form. */
const wide = '\\uff01-\\uff5e';
/** Other blocks with forms of ASCII letters, digits and signs: mathematical, circled, superscript. */
const compatible =
  '\\u00aa\\u00b2\\u00b3\\u00b9\\u00ba\\u02b0-\\u02b8\\u1d2c-\\u1d6a\\u2070-\\u209c\\u2100-\\u214f\\u2460-\\u24ff\\ufe4d-\\ufe6b\\u{1d400}-\\u{1d7ff}\\u{1f130}-\\u{1f149}\\u{1fbf0}-\\u{1fbf9}';
/** A character as encoded in URLs, HTML, JSON and YAML, also more than once. */
const encoded =
  '%(?:25){0,3}(?<url>[2-7][0-9A-Fa-f])|&(?:amp;){0,3}#(?:[xX](?<hex>[0-9A-Fa-f]{1,5})|(?<decimal>\\d{1,6}));|\\\\(?:u(?<json>[0-9A-Fa-f]{4})|x(?<yaml>[0-9A-Fa-f]{2})|u\\{(?<code>[0-9A-Fa-f]{1,5})\\})';
/** Any of these forms, and a backslash before a sign, as in markdown. */
const hidden = new RegExp(
  `[${invisible}]+|[${wide}]+|[${compatible}]|${encoded}|\\\\(?=[_-])`,
  'gu',
);
/** Quick check for whether a text can contain any of these forms. */
const mayHide = /[^\t\n\r -~]|%[2-7]|&(?:amp;|#)|\\[-_ux]/;
const isInvisible = new RegExp(`^[${invisible}]+$`, 'u');
/** The characters that credentials consist of. */
const isCredential = /^[A-Za-z0-9_.~+/=:%&#;-]+$/;
const isWide = new RegExp(`^[${wide}]`);
/** Limit of encodings nested in each other; people and programs do not combine more. */
const maxRounds = 3;

/**
 * A text in plain characters, in which hidden words can be found.
 *
 * Invisible characters, other forms of the same letters and encodings of single characters hide a word
 * from a search, but not from a reader or a program.
 */
export class PlainText {
  readonly text: string;
  /** Start offsets of the unchanged pieces, in the plain text and in the original. */
  readonly #pieces: readonly (readonly [plain: number, given: number])[];
  /** The result of the previous round, from which this text was made; undefined for the first. */
  readonly #before: PlainText | undefined;

  private constructor(
    text: string,
    pieces: readonly (readonly [plain: number, given: number])[],
    before: PlainText | undefined,
  ) {
    this.text = text;
    this.#pieces = pieces;
    this.#before = before;
  }

  /** Returns the plain form of a text; undefined if the text is plain already, as most are. */
  static of(original: string): PlainText | undefined {
    let plain: PlainText | undefined;
    for (let round = 0; round < maxRounds; round++) {
      const next = reveal(plain?.text ?? original);
      if (!next) break;
      plain = new PlainText(next.text, next.pieces, plain);
    }
    return plain;
  }

  /** Converts an offset in the plain text to the offset in the original. */
  inOriginal(at: number): number {
    let low = 0;
    let high = this.#pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#pieces[middle]?.[0] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    const [plain, given] = this.#pieces[low] ?? [0, 0];
    const here = given + at - plain;
    return this.#before?.inOriginal(here) ?? here;
  }
}

function reveal(given: string) {
  let text = '';
  let copied = 0;
  const pieces: [plain: number, given: number][] = [[0, 0]];
  if (!mayHide.test(given)) return undefined;
  hidden.lastIndex = 0;
  for (let match = hidden.exec(given); match; match = hidden.exec(given)) {
    const bare = bareForm(match);
    if (bare === undefined) continue;
    text += given.slice(copied, match.index) + bare;
    copied = match.index + match[0].length;
    // A form maps to where the match starts, and the text after it to where the match ends.
    if (bare !== '') pieces.push([text.length - bare.length, match.index]);
    pieces.push([text.length, copied]);
  }
  return copied === 0 ? undefined : { text: text + given.slice(copied), pieces };
}

/** The replacement of a match in the plain text; undefined where it stays the same. */
function bareForm(found: RegExpExecArray): string | undefined {
  const { 0: match, groups = {}, index, input } = found;
  const { url, hex, decimal, json, yaml, code } = groups;
  const digits = url ?? hex ?? json ?? yaml ?? code;
  const point = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
  if (digits === undefined && decimal === undefined) {
    if (match === '\\') return '';
    const form = match.normalize('NFKC');
    if (isCredential.test(form) || isWide.test(match)) return form;
    // Emoji also contain invisible characters, but not next to a word.
    const near = [input.charAt(index - 1), input.charAt(index + match.length)];
    return isInvisible.test(match) && near.some((char) => isCredential.test(char)) ? '' : undefined;
  }
  if (point > 0x10ffff) return undefined;
  const char = String.fromCodePoint(point);
  if (isInvisible.test(char)) return '';
  const form = char.normalize('NFKC');
  return isCredential.test(form) ? form : undefined;
}
