import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../values/json.ts';
import { writeYaml } from './writer.ts';
import { readYaml, rewriteYaml } from './yaml.ts';

/** A text as its YAML, which is its front matter or all of it, and the text around it. */
export interface TextParts {
  /** Up to and with the opening line; empty without front matter. */
  readonly before: string;
  readonly yaml: string;
  readonly after: string;
}

export interface TextKeys extends TextParts {
  /** Empty if the YAML cannot be read. */
  readonly data: JsonObject;
}

/** Splits a text and reads its YAML. */
export function textKeys(text: string, markdown = false): TextKeys {
  const parts = textParts(text, markdown);
  return { ...parts, data: parts.yaml === '' ? {} : dataOf(parts.yaml) };
}

/** The beginning of YAML with keys, after blank lines and comments, or the end of empty front matter. */
const keyed =
  /^(?:[ \t]*(?:#.*)?\r?\n)*(?:(?:[\p{L}\p{N}_][^:\r\n]{0,200}|"[^"\n]*"|'[^'\n]*')[ \t]*:(?:\s|$)|<{7} |---[ \t]*(?:\r?\n|$))/u;

/** Splits a text; markdown without front matter has no YAML. A `---` can also be a thematic break. */
export function textParts(text: string, markdown = false): TextParts {
  const before = /^\ufeff?---[ \t]*\r?\n/.exec(text)?.[0] ?? '';
  const rest = text.slice(before.length);
  const closing = before === '' ? undefined : /^---[ \t]*\r?$/m.exec(rest)?.index;
  if (markdown && (closing === undefined || !keyed.test(rest))) {
    return { before: '', yaml: '', after: text };
  }
  const end = closing || rest.length;
  return { before, yaml: rest.slice(0, end), after: rest.slice(end) };
}

/** Sets keys in the YAML of a text; undefined removes a key. Markdown gets front matter if it has none. */
export function withKeys(text: string, keys: JsonObject, markdown = false): string {
  const { before, yaml, after, data } = textKeys(text, markdown);
  const wanted = Object.fromEntries(
    [...new Map([...Object.entries(data), ...Object.entries(keys)])].filter(
      ([, value]) => value !== undefined,
    ),
  );
  if (isDeepStrictEqual(wanted, data)) return text;
  const rewritten = yaml === '' ? writeYaml(wanted) : rewriteYaml(unix(yaml), wanted);
  if (markdown && before === '') return `---\n${rewritten}---\n${after}`;
  if (markdown && Object.keys(wanted).length === 0) return after.replace(/^---[ \t]*\r?\n/, '');
  return before + (yaml.includes('\r\n') ? rewritten.replaceAll('\n', '\r\n') : rewritten) + after;
}

/** Reads YAML; empty if the text is not YAML, such as markdown that is a record as a whole. */
function dataOf(yaml: string): JsonObject {
  try {
    return readYaml(unix(yaml));
  } catch {
    return {};
  }
}

function unix(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
