import { createHash } from 'node:crypto';

/** Maximum length of the names that `encodeName` returns, in bytes of UTF-8, without extension. */
export const maxNameBytes = 180;

/**
 * Encodes any text as one path segment; different texts get different names on every file system.
 *
 * Lower-case ASCII letters, digits, `-`, `_`, inner dots and letters of other scripts stay as they are.
 * Everything else becomes `%` and two hex digits for each byte of UTF-8. Upper-case letters stay
 * readable, and a suffix after `~` says which letters are upper-case, because Windows and macOS treat
 * `JIRA-1` and `jira-1` as the same name: `JIRA-1` becomes `JIRA-1~f`. A name that would be too long is
 * cut and ends in `~~` and 20 hex digits of the text's SHA-256.
 *
 * The name contains no `+`, is in Unicode normal form C, is not a device name of Windows, and has at
 * most `maxNameBytes` bytes.
 */
export function encodeName(text: string): string {
  if (plainName.test(text) && text.length <= maxNameBytes && !device.test(text)) return text;
  if (text === '') return '%';
  const composed = text.normalize('NFC') === text;
  const name = encode(text, composed);
  // A combining mark that follows an escape could merge with the escape's last digit.
  return composed && name.normalize('NFC') !== name ? encode(text, false) : name;
}

/** Encodes each segment of a path; no folder gets a name that ends like a record file. */
export function encodePath(path: string): string {
  const names = path.split('/').map(encodeName);
  const last = names.pop() ?? '';
  return [...names.map((name) => name.replace(/\.(?=(?:yaml|md)$)/, '%2e')), last].join('/');
}

/**
 * Makes a readable part of a file name: lower-case words joined by `-`.
 *
 * Different texts may have the same slug.
 *
 * @param limit maximum number of UTF-16 code units; the slug has at most three times as many bytes.
 * @returns `untitled` when the text has neither a letter nor a digit.
 */
export function slug(text: string, limit = 60): string {
  return lowerCase(text, limit, /[^a-z0-9]/gu);
}

/**
 * Returns the names that the file of a record with this key may have, without extension, best first.
 *
 * The first is readable: the key itself, or its lower-case words. Another key may have the same one, so
 * the second ends in a short hash of the key. The third is the encoded key: no other key has it, and
 * earlier versions used it. All of them stay distinct where a file system folds case or Unicode forms.
 */
export function fileNames(key: string): readonly string[] {
  return distinct(readableName(key), key, encodeName(key));
}

/** Returns the same for a key that is a path, whose folders become folders. */
export function filePaths(key: string): readonly string[] {
  const names = key.split('/').map(readableName);
  const last = names.pop() ?? '';
  const folders = names.map((name) => name.replace(/\.(?=(?:yaml|md)$)/, '-'));
  return distinct([...folders, last].join('/'), key, encodePath(key));
}

/** Adds a short hash of a key to a name. */
export function withHash(name: string, key: string): string {
  return `${name}-${digestOf(key).slice(0, 6)}`;
}

function distinct(name: string, key: string, encoded: string): readonly string[] {
  return [...new Set([name, withHash(name, key), encoded])];
}

/** Returns a name that leaves room for a hash. */
function readableName(text: string): string {
  const isReadable = Buffer.byteLength(text) <= 150 && encodeName(text) === text;
  return isReadable ? text : lowerCase(text, 50, /[^a-z0-9._]/gu);
}

/** Replaces everything but letters of any script and digits by `-`, except for the kept characters. */
function lowerCase(text: string, limit: number, replaced: RegExp): string {
  // The beginning of a long text is enough for any slug.
  const letters = text
    .slice(0, limit * 8)
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC');
  let words = '';
  for (const char of letters.replace(/['’]/g, '')) words += folded(char);
  words = words
    .normalize('NFC')
    .replace(replaced, (char) => (char >= '\x80' && isSafe(char) ? char : '-'))
    .replace(/-+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  if (words.length > limit) {
    const cut = words.lastIndexOf('-', limit);
    words = cut > 0 ? words.slice(0, cut) : wholeCharacters(words, limit);
  }
  words = words.replace(/[-.]+$/, '');
  if (words === '') return 'untitled';
  return device.test(words) ? `untitled-${words}` : words;
}

const plainName = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_-])?$/;
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;
const asciiLetter = /^[A-Za-z]$/;
const asciiKept = /^[a-zA-Z0-9_.-]$/;
const otherKept = /^(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{Nd}]$/u;

function encode(text: string, composed: boolean): string {
  const escapeFirst = /^[.-]/.test(text) || device.test(text);
  const escapeLast = text.endsWith('.');
  let name = '';
  let size = 0;
  let at = 0;
  const cases: boolean[] = [];
  for (const char of text) {
    const edge = (escapeFirst && at === 0) || (escapeLast && at === text.length - 1);
    const kept = !edge && (char < '\x80' ? asciiKept.test(char) : composed && isSafe(char));
    const piece = kept ? char : escaped(char);
    if (kept && asciiLetter.test(char)) cases.push(char < 'a');
    size += Buffer.byteLength(piece);
    if (size > maxNameBytes) return shortened(name, text);
    name += piece;
    at += char.length;
  }
  const mark = caseMark(cases);
  return size + mark.length > maxNameBytes ? shortened(name, text) : name + mark;
}

/**
 * Encodes which letters are upper-case: one hex digit for four letters, the first in the lowest bit.
 *
 * The digits 0 to 9 are written as g to p, because `~1` would look like a short name of Windows (`GIT~1`).
 */
function caseMark(cases: readonly boolean[]): string {
  let mark = '';
  for (let i = 0; i < cases.length; i += 4) {
    let digit = 0;
    for (let bit = 0; bit < 4; bit++) if (cases[i + bit]) digit |= 1 << bit;
    mark += 'ghijklmnopabcdef'.charAt(digit);
  }
  mark = mark.replace(/g+$/, '');
  return mark === '' ? '' : `~${mark}`;
}

function shortened(name: string, text: string): string {
  const tail = `~~${digestOf(text).slice(0, 20)}`;
  let head = '';
  let size = tail.length;
  for (const [piece] of name.matchAll(/%..|[^%]/gu)) {
    size += Buffer.byteLength(piece);
    if (size > maxNameBytes) break;
    head += piece;
  }
  return head + tail;
}

function digestOf(text: string): string {
  // In UTF-8 all lone surrogates would be encoded alike.
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
}

/** Whether no file system folds or decomposes the character into another one. */
function isSafe(char: string): boolean {
  return (
    otherKept.test(char) &&
    char.normalize('NFKC') === char &&
    char.toLowerCase() === char &&
    char.toUpperCase().toLowerCase() === char
  );
}

/** Escapes the UTF-8 bytes of a character; a lone surrogate is encoded like any code point. */
function escaped(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  const tail = (shift: number) => 0x80 | ((point >> shift) & 0x3f);
  const bytes =
    point < 0x80
      ? [point]
      : point < 0x800
        ? [0xc0 | (point >> 6), tail(0)]
        : point < 0x10000
          ? [0xe0 | (point >> 12), tail(6), tail(0)]
          : [0xf0 | (point >> 18), tail(12), tail(6), tail(0)];
  return bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** Returns a character, or its case-folded form if some file system folds it: `ss` for `ß`. */
function folded(char: string): string {
  return char < '\x80' || isSafe(char) ? char : char.toUpperCase().toLowerCase();
}

/** Returns the beginning of a word, never cut within a character. */
function wholeCharacters(word: string, limit: number): string {
  let end = limit;
  while (end > 1 && /^[\p{M}\udc00-\udfff]/u.test(word.slice(end))) end--;
  return word.slice(0, end);
}
