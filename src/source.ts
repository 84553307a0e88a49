import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { MemoryError } from './core/error.ts';
import type { Format, Source } from './core/format.ts';

/** A larger file is refused, in bytes. */
const maxBytes = 256 * 1024 * 1024;
/** Limits of a folder that is read. */
const maxFiles = 50_000;
const maxDepth = 32;
/** How much of a folder is looked at for files whose name does not tell what they are: files, and bytes of each. */
const maxLooked = 256;
const maxLine = 64 * 1024;
/** Never part of a memory, and possibly huge. */
const skipped = new Set(['.git', 'node_modules']);

/** A source and the format that it is read by. */
export interface FoundSource {
  readonly format: Format;
  readonly source: Source;
  /** Absolute path. */
  readonly path: string;
}

/**
 * The sources at a path: what the path itself is, else what is in the usual places below it and what
 * files in it tell to be one.
 *
 * @param root the project, which names are relative to.
 * @param from the name of the only format to try; then the path need not look like it.
 * @throws MemoryError `not_found` when there is no such path or nothing in it, `invalid_input` for an
 *   unknown format.
 */
export function findSources(
  formats: readonly Format[],
  root: string,
  path: string,
  from: string | undefined,
): FoundSource[] {
  const wanted = formats.filter(({ name }) => from === undefined || name === from);
  if (wanted.length === 0) {
    throw new MemoryError('invalid_input', `There is no format "${from}".`, {
      hint: `The formats are: ${formats.map(({ name }) => name).join(', ')}.`,
    });
  }
  if (!existsSync(path)) throw new MemoryError('not_found', `There is nothing at ${path}.`);
  const sources: FoundSource[] = [];
  const look = (format: Format, at: string, forced: boolean) => {
    const entries = entriesOf(at);
    if (!entries || sources.some((one) => one.path === at && one.format === format)) return;
    if (forced || format.recognises(basename(at), entries)) {
      sources.push({ format, path: at, source: new DiskSource(at, nameOf(at, root), format) });
    }
  };
  for (const format of wanted) look(format, path, false);
  if (sources.length === 0 && from !== undefined)
    for (const format of wanted) look(format, path, true);
  // A folder that is a source itself is not searched for others.
  if (sources.length > 0 && !sources.every(({ format }) => format.shallow)) return sources;
  for (const format of wanted) {
    for (const place of format.places) look(format, resolve(path, place), false);
  }
  const telling = wanted.filter(({ recognisesLine }) => recognisesLine);
  for (const file of telling.length > 0 ? filesIn(path) : []) {
    const line = firstLine(file);
    for (const format of telling) {
      if (line !== undefined && format.recognisesLine?.(line)) look(format, file, true);
    }
  }
  if (sources.length > 0) return sources;
  throw new MemoryError('not_found', `There is nothing to import in ${path}.`, {
    hint: `Give a folder or file of one of these formats, or force one by --from: ${formats.map(({ name }) => name).join(', ')}.`,
  });
}

function nameOf(path: string, root: string): string {
  const name = relative(root, realpathSync(path)).split(sep).join('/');
  return name.startsWith('../') || name === '..' || isAbsolute(name) ? path : name || '.';
}

/** What lies directly in a folder, folders with `/` at the end; of a file, its name and its log's. */
function entriesOf(path: string): string[] | undefined {
  try {
    if (lstatSync(path).isFile()) return fileEntries(path);
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  } catch {
    return undefined;
  }
}

/** The first files of a folder by their absolute paths, sorted; of a file, itself. */
function filesIn(path: string): string[] {
  if (lstatSync(path).isFile()) return [path];
  const names = (entriesOf(path) ?? []).filter((entry) => !entry.endsWith('/'));
  return names
    .sort()
    .slice(0, maxLooked)
    .map((name) => join(path, name));
}

/** The first line of a file; undefined when it is longer than what is looked at, or cannot be read. */
function firstLine(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(maxLine);
      const text = bytes.toString('utf8', 0, readSync(file, bytes));
      const end = text.indexOf('\n');
      return end < 0 && fstatSync(file).size > maxLine ? undefined : text.split('\n', 1)[0];
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function fileEntries(path: string): string[] {
  const log = `${basename(path)}-wal`;
  return existsSync(join(dirname(path), log)) ? [basename(path), log] : [basename(path)];
}

/** A folder or file on disk; links are not followed. */
class DiskSource implements Source {
  readonly name: string;
  readonly files: readonly string[];
  readonly #folder: string;

  constructor(path: string, name: string, { shallow = false }: Format) {
    const single = lstatSync(path).isFile();
    this.name = name;
    this.#folder = single ? dirname(path) : path;
    this.files = single ? fileEntries(path) : walk(path, shallow);
  }

  bytes(file: string): Buffer {
    const path = join(this.#folder, file);
    try {
      const { size } = lstatSync(path);
      if (size > maxBytes) {
        throw new MemoryError('too_large', `It is ${size} bytes large; ${maxBytes} can be read.`);
      }
      return readFileSync(path);
    } catch (cause) {
      if (cause instanceof MemoryError) throw cause;
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
      throw new MemoryError('storage', `It cannot be read (${code}).`, { cause });
    }
  }

  text(file: string): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes(file));
    } catch (cause) {
      if (cause instanceof MemoryError) throw cause;
      throw new MemoryError('damaged', 'It is not UTF-8 text.', { cause });
    }
  }
}

function walk(folder: string, shallow: boolean): string[] {
  const files: string[] = [];
  const visit = (below: string, depth: number): void => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && !shallow && depth < maxDepth && !skipped.has(entry.name)) {
        visit(path, depth + 1);
      } else if (entry.isFile()) files.push(path);
      if (files.length > maxFiles) {
        throw new MemoryError('too_large', `${folder} has more than ${maxFiles} files.`);
      }
    }
  };
  visit('', 0);
  return files.sort();
}
