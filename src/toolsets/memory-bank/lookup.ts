import type { Located } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { foldName } from '../../core/names/file-name.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import { type MemoryFile, memoryFile, nameProblem } from './memory-file.ts';

/** Core files with another name in older memory banks; either name finds the file. */
const olderNames = new Map([
  ['activeContext.md', 'active-context.md'],
  ['productContext.md', 'product-context.md'],
  ['decisionLog.md', 'decision-log.md'],
  ['systemPatterns.md', 'system-patterns.md'],
]);
const newerNames = new Map([...olderNames].map(([newer, older]) => [older, newer]));

/** Returns the name that older memory banks use for a core file, if it differs. */
export function olderName(name: string): string | undefined {
  return olderNames.get(name);
}

/** Returns the core file that older memory banks call by this name. */
export function newerName(name: string): string | undefined {
  return newerNames.get(name);
}

/**
 * Finds the file with this name.
 *
 * A core file is also found under its other name, and any file when its name on disk is in another
 * Unicode normal form.
 *
 * @throws MemoryError `invalid_input` when the name is not valid for a file of the memory bank.
 */
export async function find(
  reader: Reader,
  filename: string,
): Promise<Located<MemoryFile> | undefined> {
  const name = checked(filename);
  for (const one of [name, olderNames.get(name) ?? newerNames.get(name)]) {
    const found = one === undefined ? undefined : await reader.get(memoryFile, one);
    if (found) return found;
  }
  if (!/[^\0-\x7f]/.test(name)) return undefined;
  const { records } = await reader.list(memoryFile);
  return records.find(({ path }) => path.normalize() === name);
}

/**
 * Returns the path to write a file of this name to: the path of the existing file, or a new one.
 *
 * @throws MemoryError `already_exists` when some file systems could not keep it apart from an existing
 *   file, whose name differs only in letter case or Unicode normal form.
 */
export async function pathFor(reader: Reader, filename: string): Promise<string> {
  const name = checked(filename);
  for (const one of [filename, olderNames.get(name) ?? newerNames.get(name)]) {
    const found = one === undefined ? undefined : await reader.get(memoryFile, one);
    if (found) return found.path;
  }
  return placeFor(reader, filename);
}

/** Returns the path for a new file. */
async function placeFor(reader: Reader, filename: string): Promise<string> {
  const name = checked(filename);
  const { records, damaged } = await reader.list(memoryFile);
  for (const { path } of [...records, ...damaged]) {
    if (!collide(path, name)) continue;
    const form = path.normalize() === name;
    throw new MemoryError(
      'already_exists',
      `"${filename}" clashes with the existing file "${path}".`,
      {
        hint: form
          ? 'It is the same name in another Unicode normal form: use the name that list_memory_bank_files returns.'
          : 'Some file systems cannot keep both. Use the existing name or a different one.',
        data: { path },
      },
    );
  }
  return newerNames.get(name) ?? name;
}

/** Makes the error about a missing file, with a similar name as its hint. */
export async function notFound(reader: Reader, filename: string): Promise<MemoryError> {
  const wanted = foldName(filename);
  const { records } = await reader.list(memoryFile);
  const meant = records.find(({ path }) => foldName(path) === wanted)?.path;
  const hint =
    meant !== undefined
      ? `Did you mean "${meant}"?`
      : olderNames.has(filename) || filename === 'progress.md'
        ? 'The first write creates it; initialize_memory_bank creates all core files.'
        : records.length === 0
          ? 'The memory bank is empty; initialize_memory_bank creates its files.'
          : 'list_memory_bank_files returns the existing files.';
  return new MemoryError('not_found', `There is no file "${filename}".`, { hint });
}

function checked(filename: string): string {
  const name = filename.normalize();
  const problem = nameProblem(name);
  if (problem !== undefined) throw invalid(['filename'], problem);
  return name;
}

/** Whether two paths clash: on a file system that folds names, or as a file and a folder. */
function collide(path: string, other: string): boolean {
  const [a, b] = [path.split('/'), other.split('/')];
  for (const [i, segment] of b.entries()) {
    const existing = a[i];
    if (existing === undefined) return true;
    if (existing !== segment) return foldName(existing) === foldName(segment);
  }
  return a.length >= b.length;
}
