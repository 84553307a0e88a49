import { escapedUnits, type JsonObject, type JsonValue } from '../values/json.ts';

/** Longer keys are written in the explicit form, because YAML limits implicit keys to 1,024 characters. */
const maxImplicitKey = 1000;

/** Characters that YAML has to escape, that end a line for some readers, or that reorder text on screen. */
export const unprintable =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]/u;
const everyUnprintable = new RegExp(unprintable, 'gu');
/**
 * Beginnings that are not allowed in a plain scalar.
 *
 * They are the indicators, the end of a document, and `=`, `<`, `~` for readers of YAML 1.1.
 */
const indicator = /^(?:[-?:,[\]{}#&*!|>'"%@`=<~ ]|\.\.\.)/;
/** Texts that are blank or whose last line contains only spaces: readers differ about their end. */
const blankEnd = /^\s*$|\n[ \t]+\n*$/;
const breaksPlain = /[\t\n]|: | #|[: ]$/;
/** Null, booleans, numbers, sexagesimals and dates in any version of YAML. */
const ambiguous =
  /^(?:null|true|false|yes|no|on|off|[yn]|[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|\.(?:inf|nan)|\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|\.?\d[\d_,.]*(?:e[-+]?\d+)?)|\d{4}-\d\d?-\d\d?.*)$/is;

/** Whether every reader reads the text as a string when it is written without quotes. */
export function isPlain(text: string): boolean {
  return (
    text !== '' &&
    !indicator.test(text) &&
    !breaksPlain.test(text) &&
    !ambiguous.test(text) &&
    !unprintable.test(text)
  );
}

/** Whether every reader returns the text unchanged when it is written as a literal block. */
export function isLiteral(text: string): boolean {
  return text.includes('\n') && !blankEnd.test(text) && !/\r/.test(text) && !unprintable.test(text);
}

/**
 * Writes a value as canonical YAML: equal values give equal text.
 *
 * Keys keep their order; those with an undefined value are left out. The text is block YAML 1.2 (core
 * schema): one key or list item per line, two spaces per level, several lines of text as a literal
 * block, no folding. A string that a reader of YAML 1.1 or 1.2 could misread is in double quotes.
 */
export function writeYaml(value: JsonObject): string {
  return isEmpty(value) ? '{}\n' : writeMap(value, '');
}

function writeMap(map: JsonObject, indent: string): string {
  let text = '';
  for (const [key, value] of Object.entries(map)) {
    if (value !== undefined) text += writeEntry(key, value, indent);
  }
  return text;
}

/** Writes the lines of one key of a map. */
export function writeEntry(key: string, value: JsonValue, indent: string): string {
  const name = isPlain(key) && !key.includes(':') ? key : quote(key);
  const start = name.length > maxImplicitKey ? `${indent}? ${name}\n${indent}` : indent + name;
  return `${start}:${writeValue(value, indent)}`;
}

/** Writes the lines of the items of a list. */
export function writeList(list: readonly JsonValue[], indent: string): string {
  return list.map((item) => `${indent}-${writeItem(item, indent)}`).join('');
}

/** Writes the text after `key:`, to the end of the last line. */
export function writeValue(value: JsonValue, indent: string): string {
  if (typeof value !== 'object' || value === null) return writeScalar(value, indent);
  if (isEmpty(value)) return Array.isArray(value) ? ' []\n' : ' {}\n';
  const inner = `${indent}  `;
  return `\n${Array.isArray(value) ? writeList(value, inner) : writeMap(value, inner)}`;
}

/** Writes the text after `-`; the first key or item of a nested map or list is on the same line. */
function writeItem(value: JsonValue, indent: string): string {
  const text = writeValue(value, indent);
  return text.startsWith('\n') ? ` ${text.slice(indent.length + 3)}` : text;
}

function writeScalar(value: string | number | boolean | null, indent: string): string {
  if (typeof value !== 'string') {
    return ` ${typeof value === 'number' ? writeNumber(value) : value}\n`;
  }
  if (isPlain(value)) return ` ${value}\n`;
  return isLiteral(value) ? writeLiteral(value, indent) : ` ${quote(value)}\n`;
}

/** Writes a number in a form that every reader of YAML reads as a number. */
export function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`);
  if (Object.is(value, -0)) return '-0';
  // In YAML 1.1, `1e+21` is a string and `1.0e+21` is a number.
  return String(value).replace(/^(-?\d+)e/, '$1.0e');
}

function writeLiteral(text: string, indent: string): string {
  const header = literalHeader(text);
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const block = lines.map((line) => (line === '' ? '\n' : `${indent}  ${line}\n`)).join('');
  return ` ${header}\n${block}`;
}

/** Makes the header of a literal block: its margin, if the text does not show it, and its chomping. */
export function literalHeader(text: string): string {
  const margin = /^[ \t\n]/.test(text) ? '2' : '';
  const end = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') ? '+' : '';
  return `|${margin}${end}`;
}

function quote(text: string): string {
  return JSON.stringify(text).replace(everyUnprintable, escapedUnits);
}

function isEmpty(value: object): boolean {
  return Array.isArray(value)
    ? value.length === 0
    : Object.values(value).every((item) => item === undefined);
}
