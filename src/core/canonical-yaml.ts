import { MemoryError } from './error.ts';
import type { JsonObject, JsonValue } from './json.ts';

/**
 * The YAML that this program writes, and a fast reader of exactly that.
 *
 * It is block YAML 1.2 (core schema): one key or one list item a line, two spaces a level, text of
 * several lines as a literal block, everything that any reader of YAML 1.1 or 1.2 could take for
 * something else in double quotes, no folding. Equal values give equal text.
 */

/** The deepest nesting of maps and lists in a record. */
export const maxYamlDepth = 64;

/** Keys above this length are written in the explicit form: YAML bounds an implicit key at 1,024. */
const maxImplicitKey = 1000;

/** Characters that YAML cannot hold plainly, that end a line for some readers, or that reorder text on screen. */
const unprintable =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]/u;
const everyUnprintable = new RegExp(unprintable, 'gu');
/** What no plain scalar may begin with: indicators, and `=`, `<`, `~` for readers of YAML 1.1. */
const indicator = /^[-?:,[\]{}#&*!|>'"%@`=<~ ]/;
const breaksPlain = /[\t\n]|: | #|[: ]$/;
/** Null, booleans, numbers, sexagesimals and dates in any version of YAML. */
const ambiguous =
  /^(?:null|true|false|yes|no|on|off|[yn]|[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-f_]+|\.(?:inf|nan)|\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?|\.?\d[\d_,.]*(?:e[-+]?\d+)?)|\d{4}-\d\d?-\d\d?.*)$/is;
const canonicalNumber = /^-?\d+(?:\.\d+)?(?:e[-+]\d+)?$/;

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

/** Whether a text can be written as a literal block and come back unchanged. */
export function isLiteral(text: string): boolean {
  return text.includes('\n') && /\S/.test(text) && !/\r/.test(text) && !unprintable.test(text);
}

/**
 * A value as canonical YAML. Keys stand in the order given; undefined ones are left out.
 *
 * @throws MemoryError `too_large` beyond `maxYamlDepth` levels.
 */
export function writeYaml(value: JsonObject): string {
  return isEmpty(value) ? '{}\n' : writeMap(value, '');
}

function writeMap(map: JsonObject, indent: string): string {
  if (indent.length >= 2 * maxYamlDepth) {
    throw new MemoryError('too_large', `The data is nested deeper than ${maxYamlDepth} levels.`);
  }
  let text = '';
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    const name = isPlain(key) && !key.includes(':') ? key : quote(key);
    text += name.length > maxImplicitKey ? `${indent}? ${name}\n${indent}:` : `${indent}${name}:`;
    text += writeValue(value, indent);
  }
  return text;
}

function writeList(list: readonly JsonValue[], indent: string): string {
  if (indent.length >= 2 * maxYamlDepth) {
    throw new MemoryError('too_large', `The data is nested deeper than ${maxYamlDepth} levels.`);
  }
  return list.map((item) => `${indent}-${writeItem(item, indent)}`).join('');
}

/** What follows `key:`, with the line's end. */
function writeValue(value: JsonValue, indent: string): string {
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

function writeNumber(value: number): string {
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
function literalHeader(text: string): string {
  const margin = /^[ \t\n]/.test(text) ? '2' : '';
  const end = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') ? '+' : '';
  return `|${margin}${end}`;
}

function quote(text: string): string {
  return JSON.stringify(text).replace(everyUnprintable, (char) => {
    const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

function isEmpty(value: object): boolean {
  return Array.isArray(value)
    ? value.length === 0
    : Object.values(value).every((item) => item === undefined);
}

/** The value of canonical YAML; undefined when the text is anything else. */
export function readCanonicalYaml(text: string): JsonObject | undefined {
  try {
    return new CanonicalReader(text).document();
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

class NotCanonical extends Error {}
/** One instance for all: a stack trace would cost more than reading a record. */
const notCanonical = new NotCanonical('not canonical');

/** Reads from the front to the back, each character once; whatever `writeYaml` would not write ends it. */
class CanonicalReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonObject {
    if (this.#text === '{}\n') return {};
    const value = this.#map(0);
    if (this.#at < this.#text.length) throw notCanonical;
    return value;
  }

  /** A map whose first key stands here, in column `indent`. */
  #map(indent: number): JsonObject {
    if (indent >= 2 * maxYamlDepth) throw notCanonical;
    const map: JsonObject = {};
    do {
      const key = this.#key();
      if (Object.hasOwn(map, key)) throw notCanonical;
      const value = this.#value(indent);
      if (key === '__proto__') {
        Object.defineProperty(map, key, {
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      } else map[key] = value;
    } while (this.#nextLine(indent));
    return map;
  }

  /** A list whose first `-` stands here, in column `indent`. */
  #list(indent: number): JsonValue[] {
    if (indent >= 2 * maxYamlDepth) throw notCanonical;
    const list: JsonValue[] = [];
    do {
      if (!this.#text.startsWith('- ', this.#at)) throw notCanonical;
      this.#at += 2;
      if (this.#text.startsWith('- ', this.#at)) list.push(this.#list(indent + 2));
      else if (this.#isKey()) list.push(this.#map(indent + 2));
      else list.push(this.#scalar(indent));
    } while (this.#nextLine(indent));
    return list;
  }

  /** Goes to the next line's content when it stands in column `indent`; false when further left. */
  #nextLine(indent: number): boolean {
    const spaces = this.#spaces();
    if (spaces > indent) throw notCanonical;
    if (spaces < indent || this.#at + spaces >= this.#text.length) return false;
    this.#at += spaces;
    return true;
  }

  #spaces(): number {
    let end = this.#at;
    while (this.#text.charCodeAt(end) === 0x20) end++;
    return end - this.#at;
  }

  #key(): string {
    let key: string;
    if (this.#text[this.#at] === '"') key = this.#quoted(this.#quoteEnd());
    else {
      const end = this.#text.indexOf(':', this.#at);
      key = this.#text.slice(this.#at, end);
      if (end < 0 || !isPlain(key)) throw notCanonical;
      this.#at = end;
    }
    if (this.#text[this.#at] !== ':') throw notCanonical;
    this.#at++;
    return key;
  }

  /** Whether a list item begins with the key of a map. */
  #isKey(): boolean {
    if (this.#text[this.#at] === '"') return this.#text[this.#quoteEnd()] === ':';
    const line = this.#text.slice(this.#at, this.#lineEnd());
    return line.endsWith(':') || line.includes(': ');
  }

  #value(indent: number): JsonValue {
    if (this.#text[this.#at] === ' ') {
      this.#at++;
      return this.#scalar(indent);
    }
    if (this.#text[this.#at] !== '\n') throw notCanonical;
    this.#at++;
    if (this.#spaces() !== indent + 2) throw notCanonical;
    this.#at += indent + 2;
    return this.#text.startsWith('- ', this.#at) ? this.#list(indent + 2) : this.#map(indent + 2);
  }

  /** What stands on the rest of the line, or in the literal block that begins here. */
  #scalar(indent: number): JsonValue {
    const first = this.#text[this.#at];
    if (first === '|') return this.#literal(indent);
    const end = this.#lineEnd();
    if (first === '"') {
      if (this.#quoteEnd() !== end) throw notCanonical;
      const text = this.#quoted(end);
      this.#at++;
      return text;
    }
    const word = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    if (isPlain(word)) return word;
    switch (word) {
      case 'null':
        return null;
      case 'true':
        return true;
      case 'false':
        return false;
      case '[]':
        return [];
      case '{}':
        return {};
    }
    if (!canonicalNumber.test(word) || writeNumber(Number(word)) !== word) throw notCanonical;
    return Number(word);
  }

  #literal(indent: number): string {
    const end = this.#lineEnd();
    const header = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    const margin = indent + 2;
    let text = '';
    for (;;) {
      if (this.#text[this.#at] === '\n') {
        text += '\n';
        this.#at++;
        continue;
      }
      const spaces = this.#spaces();
      if (spaces < margin || this.#at + spaces >= this.#text.length) break;
      const lineEnd = this.#lineEnd();
      text += this.#text.slice(this.#at + margin, lineEnd + 1);
      this.#at = lineEnd + 1;
    }
    if (header.endsWith('-')) text = text.slice(0, -1);
    if (!isLiteral(text) || literalHeader(text) !== header) throw notCanonical;
    return text;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#at);
    if (end < 0) throw notCanonical;
    return end;
  }

  /** The place behind the closing quote of the string that begins here. */
  #quoteEnd(): number {
    let end = this.#at + 1;
    for (;;) {
      const quoteAt = this.#text.indexOf('"', end);
      if (quoteAt < 0) throw notCanonical;
      let slashes = 0;
      while (this.#text[quoteAt - 1 - slashes] === '\\') slashes++;
      if (slashes % 2 === 0) return quoteAt + 1;
      end = quoteAt + 1;
    }
  }

  #quoted(end: number): string {
    const source = this.#text.slice(this.#at, end);
    this.#at = end;
    if (!source.includes('\\')) {
      if (/[\t\n]/.test(source) || unprintable.test(source)) throw notCanonical;
      return source.slice(1, -1);
    }
    try {
      return String(JSON.parse(source));
    } catch {
      throw notCanonical;
    }
  }
}
