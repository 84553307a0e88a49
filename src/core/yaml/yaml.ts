import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../error.ts';
import type { JsonObject } from '../json.ts';
import { editYaml } from './edit.ts';
import { ForeignYaml } from './foreign.ts';
import { readCanonicalYaml } from './reader.ts';
import { writeYaml } from './writer.ts';

/** The longest YAML record or front matter, in bytes of UTF-8. */
export const maxYamlBytes = 1024 * 1024;

/**
 * Reads a YAML text whose root is a map; an empty text is an empty map.
 *
 * What `writeYaml` wrote is read at once, anything else as `ForeignYaml`.
 *
 * @throws MemoryError `damaged` with the line, `conflict` when it holds conflict markers.
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
 * A text that says `value`, made from `previous` by changing what says something else: comments,
 * key order and quoting that a person chose stay wherever they can.
 *
 * @throws MemoryError as `readYaml` does, about `previous`.
 */
export function rewriteYaml(previous: string, value: JsonObject): string {
  const fresh = writeYaml(value);
  const canonical = readCanonicalYaml(checkSize(previous));
  if (canonical && writeYaml(canonical) === previous) return fresh;
  const text = previous.endsWith('\n') ? previous : `${previous}\n`;
  const edited = editYaml(text, readForeignYaml(previous), value);
  return edited !== undefined && says(edited, value) ? edited : fresh;
}

/** Whether a text was changed as it should be; where it was not, the value outranks the comments. */
function says(text: string, value: JsonObject): boolean {
  try {
    return isDeepStrictEqual(readYaml(text), value);
  } catch {
    return false;
  }
}

export const conflictMessage = 'a merge left conflict markers in the YAML';

/**
 * Whether a text holds the markers of a merge that was left unfinished, in their order and at the
 * beginning of lines.
 *
 * Markdown may show such markers in a code fence; this does not look for fences.
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
