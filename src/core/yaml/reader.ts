import type { JsonObject, JsonValue } from '../values/json.ts';
import { isLiteral, isPlain, literalHeader, unprintable, writeNumber } from './writer.ts';

/** Maximum nesting of maps and lists in a record. */
export const maxYamlDepth = 64;

const canonicalNumber = /^-?\d+(?:\.\d+)?(?:e[-+]\d+)?$/;

/** Reads a text that `writeYaml` could have written; undefined for any other text. */
export function readCanonicalYaml(text: string): JsonObject | undefined {
  try {
    return new CanonicalReader(text).document();
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
}

class NotCanonical extends Error {}
/** The only instance: making a stack trace would take longer than reading a record. */
const notCanonical = new NotCanonical('not canonical');

/** Reads each character once, and throws at the first one that `writeYaml` would not write. */
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

  /** Reads a map whose first key is here, in column `indent`. */
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

  /** Reads a list whose first `-` is here, in column `indent`. */
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

  /** Moves to the content of the next line in column `indent`; returns false if it is further left. */
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

  /** Reads the rest of the line, or the literal block that begins here. */
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
    const number = canonicalNumber.test(word) ? Number(word) : Number.NaN;
    if (!Number.isFinite(number) || writeNumber(number) !== word) throw notCanonical;
    return number;
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

  /** Returns the offset after the closing quote of the string that begins here. */
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
