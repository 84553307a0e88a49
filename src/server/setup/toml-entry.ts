import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { MemoryError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import type { Language } from './client.ts';

/**
 * A TOML text with one table set or removed; everything else stays as it is, byte for byte.
 *
 * @param path the keys of its header: `[mcp_servers.memory-bank]`.
 * @param value undefined removes it.
 * @throws MemoryError `damaged` when the text is no TOML, or has the table in a form that cannot be
 *   edited by its lines.
 */
export function editToml(text: string, path: readonly string[], value: object | undefined): string {
  const present = at(read(text), path);
  if (value === undefined ? present === undefined : isDeepStrictEqual(plain(present), value)) {
    return text;
  }
  const name = path.join('.');
  const without = present === undefined ? text : removeTable(text, name);
  if (at(read(without), path) !== undefined) {
    throw new MemoryError('damaged', `"${name}" is not written as a table of its own`);
  }
  if (value === undefined) return without;
  const eol = without.includes('\r\n') ? '\r\n' : '\n';
  const table = `[${name}]\n${stringify(value).trimEnd()}\n`.replaceAll('\n', eol);
  const gap = without === '' ? '' : without.endsWith('\n') ? eol : eol + eol;
  return without + gap + table;
}

/** TOML, as Codex keeps it. */
export const toml: Language = { edit: editToml, read: (text, path) => at(read(text), path) };

function read(text: string): unknown {
  try {
    return parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : '';
    throw new MemoryError('damaged', why, { cause });
  }
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), value);
}

/** The value as JSON has it: without the prototype that the parser gives its tables. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** The text without a table and the tables below it: from their headers to the next header. */
function removeTable(text: string, name: string): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let inside = false;
  for (const line of lines) {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1]?.replaceAll('"', '');
    if (header !== undefined) {
      const was = inside;
      inside = header === name || header.startsWith(`${name}.`);
      // The blank line that stood before the table goes with it.
      if (inside && !was && /^\s*$/.test(kept.at(-1) ?? 'x')) kept.pop();
      if (!inside && was && kept.length > 0) kept.push('\n');
    }
    if (!inside) kept.push(line);
  }
  return kept.join('');
}
