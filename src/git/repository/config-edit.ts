import { dirname } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { storageError } from '../disk/storage-error.ts';
import { busy, waitFor } from '../locks/lock.ts';
import { maxConfigSize } from './config.ts';
import { endsInBackslash } from './config-text.ts';

/** A section of a git configuration, `[name "subsection"]`; without settings it does not exist. */
export interface ConfigSection {
  /** In lower case. */
  readonly name: string;
  readonly subsection: string;
  readonly settings: { readonly [setting: string]: string };
}

/** How long to wait for the lock of another process, in milliseconds. */
const lockTimeout = 5000;
const headerLine = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;

/**
 * Returns a configuration text in which a section has exactly these settings.
 *
 * The section stays at its first position, or is added at the end. Comments between its settings are
 * lost; everything else stays.
 */
export function replaceSection(text: string, section: ConfigSection): string {
  const lines: string[] = [];
  let place: number | undefined;
  let isInside = false;
  let isContinued = false;
  // Comments and blank lines belong to the section only if a setting follows.
  let loose: string[] = [];
  for (const line of text.split(/(?<=\n)/)) {
    const header = isContinued ? undefined : headerLine.exec(line);
    if (header) {
      lines.push(...loose);
      loose = [];
      isInside = isHeaderOf(section, header);
    }
    const isLoose: boolean = !isContinued && /^(?:[#;]|$)/.test(line.trim());
    if (!isInside) lines.push(line);
    else if (isLoose) loose.push(line);
    else {
      place ??= lines.length;
      loose = [];
    }
    isContinued = !isLoose && endsInBackslash(line.trimEnd());
  }
  lines.push(...loose);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const added = writeSection(section).replaceAll('\n', eol);
  if (place !== undefined) lines.splice(place, 0, added);
  else if (added !== '') lines.push(/[^\n]$/.test(text) ? eol + added : added);
  return lines.join('');
}

/**
 * Writes a section of a configuration file, under git's lock of that file.
 *
 * @param path of a file that may be missing; a link is followed.
 * @returns whether the file had to be changed.
 * @throws MemoryError `busy` when another process holds the lock, `storage`; nothing has changed then.
 */
export async function editConfig(
  disk: Disk,
  path: string,
  section: ConfigSection,
): Promise<boolean> {
  const { files } = disk;
  const target = files.realpath(path) ?? path;
  const lock = `${target}.lock`;
  try {
    const fd = await waitFor(
      () => createNew(disk, lock),
      { limit: lockTimeout },
      () => busy(lock),
    );
    let isFilled = false;
    try {
      // Bytes that are not UTF-8 stay unchanged.
      const before = files.read(target, maxConfigSize)?.toString('latin1') ?? '';
      const after = replaceSection(before, inBytes(section));
      if (after === before) return false;
      disk.setMode(fd, files.lstat(target)?.mode ?? 0o644);
      files.write(fd, [Buffer.from(after, 'latin1')]);
      await disk.sync(fd, 'data');
      isFilled = true;
    } finally {
      close(disk, fd, lock, isFilled ? target : undefined);
    }
    await disk.settle([dirname(target)]);
    return true;
  } catch (error) {
    throw storageError(error, `change ${target}`);
  }
}

/** The section with one character for each byte of its values, as the rest of a file is read. */
export function inBytes({ name, subsection, settings }: ConfigSection): ConfigSection {
  const toBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
  const values = Object.entries(settings).map(([key, value]) => [key, toBytes(value)] as const);
  return { name, subsection: toBytes(subsection), settings: Object.fromEntries(values) };
}

/** Creates and opens a file; undefined if it exists. */
function createNew(disk: Disk, path: string): number | undefined {
  try {
    return disk.files.open(path, 'wx', 0o666);
  } catch (error) {
    if (errno(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/** Closes a lock and renames it to its target, or removes it. */
function close(disk: Disk, fd: number, lock: string, target: string | undefined): void {
  try {
    disk.files.close(fd);
    if (target !== undefined) disk.files.rename(lock, target);
    else disk.discard(lock);
  } catch (error) {
    disk.tryDiscard(lock);
    throw error;
  }
}

function isHeaderOf({ name, subsection }: ConfigSection, header: RegExpExecArray): boolean {
  const [, found = '', below] = header;
  if (below === undefined) return found.toLowerCase() === `${name}.${subsection.toLowerCase()}`;
  return found.toLowerCase() === name && below.replace(/\\(.)/g, '$1') === subsection;
}

function writeSection({ name, subsection, settings }: ConfigSection): string {
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const lines = Object.entries(settings).map(([key, value]) => `\t${key} = ${quoted(value)}\n`);
  return lines.length === 0 ? '' : `[${name} ${quoted(subsection)}]\n${lines.join('')}`;
}
