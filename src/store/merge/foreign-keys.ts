import { isDeepStrictEqual } from 'node:util';
import type { Codec } from '../../core/codec.ts';
import type { JsonObject } from '../../core/json.ts';
import { readYaml, rewriteYaml } from '../../core/yaml/yaml.ts';

/**
 * The keys in the YAML of a record that its schema does not know, with their values.
 *
 * Rewriting the record from its value would lose them.
 */
export function foreignKeys(codec: Codec<object>, text: string, value: object): JsonObject {
  const written = yamlOf(codec.encode(value)).data;
  const { data } = yamlOf(text);
  return Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(written, key)));
}

/** Sets keys in the YAML of a record's text; undefined removes a key. */
export function withKeys(text: string, keys: JsonObject): string {
  const { before, yaml, after, data } = yamlOf(text);
  const wanted = Object.fromEntries(
    [...new Map([...Object.entries(data), ...Object.entries(keys)])].filter(
      ([, value]) => value !== undefined,
    ),
  );
  if (isDeepStrictEqual(wanted, data)) return text;
  const rewritten = rewriteYaml(unix(yaml), wanted);
  return before + (yaml.includes('\r\n') ? rewritten.replaceAll('\n', '\r\n') : rewritten) + after;
}

/** Splits a text into its YAML, which is its front matter or all of it, and the text around it. */
function yamlOf(text: string) {
  const before = /^\ufeff?---[ \t]*\r?\n/.exec(text)?.[0] ?? '';
  const rest = text.slice(before.length);
  const end = (before && /^---[ \t]*\r?$/m.exec(rest)?.index) || rest.length;
  const yaml = rest.slice(0, end);
  return { before, yaml, after: rest.slice(end), data: dataOf(yaml) };
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
