import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { halfSurrogate, MemoryError } from '../values/error.ts';
import { illFormedTexts, type JsonObject, jsonText } from '../values/json.ts';
import { writeYaml } from '../yaml/writer.ts';
import {
  conflictMessage,
  hasConflictMarkers,
  maxYamlBytes,
  readYaml,
  rewriteYaml,
} from '../yaml/yaml.ts';
import { metadataText, setMetadata } from './metadata-text.ts';
import { arrange, conform, keepUnknown, unknownKeys } from './shape.ts';

/**
 * Converts the value of a record to the text of its file and back.
 *
 * Laws, tested for every record type: `decode(encode(x))` equals `x`; `encode(decode(t), t)` equals
 * `t` for every text that decodes; `encode` of equal values gives equal text.
 */
export interface Codec<T> {
  /** The field that is the text of a markdown file, below its front matter; absent for YAML. */
  readonly body?: string;
  /**
   * Returns the text of a record.
   *
   * @param previous the present text of the file, if it exists: keys and comments that a person added
   *   to it are kept.
   * @throws MemoryError `invalid_input` for a text with half of a surrogate pair.
   */
  encode(value: T, previous?: string): string;
  /**
   * Returns the value of a text.
   *
   * @param path path of the file, relative to `.memory-bank/`; only a type whose key is its path
   *   needs it.
   * @throws MemoryError `damaged` that says what is wrong and, if known, in which line; the caller
   *   adds the path.
   */
  decode(text: string, path: string): T;
}

/** Makes the codec of records that are YAML files. */
export function yamlCodec<T extends object>(schema: z.ZodType<T>): Codec<T> {
  return recordCodec(schema);
}

/**
 * Makes the codec of records that are markdown files.
 *
 * The file is YAML front matter between two lines `---`, followed by the text of one field.
 *
 * @param ending `exact`: the file ends as the text does. `newline`: the file ends in one newline, which is
 *   not part of the text; a text that itself ends in a line end is in the front matter.
 */
export function markdownCodec<T extends object>(
  schema: z.ZodType<T>,
  body: keyof T & string,
  ending: Ending = 'exact',
): Codec<T> {
  return recordCodec(schema, body, ending);
}

type Ending = 'exact' | 'newline';

function recordCodec<T extends object>(
  schema: z.ZodType<T>,
  body?: string,
  ending: Ending = 'exact',
): Codec<T> {
  const framed = body !== undefined;
  const read = (file: RecordFile): T => {
    const data = readValues(file.yaml);
    const text = ending === 'newline' ? file.body.replace(/\r?\n$/, '') : file.body;
    if (framed && (text !== '' || !Object.hasOwn(data, body))) data[body] = text;
    const value = conform(schema, data);
    const { metadata } = data;
    setMetadata(
      value,
      metadataText({ ...unknownKeys(schema, data), ...(metadata && { metadata }) }),
    );
    return value;
  };
  const isBody = (text: unknown): text is string =>
    typeof text === 'string' && (ending === 'exact' || !/[\r\n]$/.test(text));
  const bodyOf = (text: string, eol: string) =>
    ending === 'exact' || text === '' ? text : text + eol;
  return {
    ...(framed && { body }),
    decode: (text) => read(splitFile(text, framed)),
    encode(value, previous) {
      const record = arrange(schema, value);
      if (!illFormedTexts(record).next().done) throw halfSurrogate();
      const head = { ...record };
      let content = '';
      if (framed && isBody(record[body])) {
        content = record[body];
        delete head[body];
      }
      if (previous === undefined) {
        return joinFile({
          bom: '',
          eol: '\n',
          framed,
          yaml: writeYaml(head),
          body: bodyOf(content, '\n'),
        });
      }
      const file = splitFile(previous, framed);
      // A file with an equal value stays as it is, however a person wrote it.
      if (isDeepStrictEqual(arrange(schema, read(file)), record)) return previous;
      const yaml = rewriteYaml(file.yaml, keepUnknown(schema, head, readValues(file.yaml)));
      return joinFile({ ...file, yaml, body: bodyOf(content, file.eol) });
    },
  };
}

/** Reads YAML, with U+FFFD for each half of a surrogate pair: YAML can contain one as an escape. */
function readValues(yaml: string): JsonObject {
  const data = readYaml(yaml);
  const isWhole = !/\\[uU]/.test(yaml) || illFormedTexts(data).next().done;
  return isWhole ? data : JSON.parse(jsonText(data));
}

/** The parts of a record's file. */
interface RecordFile {
  /** The byte order mark, or an empty text. */
  readonly bom: string;
  /** The line end of the YAML part. */
  readonly eol: '\n' | '\r\n';
  /** Whether the YAML is front matter above a body. */
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
  // The search starts at the line end of the opening line, because the front matter may be empty.
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
  // A conflict may contain the closing line: its first marker is above it, the others below.
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
  // Front matter without keys is empty: there is nothing between its two lines.
  const text = file.framed && file.yaml === '{}\n' ? '' : file.yaml;
  const yaml = file.eol === '\n' ? text : text.replaceAll('\n', file.eol);
  const line = `---${file.eol}`;
  return file.bom + (file.framed ? line + yaml + line + file.body : yaml);
}
