import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../values/json.ts';
import { textKeys } from '../yaml/text-keys.ts';
import { mayHaveStatements, statementLine } from './annotations.ts';
import { inlinePattern as inline } from './inline-pattern.ts';

/** The content of a record, without its annotations except for its verification. */
export interface Statement {
  /** The keys of its YAML. */
  readonly keys: JsonObject;
  readonly body: string;
  /** The parts of its markdown. */
  readonly sections: ReadonlySet<string>;
}

/** Reads the content of a record; undefined if its keys cannot be read. */
export function statementOf(path: string, text: string): Statement | undefined {
  const markdown = path.endsWith('.md');
  const { yaml, data } = textKeys(text, markdown);
  if (yaml !== '' && Object.keys(data).length === 0) return undefined;
  const { evidence, supersedes, superseded_by, expires, claim, ...keys } = data;
  const { body, sections } = partsOf(path, text);
  if (!markdown) return { keys, body, sections: new Set() };
  return { keys, body: withoutAnnotations(body), sections: new Set(sections.map(sectionText)) };
}

/** Whether two texts of a record say and verify the same: they differ in other annotations only. */
export function saysTheSame(path: string, one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [one, other].map((text) => statementOf(path, text));
  return a !== undefined && b !== undefined && isSame(a, b);
}

/** Whether both versions of a record contain a section, and verify the same. */
export function bothSay(one: Statement, other: Statement, section: string): boolean {
  if (!one.sections.has(section) || !other.sections.has(section)) return false;
  return isDeepStrictEqual(one.keys, other.keys);
}

function isSame(one: Statement, other: Statement): boolean {
  return one.body === other.body && isDeepStrictEqual(one.keys, other.keys);
}

/**
 * Divides a record into its YAML and the sections of its markdown, each from its heading to the next one.
 *
 * A line of code that looks like a heading also divides: the parts only have to be the same for the same
 * text.
 */
export function partsOf(path: string, text: string) {
  const { yaml, after } = textKeys(text, path.endsWith('.md'));
  const body = after.replace(/^---[ \t]*\r?\n/, '');
  return { yaml, body, sections: path.endsWith('.md') ? body.split(/^(?=#{1,6}[ \t])/m) : [] };
}

/** The statement of a section, in the form in which two versions are compared. */
export function sectionText(section: string): string {
  return withoutAnnotations(section).trim();
}

function withoutAnnotations(text: string): string {
  const plain = text.replace(inline, '');
  const rest = mayHaveStatements(plain) ? plain.replace(statementLine, '') : plain;
  return rest.replace(/(?:\r?\n){2,}/g, '\n\n');
}
