import { dirname, join } from 'node:path';
import type { Files } from '../../../git/disk/file-layer.ts';
import { maxTableBytes, WordTable } from './word-table.ts';

/** The place of the table in the package. */
const place = join('words', 'software.words');

let known: { readonly table: WordTable | undefined } | undefined;

/** Returns the table of word vectors that ships with the program; undefined if it cannot be used. */
export function shippedTable(files: Files): WordTable | undefined {
  known ??= { table: read(files) };
  return known.table;
}

/** Reads the nearest table above the program, that of its package. */
function read(files: Files): WordTable | undefined {
  try {
    let folder = import.meta.dirname;
    while (!files.lstat(join(folder, place)) && dirname(folder) !== folder)
      folder = dirname(folder);
    const bytes = files.read(join(folder, place), maxTableBytes);
    return bytes && WordTable.read(bytes);
  } catch {
    // The search then finds by words alone.
    return undefined;
  }
}
