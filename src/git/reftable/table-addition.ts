import { basename, join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import type { RefTable } from './ref-table.ts';
import { keyOf, logSuffix } from './table-bytes.ts';
import type { LogRecord, ReflogEntry, RefRecord } from './table-records.ts';
import { listName, mergedLogs, mergedRefs, type TableStack } from './table-stack.ts';
import { encodeTable } from './table-writer.ts';

/** A change of one ref in a stack. */
export interface TableChange {
  readonly format: ObjectFormat;
  /** The ref that gets another value; undefined for lines of a reflog only. */
  readonly ref?: string;
  /** Its new value, as `RefRecord.value`. */
  readonly value?: string | undefined;
  /** The lines for reflogs, the oldest first. */
  readonly lines?: readonly ReflogEntry[];
  /** The refs whose reflogs get them. */
  readonly logged?: readonly string[];
}

/** A new table at the top of a stack, and the list with it. */
export interface TableAddition {
  readonly name: string;
  readonly bytes: Buffer;
  readonly list: Buffer;
  /** The names in the list before it. */
  readonly names: readonly string[];
  /** The tables that it replaces. */
  readonly replaced: readonly RefTable[];
}

/** Limit of the tables that are merged into a new one, in bytes: git waits for the list only 0.1 seconds. */
const maxMerged = 256 * 1024;

/**
 * Plans the next table of a stack, whose list is locked.
 *
 * The newest tables are merged into it, as git does it after a change of its own: each table that stays is
 * at least twice as large as all newer ones together.
 */
export function planAddition(files: Files, stack: TableStack, change: TableChange): TableAddition {
  return stack.look((tables) => {
    const { format, lines = [], logged = [] } = change;
    const first = (tables.at(-1)?.last ?? 0) + 1;
    const last = first + Math.max(lines.length, 1) - 1;
    const refs: RefRecord[] =
      change.ref === undefined
        ? []
        : [{ key: keyOf(change.ref), index: last, value: change.value }];
    const isRemoved = change.ref !== undefined && change.value === undefined;
    const gone = isRemoved ? mergedLogs(tables, keyOf(change.ref ?? '')) : [];
    const logs: LogRecord[] = [
      ...gone.map(({ key, index }) => ({ key, index, entry: undefined })),
      ...logged.flatMap((ref) =>
        lines.map((entry, i) => {
          return { key: keyOf(ref) + logSuffix(first + i), index: first + i, entry };
        }),
      ),
    ];
    const alone = encodeTable({ format, first, last, refs, logs: sorted(logs) });
    const start = mergedFrom(files, tables, alone.length);
    const merged = tables.slice(start);
    const from = merged[0]?.first ?? first;
    const bytes =
      merged.length === 0
        ? alone
        : merge(merged, start === 0, { refs, logs }, { format, first: from, last });
    const name = tableName(from, last);
    const names = tables.map(({ path }) => basename(path));
    const list = Buffer.from(`${[...names.slice(0, start), name].join('\n')}\n`);
    return { name, bytes, list, names, replaced: merged };
  });
}

/** The index of the first table that a new one of some size replaces. */
function mergedFrom(files: Files, tables: readonly RefTable[], size: number): number {
  let sum = size;
  for (let i = tables.length; ; i--) {
    const table = tables[i - 1];
    const isKept = !table || table.size >= 2 * sum || table.size + sum > maxMerged;
    // Another process merges it at the moment.
    if (isKept || files.lstat(`${table.path}.lock`)) return i;
    sum += table.size;
  }
}

function merge(
  tables: readonly RefTable[],
  isAll: boolean,
  added: { readonly refs: readonly RefRecord[]; readonly logs: readonly LogRecord[] },
  about: { readonly format: ObjectFormat; readonly first: number; readonly last: number },
): Buffer {
  const refs = byKey([...mergedRefs(tables, ''), ...added.refs]);
  const logs = byKey([...tables.flatMap((table) => [...table.log()]), ...added.logs]);
  // A removal hides older tables, if there are any.
  return encodeTable({
    ...about,
    refs: isAll ? refs.filter(({ value }) => value !== undefined) : refs,
    logs: isAll ? logs.filter(({ entry }) => entry !== undefined) : logs,
  });
}

/** The last record of each key, sorted. */
function byKey<T extends { readonly key: string }>(records: readonly T[]): T[] {
  return sorted([...new Map(records.map((record) => [record.key, record])).values()]);
}

function sorted<T extends { readonly key: string }>(records: readonly T[]): T[] {
  return [...records].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Whether a text is the name of a table. */
export function isTableName(text: string): boolean {
  return /^0x[0-9a-f]{12}-0x[0-9a-f]{12}-[0-9a-f]{8}\.ref$/.test(text);
}

/** The name of a table as git chooses it. */
export function tableName(first: number, last: number): string {
  const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');
  // Loading the cryptography of node for a name would delay a short process.
  const random = hex(Math.floor(Math.random() * 2 ** 32), 8);
  return `0x${hex(first, 12)}-0x${hex(last, 12)}-${random}.ref`;
}

/**
 * Removes the tables of a folder that its list does not have: of a process that died, or merged since. The
 * caller holds the lock of the list, under which alone tables are added.
 *
 * @param names in the list.
 */
export function sweepTables(disk: Disk, folder: string, names: readonly string[]): void {
  for (const { name } of disk.files.list(folder) ?? []) {
    if (name.endsWith('.ref') && !names.includes(name)) disk.tryDiscard(join(folder, name));
  }
}

/** The files of a new stack of a work tree whose HEAD names a branch, by their names in the git directory. */
export function newStack(format: ObjectFormat, ref: string): [string, Buffer][] {
  const name = tableName(1, 1);
  const refs = [{ key: 'HEAD', index: 1, value: `ref: ${ref}` }];
  const table = encodeTable({ format, first: 1, last: 1, refs, logs: [] });
  return [
    [`reftable/${name}`, table],
    [`reftable/${listName}`, Buffer.from(`${name}\n`)],
    // Programs that do not know tables take the folder for a git directory, and find no branch in it.
    ['refs/heads', Buffer.from('this repository uses the reftable format\n')],
    ['HEAD', Buffer.from('ref: refs/heads/.invalid\n')],
  ];
}
