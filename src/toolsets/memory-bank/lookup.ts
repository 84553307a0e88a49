import { invalid, MemoryError } from '../../core/error.ts';
import { foldName } from '../../core/names/file-name.ts';
import type { Located, Reader } from '../../core/store.ts';
import { type MemoryFile, memoryFile, nameProblem } from './memory-file.ts';

/** The core files that older banks name otherwise: either name finds the file (3.4). */
const olderNames = new Map([
  ['activeContext.md', 'active-context.md'],
  ['productContext.md', 'product-context.md'],
  ['decisionLog.md', 'decision-log.md'],
  ['systemPatterns.md', 'system-patterns.md'],
]);
const newerNames = new Map([...olderNames].map(([newer, older]) => [older, newer]));

/** What older banks call a core file, where that is not its name. */
export function olderName(name: string): string | undefined {
  return olderNames.get(name);
}

/** What a core file is called that older banks name so. */
export function newerName(name: string): string | undefined {
  return newerNames.get(name);
}

/**
 * The file with this name: a core file also under its other name, any file also when its name on disk
 * is in another Unicode normal form.
 *
 * @throws MemoryError `invalid_input` for what can be no name of a file of the bank.
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
 * The path to write a file of this name to: of the one that is there, or a new one.
 *
 * @throws MemoryError `already_exists` when some file systems would take it for another file that is
 *   there, in another letter case or Unicode normal form.
 */
export async function pathFor(reader: Reader, filename: string): Promise<string> {
  const name = checked(filename);
  for (const one of [filename, olderNames.get(name) ?? newerNames.get(name)]) {
    const found = one === undefined ? undefined : await reader.get(memoryFile, one);
    if (found) return found.path;
  }
  return placeFor(reader, filename);
}

/** The path for a new file. */
async function placeFor(reader: Reader, filename: string): Promise<string> {
  const name = checked(filename);
  const { records, damaged } = await reader.list(memoryFile);
  for (const { path } of [...records, ...damaged]) {
    if (!collide(path, name)) continue;
    const form = path.normalize() === name;
    throw new MemoryError('already_exists', `"${filename}" cannot stand beside "${path}".`, {
      hint: form
        ? 'It is the same name in another Unicode normal form: use the name that is there, as list_memory_bank_files writes it.'
        : 'Some file systems would take them for the same; use the name that is there, or another one.',
      data: { path },
    });
  }
  return newerNames.get(name) ?? name;
}

/** Why there is no such file, with a name that may have been meant. */
export async function notFound(reader: Reader, filename: string): Promise<MemoryError> {
  const wanted = foldName(filename);
  const { records } = await reader.list(memoryFile);
  const meant = records.find(({ path }) => foldName(path) === wanted)?.path;
  const hint =
    meant !== undefined
      ? `Did you mean "${meant}"?`
      : records.length === 0
        ? 'The memory bank is empty: initialize_memory_bank makes its files.'
        : 'See list_memory_bank_files for the files that there are.';
  return new MemoryError('not_found', `There is no file "${filename}".`, { hint });
}

function checked(filename: string): string {
  const name = filename.normalize();
  const problem = nameProblem(name);
  if (problem !== undefined) throw invalid(['filename'], problem);
  return name;
}

/** Whether two paths want one name for two things: as twins for some file systems, or as file and folder. */
function collide(path: string, other: string): boolean {
  const [a, b] = [path.split('/'), other.split('/')];
  for (const [i, segment] of b.entries()) {
    const beside = a[i];
    if (beside === undefined) return true;
    if (beside !== segment) return foldName(beside) === foldName(segment);
  }
  return a.length >= b.length;
}
