import type { AnyRecordType } from '../../core/record/record-type.ts';

/** The format of a file of saved records, with its version. */
export const savedContent = ['records', 8];
/** A larger file is neither written nor read, in bytes. */
export const maxSavedBytes = 256 * 1024 * 1024;

/** The format of a file of common words, with its version, and the size from which it is not read, in bytes. */
export const commonContent = ['common', 1];
export const maxCommonBytes = 256 * 1024;

/** The sections of the records in the file, by position; a file that is too large lacks the last two. */
export const savedSections = {
  names: 0,
  paths: 1,
  keys: 2,
  created: 3,
  stats: 4,
  types: 5,
  folderOf: 6,
  folders: 7,
  blocks: 8,
  values: 9,
} as const;
/** The number of these sections; those of the search follow. */
export const recordSections = 10;

/** Identifies a record type in the file, with the folder that its records are in. */
export function typeMark({ name, folder }: Pick<AnyRecordType, 'name' | 'folder'>): string {
  return `${name} ${folder}`;
}
