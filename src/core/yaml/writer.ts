import { escapedUnits, type JsonObject, type JsonValue } from '../json.ts';

/** Keys above this length are written in the explicit form: YAML bounds an implicit key at 1,024. */
const maxImplicitKey = 1000;

/** Characters that YAML cannot hold plainly, that end a line for some readers, or that reorder text on screen. */
export const unprintable =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]/u;
const everyUnprintable = new RegExp(unprintable, 'gu');
/**
 * What no plain scalar may begin with: indicators, the end of a document, and `=`, `<`, `~` for
 * readers of YAML 1.1.
 */
const indicator = /^(?:[-?:,[\]{}#&*!|>'"%@`=<~ ]|\.\.\.)/;
/** A text without a word, or whose last line is blank but not empty: readers differ about its end. */
const blankEnd = /^\s*$|\n[ \t]+\n*$/;
const breaksPlain = /[\t\n]|: | #|[: ]$/;
/** Null, booleans, numbers, sexagesimals and dates in any version of YAML. */
const ambiguous =
  /^(?:null|true|false|yes|no|on|off|[yn]|[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|\.(?:inf|nan)|\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|\.?\d[\d_,.]*(?:e[-+]?\d+)?)|\d{4}-\d\d?-\d\d?.*)$/is;

/** Whether a text can stand without quotes and is a string to every reader. */
export function isPlain(text: string): boolean {
  return (
    text !== '' &&
    !indicator.test(text) &&
    !breaksPlain.test(text) &&
    !ambiguous.test(text) &&
    !unprintable.test(text)
  );
}

/** Whether a text can be written as a literal block and come back unchanged from every reader. */
export function isLiteral(text: string): boolean {
  return text.includes('\n') && !blankEnd.test(text) && !/\r/.test(text) && !unprintable.test(text);
}

/**
 * A value as the YAML that this program writes. Keys stand in the order given; undefined ones are
 * left out. Equal values give equal text.
 *
 * It is block YAML 1.2 (core schema): one key or one list item a line, two spaces a level, text of
 * several lines as a literal block, no folding, and in double quotes whatever a reader of YAML 1.1 or
 * 1.2 could take for anything but the string that it is.
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

/** The lines of one key of a map. */
export function writeEntry(key: string, value: JsonValue, indent: string): string {
  const name = isPlain(key) && !key.includes(':') ? key : quote(key);
  const start = name.length > maxImplicitKey ? `${indent}? ${name}\n${indent}` : indent + name;
  return `${start}:${writeValue(value, indent)}`;
}

/** The lines of the items of a list. */
export function writeList(list: readonly JsonValue[], indent: string): string {
  return list.map((item) => `${indent}-${writeItem(item, indent)}`).join('');
}

/** What follows `key:`, to the end of the last line. */
export function writeValue(value: JsonValue, indent: string): string {
  if (typeof value !== 'object' || value === null) return writeScalar(value, indent);
  if (isEmpty(value)) return Array.isArray(value) ? ' []\n' : ' {}\n';
  const inner = `${indent}  `;
  return `\n${Array.isArray(value) ? writeList(value, inner) : writeMap(value, inner)}`;
}

/** What follows `-`: the first key or item of a nested map or list stands on the same line. */
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

/** A number as every reader of YAML takes it for one. */
export function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} is no JSON number`);
  if (Object.is(value, -0)) return '-0';
  // Readers of YAML 1.1 take `1e+21` for a string and `1.0e+21` for a number.
  return String(value).replace(/^(-?\d+)e/, '$1.0e');
}

function writeLiteral(text: string, indent: string): string {
  const header = literalHeader(text);
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const block = lines.map((line) => (line === '' ? '\n' : `${indent}  ${line}\n`)).join('');
  return ` ${header}\n${block}`;
}

/** The block's margin where the text does not show it, and what becomes of the line ends at its end. */
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
