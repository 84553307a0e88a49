import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { errno, type Files } from '../disk/file-layer.ts';
import { RefTable, TableGoneError } from './ref-table.ts';
import { keyOf } from './table-bytes.ts';
import type { LogRecord, RefRecord } from './table-records.ts';

/** The file of a stack that lists its tables, the oldest first. */
export const listName = 'tables.list';

/** Limit of that file, in bytes. */
const maxList = 4 * 1024 * 1024;
/** Limit of the attempts to read a stack that other processes change meanwhile. */
const maxAttempts = 100;

/** A record and the table that has it. */
export interface FoundRef {
  readonly record: RefRecord;
  readonly table: RefTable;
}

/**
 * The tables of a folder: a record in a newer one replaces that of an older one.
 *
 * Another process can add tables and merge them at any moment. The list is therefore read at each look; it
 * has the random names of tables that never change.
 */
export class TableStack {
  readonly folder: string;
  readonly #files: Files;
  #list: string | undefined;
  #tables: readonly RefTable[] = [];

  /** @param folder that contains the list. */
  constructor(files: Files, folder: string) {
    [this.#files, this.folder] = [files, folder];
  }

  get listPath(): string {
    return join(this.folder, listName);
  }

  find(ref: string): FoundRef | undefined {
    return this.look((tables) => findRef(tables, ref));
  }

  /** The newest records of the refs whose names begin with a prefix. */
  list(prefix: string): RefRecord[] {
    return this.look((tables) => mergedRefs(tables, keyOf(prefix)));
  }

  /** The reflog of a ref, the newest line first. */
  log(ref: string, limit = Number.POSITIVE_INFINITY): LogRecord[] {
    return this.look((tables) => mergedLogs(tables, keyOf(ref), limit));
  }

  /**
   * Looks at the current tables, the oldest first; once more if one of them is gone.
   *
   * @throws MemoryError `damaged`.
   */
  look<T>(see: (tables: readonly RefTable[]) => T): T {
    for (let attempt = 1; ; attempt++) {
      try {
        return see(this.#current());
      } catch (error) {
        if (error instanceof RangeError) throw damaged(this.folder, error.message);
        if (!(error instanceof TableGoneError)) throw error;
        const isSame = this.#list === this.#listText();
        if (isSame || attempt === maxAttempts) throw damaged(this.folder, 'a table is missing');
      }
    }
  }

  #current(): readonly RefTable[] {
    const list = this.#listText();
    if (list === this.#list && this.#tables.length > 0) return this.#tables;
    this.#list = list;
    const known = new Map(this.#tables.map((table) => [table.path, table]));
    this.#tables = [];
    this.#tables = namesIn(list).map((name) => {
      const path = join(this.folder, name);
      return known.get(path) ?? this.#open(path, name);
    });
    return this.#tables;
  }

  #open(path: string, name: string): RefTable {
    try {
      return new RefTable(this.#files, path);
    } catch (error) {
      if (error instanceof RangeError) throw new RangeError(`${name}: ${error.message}`);
      throw error;
    }
  }

  #listText(): string {
    try {
      return this.#files.read(this.listPath, maxList)?.toString('latin1') ?? '';
    } catch (error) {
      if (errno(error) === 'EFBIG') throw damaged(this.folder, `${listName} is too long`);
      throw error;
    }
  }
}

/** The newest record of a ref; undefined if no table has one. */
export function findRef(tables: readonly RefTable[], ref: string): FoundRef | undefined {
  const key = keyOf(ref);
  for (let i = tables.length - 1; i >= 0; i--) {
    const table = tables[i];
    const record = table?.ref(key);
    if (table && record) return { record, table };
  }
  return undefined;
}

/** The newest records of refs by their keys, also those of removed ones. */
export function mergedRefs(tables: readonly RefTable[], prefix: string): RefRecord[] {
  const found = new Map<string, RefRecord>();
  for (const table of tables) {
    for (const record of table.refs(prefix)) found.set(record.key, record);
  }
  return [...found.values()];
}

/** The lines of the reflog of a ref, or of all refs, without those that were removed. */
export function mergedLogs(
  tables: readonly RefTable[],
  key: string | undefined,
  limit = Number.POSITIVE_INFINITY,
): LogRecord[] {
  const found = new Map<string, LogRecord>();
  for (const table of tables) {
    let count = 0;
    for (const record of table.log(key)) {
      found.set(record.key, record);
      if (++count >= limit) break;
    }
  }
  const sorted = [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return sorted.filter(({ entry }) => entry !== undefined).slice(0, limit);
}

/** The names of tables in a list. */
export function namesIn(list: string): string[] {
  const names = list.split('\n').filter(Boolean);
  const strange = names.find((name) => !/^[\w-][\w.-]*$/.test(name));
  if (strange !== undefined) throw new RangeError(`${listName} has a name that is not of a table`);
  return names;
}

function damaged(folder: string, reason: string): MemoryError {
  return new MemoryError('damaged', `The refs in ${folder} cannot be read: ${reason}.`, {
    hint: 'Run "git fsck" and "git refs verify". "git clone" of another copy has the refs as they were pushed.',
    data: { path: folder },
  });
}
