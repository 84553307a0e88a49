import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../values/error.ts';
import type { JsonObject } from '../values/json.ts';
import { editYaml } from './edit.ts';
import { ForeignYaml } from './foreign.ts';
import { readCanonicalYaml } from './reader.ts';
import { writeYaml } from './writer.ts';

/** Maximum size of a YAML record or front matter, in bytes of UTF-8. */
export const maxYamlBytes = 1024 * 1024;

/**
 * Reads a YAML text whose root is a map; an empty text is an empty map.
 *
 * Text of `writeYaml` is read by the fast reader, any other text as `ForeignYaml`.
 *
 * @throws MemoryError `damaged` with the line, `conflict` when it contains conflict markers.
 */
export function readYaml(text: string): JsonObject {
  return readCanonicalYaml(checkSize(text)) ?? readForeignYaml(text).value();
}

function readForeignYaml(text: string): ForeignYaml {
  if (hasConflictMarkers(text)) throw new MemoryError('conflict', conflictMessage);
  return new ForeignYaml(text);
}

function checkSize(text: string): string {
  if (Buffer.byteLength(text) <= maxYamlBytes) return text;
  throw new MemoryError('damaged', `more than ${maxYamlBytes} bytes of YAML`);
}

/**
 * Writes a value by changing the parts of `previous` that differ.
 *
 * Comments, key order and quoting that a person chose are kept where possible.
 *
 * @throws MemoryError as `readYaml` does, about `previous`.
 */
export function rewriteYaml(previous: string, value: JsonObject): string {
  const fresh = writeYaml(value);
  const canonical = readCanonicalYaml(checkSize(previous));
  if (canonical && writeYaml(canonical) === previous) return fresh;
  const text = previous.endsWith('\n') ? previous : `${previous}\n`;
  const edited = editYaml(text, readForeignYaml(previous), value);
  return edited !== undefined && hasValue(edited, value) ? edited : fresh;
}

/** Whether a text reads back as the value. If not, the value is more important than the comments. */
function hasValue(text: string, value: JsonObject): boolean {
  try {
    return isDeepStrictEqual(readYaml(text), value);
  } catch {
    return false;
  }
}

export const conflictMessage = 'a merge left conflict markers in the YAML';

/**
 * Whether a text contains conflict markers in their order, each at the beginning of a line.
 *
 * Markers in a code fence of markdown also count.
 */
export function hasConflictMarkers(text: string): boolean {
  const ours = lineStart(text, '<<<<<<< ', 0);
  const middle = ours < 0 ? -1 : lineStart(text, '=======', ours);
  return middle >= 0 && lineStart(text, '>>>>>>> ', middle) >= 0;
}

function lineStart(text: string, marker: string, from: number): number {
  if (from === 0 && text.startsWith(marker)) return 0;
  const at = text.indexOf(`\n${marker}`, Math.max(0, from - 1));
  return at < 0 ? -1 : at + 1;
}
