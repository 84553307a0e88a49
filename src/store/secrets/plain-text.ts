/** Invisible characters: soft hyphens, zero-width and other format characters, control characters. */
const invisible =
  '\\p{Default_Ignorable_Code_Point}\\p{Cf}\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f';
/** The full-width forms of ASCII, each one code unit as its ASCII form. */
const wide = '\\uff01-\\uff5e';
/** Other blocks with forms of ASCII letters, digits and signs: mathematical, circled, raised. */
const compatible =
  '\\u00aa\\u00b2\\u00b3\\u00b9\\u00ba\\u02b0-\\u02b8\\u1d2c-\\u1d6a\\u2070-\\u209c\\u2100-\\u214f\\u2460-\\u24ff\\ufe4d-\\ufe6b\\u{1d400}-\\u{1d7ff}\\u{1f130}-\\u{1f149}\\u{1fbf0}-\\u{1fbf9}';
/** A character as URLs, HTML, JSON and YAML may write it, also when it was encoded more than once. */
const encoded =
  '%(?:25){0,3}(?<url>[2-7][0-9A-Fa-f])|&(?:amp;){0,3}#(?:[xX](?<hex>[0-9A-Fa-f]{1,5})|(?<decimal>\\d{1,6}));|\\\\(?:u(?<json>[0-9A-Fa-f]{4})|x(?<yaml>[0-9A-Fa-f]{2})|u\\{(?<code>[0-9A-Fa-f]{1,5})\\})';
/** Any of them, and the backslash that markdown has before a sign. */
const veil = new RegExp(`[${invisible}]+|[${wide}]+|[${compatible}]|${encoded}|\\\\(?=[_-])`, 'gu');
/** Whether there is anything of it at all: a look that costs next to nothing. */
const hint = /[^\t\n\r -~]|%[2-7]|&(?:amp;|#)|\\[-_ux]/;
const isInvisible = new RegExp(`^[${invisible}]+$`, 'u');
/** The characters that credentials are made of. */
const isTelling = /^[A-Za-z0-9_.~+/=:%&#;-]+$/;
const isWide = new RegExp(`^[${wide}]`);
/** One way of writing inside another; more than people or programs ever put together. */
const maxRounds = 3;

/**
 * A text without what hides words in it from a search, but not from a reader or a program: invisible
 * characters, other forms of the same letters, and encodings of single characters.
 */
export class PlainText {
  readonly text: string;
  /** Where a piece begins that was taken over as it is: in the plain text, and in the given one. */
  readonly #pieces: readonly (readonly [plain: number, given: number])[];
  /** The original of the plain text; undefined where both are the same. */
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

  /** Undefined where the text is plain already, as most are. */
  static of(original: string): PlainText | undefined {
    let plain: PlainText | undefined;
    for (let round = 0; round < maxRounds; round++) {
      const next = unveil(plain?.text ?? original);
      if (!next) break;
      plain = new PlainText(next.text, next.pieces, plain);
    }
    return plain;
  }

  /** The place in the original text of a place in the plain one. */
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

function unveil(given: string) {
  let text = '';
  let copied = 0;
  const pieces: [plain: number, given: number][] = [[0, 0]];
  if (!hint.test(given)) return undefined;
  veil.lastIndex = 0;
  for (let match = veil.exec(given); match; match = veil.exec(given)) {
    const bare = bareForm(match);
    if (bare === undefined) continue;
    text += given.slice(copied, match.index) + bare;
    copied = match.index + match[0].length;
    // Each character of a form comes from where it is in the form, what follows from where that ends.
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
    if (isTelling.test(form) || isWide.test(match)) return form;
    // Emoji have invisible characters as well, and no word next to them.
    const near = [input.charAt(index - 1), input.charAt(index + match.length)];
    return isInvisible.test(match) && near.some((char) => isTelling.test(char)) ? '' : undefined;
  }
  if (point > 0x10ffff) return undefined;
  const char = String.fromCodePoint(point);
  if (isInvisible.test(char)) return '';
  const form = char.normalize('NFKC');
  return isTelling.test(form) ? form : undefined;
}
