import { MemoryError } from '../../core/values/error.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { textParts } from '../../core/yaml/text-keys.ts';
import { writeYaml } from '../../core/yaml/writer.ts';
import { maxYamlBytes, readYaml } from '../../core/yaml/yaml.ts';

/** The key of a concept file that says which record it is. */
export const ownKey = 'memory_bank';

/** The record that a concept file is of. */
export interface ConceptRecord {
  /** The name of its type. */
  readonly record: string;
  readonly path: string;
  /** The front matter of its file with both of its lines, if it has one. */
  readonly head?: string;
  /** Whether the body ends in its whole text as a block of code, as that of a record in YAML does. */
  readonly fenced?: boolean;
}

/** A file of the Open Knowledge Format: the keys of its front matter, and the text below it. */
export interface ConceptFile {
  readonly keys: JsonObject;
  /** Undefined for a file of another program. */
  readonly own: ConceptRecord | undefined;
  readonly body: string;
}

/** Writes a concept file; undefined if its front matter would be larger than a reader takes. */
export function conceptText(keys: JsonObject, body: string): string | undefined {
  const yaml = writeYaml(keys);
  return Buffer.byteLength(yaml) > maxYamlBytes ? undefined : `---\n${yaml}---\n${body}`;
}

/**
 * Reads a concept file.
 *
 * @throws MemoryError `damaged` for a file without front matter or a type.
 */
export function readConcept(text: string): ConceptFile {
  const { head, yaml, body } = splitHead(text);
  if (head === undefined) throw new MemoryError('damaged', 'It has no front matter.');
  const { [ownKey]: own, ...keys } = readYaml(yaml.replaceAll('\r\n', '\n'));
  if (typeof keys.type !== 'string' || keys.type.trim() === '') {
    throw new MemoryError('damaged', 'Its front matter has no type.');
  }
  return { keys, own: recordOf(own), body };
}

function recordOf(own: JsonObject[string]): ConceptRecord | undefined {
  if (!isObject(own) || typeof own.record !== 'string' || typeof own.path !== 'string') {
    return undefined;
  }
  const { record, path, head, fenced } = own;
  return { record, path, fenced: fenced === true, ...(typeof head === 'string' && { head }) };
}

/** Splits a markdown text below its front matter; `head` is undefined without one. */
export function splitHead(text: string) {
  const { before, yaml, after } = textParts(text, true);
  if (before === '') return { head: undefined, yaml, body: text };
  const closing = /^---[ \t]*(?:\r?\n|$)/.exec(after)?.[0] ?? '';
  return { head: before + yaml + closing, yaml, body: after.slice(closing.length) };
}

/**
 * Reads the last block of code of a text.
 *
 * @throws MemoryError `damaged` if it does not end in one.
 */
export function lastFenced(body: string): string {
  const closing = /\n(`{3,})\s*$/.exec(body);
  const [, fence = ''] = closing ?? [];
  const end = closing?.index ?? 0;
  const start = `\n${body.slice(0, end)}`.lastIndexOf(`\n${fence}`);
  const first = body.indexOf('\n', start);
  if (fence === '' || start < 0 || first < 0) {
    throw new MemoryError('damaged', 'It does not end in the text of its record.');
  }
  return body.slice(first + 1, end);
}
