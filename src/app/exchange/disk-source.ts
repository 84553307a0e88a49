import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { ExchangeFormat, Remark, Source } from '../../core/declarations/exchange-format.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Enclosure } from '../../git/repository/enclosure.ts';
import { composeLog } from '../../store/layout/entry-logs.ts';
import { hasEntryFiles, isEntryName, isEntryPath, logPaths } from '../../store/layout/log-paths.ts';

/** A larger file is refused, in bytes. */
export const maxBytes = 256 * 1024 * 1024;
/** Limits for reading a folder. */
export const maxFiles = 50_000;
const maxDepth = 32;
/** Limits for recognizing files by their content: number of files, and bytes of each. */
const maxLooked = 256;
const maxLine = 64 * 1024;
/** Limit of a line, in characters; a record has far fewer. */
export const maxLineLength = 16 * 1024 * 1024;
/** Folders that are never part of a memory and can be huge. */
const skipped = new Set(['.git', 'node_modules']);

/** A source that reports how much of it has been read, from 0 to 1. */
interface MeasuredSource extends Source {
  readonly share: number;
}

/** A source and its format. */
export interface FoundSource {
  readonly format: ExchangeFormat;
  readonly source: MeasuredSource;
  /** Absolute path, links resolved. */
  readonly path: string;
}

/** The result of a search for sources. */
export interface FoundSources {
  readonly sources: readonly FoundSource[];
  /** Usual locations that are not read, because a link leads out of the project. */
  readonly refused: readonly Remark[];
}

/**
 * Finds the sources at a path: the path itself, else those in the usual locations below it and
 * those that files in it show.
 *
 * @param root of the project; names are relative to it.
 * @param from the only format to try; the path need not look like it.
 * @throws MemoryError `not_found` if the path does not exist or has no source, `invalid_input` for an
 *   unknown format, `damaged` for a path in the project that leads out of it by a link.
 */
export function findSources(
  formats: readonly ExchangeFormat[],
  root: string,
  given: string,
  from: string | undefined,
): FoundSources {
  const wanted = formats.filter(({ name }) => from === undefined || name === from);
  if (wanted.length === 0) {
    throw new MemoryError('invalid_input', `There is no format "${from}".`, {
      hint: `The formats are: ${formats.map(({ name }) => name).join(', ')}.`,
    });
  }
  const enclosure = Enclosure.around(given, root);
  const path = enclosure.resolve(given);
  if (!existsSync(path)) throw new MemoryError('not_found', `There is nothing at ${given}.`);
  const sources: FoundSource[] = [];
  const refused = new Map<string, Remark>();
  const look = (format: ExchangeFormat, at: string, forced: boolean) => {
    const entries = entriesOf(at);
    if (!entries || sources.some((one) => one.path === at && one.format === format)) return;
    if (forced || format.recognises(basename(at), entries)) {
      sources.push({
        format,
        path: at,
        source: new DiskSource(enclosure, at, nameOf(at, root), format),
      });
    }
  };
  for (const format of wanted) look(format, path, false);
  if (sources.length === 0 && from !== undefined)
    for (const format of wanted) look(format, path, true);
  // A folder that is a source is not searched for more sources.
  if (sources.length > 0 && !sources.every(({ format }) => format.shallow))
    return { sources, refused: [] };
  for (const format of wanted) {
    for (const place of format.places) {
      const at = placeOf(enclosure, join(path, place), refused);
      if (at !== undefined) look(format, at, false);
    }
  }
  const byContent = wanted.filter(({ recognisesLine }) => recognisesLine);
  for (const file of byContent.length > 0 ? filesIn(path) : []) {
    const line = firstLine(enclosure, file);
    for (const format of byContent) {
      if (line !== undefined && format.recognisesLine?.(line)) look(format, file, true);
    }
  }
  if (sources.length + refused.size > 0) return { sources, refused: [...refused.values()] };
  throw new MemoryError('not_found', `There is nothing to import in ${path}.`, {
    hint: `Give a folder or file of one of these formats, or force one by --from: ${formats.map(({ name }) => name).join(', ')}.`,
  });
}

/** Returns the real path of a usual location; undefined, with a remark, if a link leads out. */
function placeOf(
  enclosure: Enclosure,
  path: string,
  refused: Map<string, Remark>,
): string | undefined {
  try {
    return enclosure.resolve(path);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const from = relative(enclosure.root, path).split(sep).join('/');
    refused.set(path, { from, message: error.text });
    return undefined;
  }
}

function nameOf(path: string, root: string): string {
  const name = relative(root, realpathSync(path)).split(sep).join('/');
  return name.startsWith('../') || name === '..' || isAbsolute(name) ? path : name || '.';
}

/** Lists the entries of a folder, folders with `/` at the end; for a file, its name and that of its log. */
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

/** Lists the first files of a folder by absolute path, sorted; for a file, the file itself. */
function filesIn(path: string): string[] {
  if (lstatSync(path).isFile()) return [path];
  const names = (entriesOf(path) ?? []).filter((entry) => !entry.endsWith('/'));
  return names
    .sort()
    .slice(0, maxLooked)
    .map((name) => join(path, name));
}

/** Returns the first line of a file; undefined if it is too long or cannot be read. */
function firstLine(enclosure: Enclosure, path: string): string | undefined {
  try {
    const head = enclosure.head(path, maxLine);
    const [line, ...others] = head?.bytes.toString('utf8').split('\n') ?? [];
    return others.length === 0 && head && head.size > maxLine ? undefined : line;
  } catch {
    return undefined;
  }
}

function fileEntries(path: string): string[] {
  const log = `${basename(path)}-wal`;
  const isThere = lstatSync(join(dirname(path), log), { throwIfNoEntry: false })?.isFile();
  return isThere ? [basename(path), log] : [basename(path)];
}

/** A folder or file on disk; links are not followed. */
class DiskSource implements MeasuredSource {
  readonly name: string;
  readonly files: readonly string[];
  readonly #enclosure: Enclosure;
  readonly #folder: string;
  /** The logs of a memory whose entries are files of their own. */
  readonly #logs = new Map<string, string>();
  /** The number of files read, with the fraction of the current one. */
  #read = 0;

  constructor(
    enclosure: Enclosure,
    path: string,
    name: string,
    { shallow = false }: ExchangeFormat,
  ) {
    const single = lstatSync(path).isFile();
    this.name = name;
    this.#enclosure = enclosure;
    this.#folder = single ? dirname(path) : path;
    const files = single ? fileEntries(path) : walk(path, shallow);
    if (!single) this.#composeLogs(files);
    const others = files.filter((file) => this.#logs.size === 0 || !isEntryPath(file));
    this.files = [...new Set([...others, ...this.#logs.keys()])].sort();
  }

  /** Reads the logs of a memory that stores their entries as files. */
  #composeLogs(files: readonly string[]): void {
    const read = (file: string) => {
      const bytes = this.bytes(file);
      if (!isUtf8(bytes)) throw new MemoryError('damaged', `${file} is not UTF-8 text.`);
      return bytes.toString('utf8');
    };
    const stored = {
      text: (file: string) => (files.includes(file) ? read(file) : undefined),
      entries: (folder: string) =>
        files
          .filter((file) => file.startsWith(`${folder}/`) && isEntryName(basename(file)))
          .map((file) => ({ name: file.slice(folder.length + 1), text: read(file) })),
    };
    if (!hasEntryFiles(stored.text('config.yaml'))) return;
    for (const path of logPaths) {
      const text = composeLog(stored, path);
      if (text !== undefined) this.#logs.set(path, text);
    }
  }

  get share(): number {
    return Math.min(1, this.#read / Math.max(1, this.files.length));
  }

  bytes(file: string): Buffer {
    this.#read += 1;
    const log = this.#logs.get(file);
    if (log !== undefined) return Buffer.from(log);
    const bytes = this.#enclosure.read(join(this.#folder, file), maxBytes);
    if (bytes === undefined) throw new MemoryError('storage', 'It is gone.');
    return bytes;
  }

  *lines(file: string): Iterable<string> {
    const decode = utf8Decoder();
    const before = this.#read;
    let begun = '';
    for (const { bytes, share } of this.#enclosure.pieces(join(this.#folder, file), maxBytes)) {
      const [first = '', ...others] = decode(bytes).split('\n');
      this.#read = before + share;
      begun += first;
      if (begun.length > maxLineLength) {
        throw new MemoryError('too_large', `A line has more than ${maxLineLength} characters.`);
      }
      const last = others.pop();
      if (last === undefined) continue;
      yield begun;
      yield* others;
      begun = last;
    }
    yield begun + decode(undefined);
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

/** Decodes a text in pieces; undefined ends it, and then its last character must be complete. */
function utf8Decoder(): (piece: Uint8Array | undefined) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (piece) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (cause) {
      throw new MemoryError('damaged', 'It is not UTF-8 text.', { cause });
    }
  };
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
