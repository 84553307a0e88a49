import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { MemoryError } from './error.ts';
import { arrange, conform, keepUnknown } from './shape.ts';
import { writeYaml } from './yaml/writer.ts';
import {
  conflictMessage,
  hasConflictMarkers,
  maxYamlBytes,
  readYaml,
  rewriteYaml,
} from './yaml/yaml.ts';

/**
 * How a record's value becomes the text of its file and comes back.
 *
 * Laws, tested for every record type: `decode(encode(x))` equals `x`; `encode(decode(t), t)` equals
 * `t` for every text that decodes; `encode` of equal values gives equal text.
 */
export interface Codec<T> {
  /**
   * The text of a record.
   *
   * @param previous the text of the file as it stands, when there is one: keys and comments that a
   *   person added to it survive.
   */
  encode(value: T, previous?: string): string;
  /**
   * The value of a text.
   *
   * @param path where the text lies, relative to `.memory-bank/`; only a type whose key is its path
   *   needs it.
   * @throws MemoryError `damaged` with a message that says what is wrong and, where it can be
   *   known, in which line; the caller adds the path.
   */
  decode(text: string, path: string): T;
}

/** A record that is YAML as a whole. */
export function yamlCodec<T extends object>(schema: z.ZodType<T>): Codec<T> {
  return recordCodec(schema);
}

/**
 * A record that is YAML front matter between two lines `---`, and below it, byte for byte, the text
 * of one field.
 */
export function markdownCodec<T extends object>(
  schema: z.ZodType<T>,
  body: keyof T & string,
): Codec<T> {
  return recordCodec(schema, body);
}

function recordCodec<T extends object>(schema: z.ZodType<T>, body?: string): Codec<T> {
  const framed = body !== undefined;
  const read = (file: RecordFile): T => {
    const data = readYaml(file.yaml);
    if (!framed || (file.body === '' && Object.hasOwn(data, body))) return conform(schema, data);
    data[body] = file.body;
    return conform(schema, data);
  };
  return {
    decode: (text) => read(splitFile(text, framed)),
    encode(value, previous) {
      const record = arrange(schema, value);
      const head = { ...record };
      let content = '';
      // A file in UTF-8 cannot hold half a surrogate pair; YAML can, as an escape.
      if (framed && isWellFormed(record[body])) {
        content = record[body];
        delete head[body];
      }
      if (previous === undefined) {
        return joinFile({ bom: '', eol: '\n', framed, yaml: writeYaml(head), body: content });
      }
      const file = splitFile(previous, framed);
      // A file that says the same stays as it is, however a person wrote it.
      if (isDeepStrictEqual(arrange(schema, read(file)), record)) return previous;
      const yaml = rewriteYaml(file.yaml, keepUnknown(schema, head, readYaml(file.yaml)));
      return joinFile({ ...file, yaml, body: content });
    },
  };
}

function isWellFormed(text: unknown): text is string {
  return typeof text === 'string' && !/[\ud800-\udfff]/u.test(text);
}

/** The text of a record's file in its parts. */
interface RecordFile {
  /** A byte order mark, where a person's editor set one. */
  readonly bom: string;
  /** The line end of the YAML part. */
  readonly eol: '\n' | '\r\n';
  /** Whether the YAML stands between two lines `---` above a body. */
  readonly framed: boolean;
  /** With `\n` as line end. */
  readonly yaml: string;
  readonly body: string;
}

const openingLine = /^---[ \t]*\r?\n/;
const closingLine = /\n---[ \t]*(?:\r?\n|$)/;

function splitFile(text: string, framed: boolean): RecordFile {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const rest = text.slice(bom.length);
  const eol = rest.charAt(rest.indexOf('\n') - 1) === '\r' ? '\r\n' : '\n';
  const unix = (yaml: string) => (eol === '\n' ? yaml : yaml.replaceAll('\r\n', '\n'));
  if (!framed) return { bom, eol, framed, yaml: unix(rest), body: '' };
  const opening = openingLine.exec(rest);
  // The line end of the opening line belongs to the search: the front matter may be empty.
  const from = opening ? opening[0].length - 1 : 0;
  const closing = opening && closingLine.exec(rest.slice(from));
  if (!opening || !closing) {
    if (hasConflictMarkers(text)) throw new MemoryError('conflict', conflictMessage);
    throw new MemoryError(
      'damaged',
      opening
        ? 'the front matter has no closing line "---"'
        : 'expected YAML front matter between two lines "---" at the beginning of the file',
    );
  }
  const yaml = rest.slice(from + 1, from + closing.index + 1);
  // A conflict may stand across the closing line: its first marker is above it, the others below.
  if (/^<{7} /m.test(yaml) && hasConflictMarkers(text)) {
    throw new MemoryError('conflict', conflictMessage);
  }
  const body = rest.slice(from + closing.index + closing[0].length);
  return { bom, eol, framed, yaml: unix(yaml), body };
}

function joinFile(file: RecordFile): string {
  if (Buffer.byteLength(file.yaml) > maxYamlBytes) {
    throw new MemoryError('too_large', `The record has more than ${maxYamlBytes} bytes of YAML.`);
  }
  // Between its two lines, front matter without a key is nothing at all.
  const text = file.framed && file.yaml === '{}\n' ? '' : file.yaml;
  const yaml = file.eol === '\n' ? text : text.replaceAll('\n', file.eol);
  const line = `---${file.eol}`;
  return file.bom + (file.framed ? line + yaml + line + file.body : yaml);
}
