import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { MemoryError } from '../../../core/values/error.ts';
import { isObject } from '../../../core/values/json.ts';
import type { Language } from './language.ts';

/**
 * Sets keys of one table in a TOML text, or removes the table.
 *
 * Everything else stays as it is, byte for byte.
 *
 * @param path the keys of its header: `[mcp_servers.memory-bank]`.
 * @param value undefined removes the table.
 * @throws MemoryError `damaged` when the text is not TOML, or has the table in a form that cannot be
 *   edited line by line.
 */
export function editToml(text: string, path: readonly string[], value: object | undefined): string {
  const whole = read(text);
  const present = at(whole, path);
  const wanted = value && merged(present, value);
  if (isDeepStrictEqual(plain(present), plain(wanted))) return text;
  const name = path.join('.');
  const changed =
    value === undefined
      ? removeTable(text, name)
      : present === undefined
        ? addTable(text, name, value)
        : setKeys(text, name, present, value);
  // A text without a line end at its end stays so, so that undo restores it.
  const edited = text === '' || text.endsWith('\n') ? changed : changed.replace(/\r?\n$/, '');
  const after = read(edited);
  const isAsWanted = isDeepStrictEqual(plain(at(after, path)), plain(wanted));
  if (!isAsWanted || !isDeepStrictEqual(plain(others(after, path)), plain(others(whole, path)))) {
    throw new MemoryError('damaged', `"${name}" is not written as a table of its own`);
  }
  return edited;
}

/** TOML, the language of the configuration of Codex. */
export const toml: Language = { edit: editToml, read: (text, path) => at(read(text), path) };

function read(text: string): unknown {
  try {
    return parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : '';
    throw new MemoryError('damaged', why, { cause });
  }
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), value);
}

/** The value without the one at a path, and without the tables around it that are then empty. */
function others(value: unknown, [key = '', ...rest]: readonly string[]): unknown {
  if (!isObject(value)) return value;
  const { [key]: one, ...kept } = value;
  const inner = rest.length > 0 ? others(one, rest) : undefined;
  const isLeft = inner !== undefined && !(isObject(inner) && Object.keys(inner).length === 0);
  return isLeft ? { ...kept, [key]: inner } : kept;
}

/** The value as JSON has it: without the prototype that the parser gives its tables. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** The present value with the members of another one; undefined removes a member. */
function merged(present: unknown, value: object): object {
  const members = Object.entries(value).map(([key, one]) => {
    const old = at(present, [key]);
    const next = isObject(one) ? merged(old, one) : one;
    const isNothing = old === undefined && isObject(next) && Object.keys(next).length === 0;
    return [key, isNothing ? undefined : next] as const;
  });
  const all = { ...(isObject(present) && present), ...Object.fromEntries(members) };
  return Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined));
}

/** Sets the keys of a table; a value that is an object goes into its own table, or inside braces. */
function setKeys(text: string, name: string, present: unknown, value: object): string {
  return Object.entries(value).reduce((part, [key, one]) => {
    if (!isObject(one)) return setKey(part, name, key, one);
    const table = `${name}.${key}`;
    const old = at(present, [key]);
    if (hasHeader(part, table)) return setKeys(part, table, old, one);
    const whole = merged(old, one);
    return Object.keys(whole).length === 0 ? part : setKey(part, name, key, whole);
  }, text);
}

/** Whether a text has a table with a header of its own. */
function hasHeader(text: string, name: string): boolean {
  return headersOf(text.split(/(?<=\n)/)).includes(name);
}

/** A key with its value on one line; a table is inside braces. */
function drawn(key: string, value: unknown): string {
  if (!isObject(value)) return stringify({ [key]: value }).trimEnd();
  const inner = Object.entries(value).map(([name, one]) => drawn(name, one));
  return stringify({ [key]: 0 }).replace(/0\s*$/, () => `{ ${inner.join(', ')} }`);
}

function addTable(text: string, name: string, value: object): string {
  const eol = eolOf(text);
  const keys = Object.entries(value).map(([key, one]) => drawn(key, one));
  const table = [`[${name}]`, ...keys, ''].join(eol);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return text + gap + table;
}

/** Sets a key of a table on its own line, or else below the header; undefined removes it. */
function setKey(text: string, name: string, key: string, value: unknown): string {
  const lines = text.split(/(?<=\n)/);
  const headers = headersOf(lines);
  const from = headers.indexOf(name) + 1;
  if (from === 0) return text;
  const rest = headers.slice(from).findIndex((header) => header !== undefined);
  const to = rest < 0 ? lines.length : from + rest;
  const line = value === undefined ? [] : [drawn(key, value) + eolOf(text)];
  for (let start = from, end = from + 1; end <= to; end++) {
    const keys = keysOf(lines.slice(start, end).join(''));
    if (keys?.includes(key)) return lines.toSpliced(start, end - start, ...line).join('');
    // A value ends at the first line up to which the text can be parsed.
    if (keys) start = end;
  }
  return lines.toSpliced(from, 0, ...line).join('');
}

function keysOf(lines: string): string[] | undefined {
  try {
    return Object.keys(parse(lines));
  } catch {
    return undefined;
  }
}

/** The names of tables by the lines of their headers: a line in a text or list over several is none. */
function headersOf(lines: readonly string[]): (string | undefined)[] {
  let last = 0;
  return lines.map((line, i) => {
    const header = headerOf(line);
    // A part from a header to the next one can be parsed alone.
    if (header === undefined || !keysOf(lines.slice(last, i).join(''))) return undefined;
    last = i;
    return header;
  });
}

function headerOf(line: string): string | undefined {
  return /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1]?.replaceAll('"', '');
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** Removes a table and the tables below it: from their headers to the next header. */
function removeTable(text: string, name: string): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let inside = false;
  const headers = headersOf(lines);
  for (const [i, line] of lines.entries()) {
    const header = headers[i];
    if (header !== undefined) {
      const was = inside;
      inside = header === name || header.startsWith(`${name}.`);
      // Remove also the blank line before the table.
      if (inside && !was && /^\s*$/.test(kept.at(-1) ?? 'x')) kept.pop();
      if (!inside && was && kept.length > 0) kept.push('\n');
    }
    if (!inside) kept.push(line);
  }
  return kept.join('');
}
