/**
 * Characters that a person does not see, and that a program reads: controls, format characters such as
 * those of zero width or of another direction, tags, variation selectors, and halves of surrogate pairs.
 */
const hidden = '(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]';

/** Format characters with a shape of their own, such as the sign before an Arabic number. */
const visible = '[\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}]';

/** An emoji; several with joiners between them are one, and a selector makes a character an emoji. */
const face = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?';
const emoji = `${face}[\\ufe0e\\ufe0f]?(?:\\u200d${face}\\ufe0f?)*|[0-9#*]\\ufe0f\\u20e3`;

/** The flags of England, Scotland and Wales, which are spelt in tags. */
const flag = '\\u{1f3f4}\\u{e0067}\\u{e0062}(?:eng|sct|wls)\\u{e007f}'.replace(
  /[a-z]{3}/g,
  (name) => [...name].map((letter) => `\\u{e00${letter.charCodeAt(0).toString(16)}}`).join(''),
);

/** Scripts in which a joiner between two letters changes their shape. */
const joining = [
  ...['Arabic', 'Syriac', 'Mongolian', 'Nko', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar'],
].map((name) => `\\p{Script=${name}}`);
const joiner = `(?<=[${joining.join('')}])[\\u200c\\u200d](?=[${joining.join('')}])`;

/** Texts of these characters only, as most are, need no long expression. */
const plain = /^[\t\n -~]*$/;

/** Made at the first use: it takes a millisecond. */
let made: RegExp | undefined;

function expression(): RegExp {
  made ??= new RegExp(`${flag}|${emoji}|${joiner}|${visible}|\\r(?=\\n)|(${hidden})`, 'gu');
  return made;
}

/**
 * Divides a text at its hidden characters: texts are at even places, hidden characters at odd ones.
 *
 * A character that belongs to a visible sign, such as the joiner in an emoji, is not hidden there.
 */
export function splitHidden(text: string): readonly string[] {
  if (plain.test(text)) return [text];
  const pieces: string[] = [];
  let at = 0;
  for (const { 1: character, index } of text.matchAll(expression())) {
    if (character === undefined) continue;
    pieces.push(text.slice(at, index), character);
    at = index + character.length;
  }
  return [...pieces, text.slice(at)];
}

/** Replaces each hidden character by a mark. */
export function markHidden(text: string, mark: (character: string) => string): string {
  const pieces = splitHidden(text);
  if (pieces.length === 1) return text;
  return pieces.map((piece, i) => (i % 2 === 1 ? mark(piece) : piece)).join('');
}

/** Returns the number of a character as Unicode writes it: `U+200B`. */
export function codePointOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
