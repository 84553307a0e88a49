import type { Oid } from './object.ts';

/** One line of a tree: a file, a folder, a link or a submodule. */
export interface TreeEntry {
  /** Octal, as the tree writes it: `100644`, `40000`. */
  readonly mode: string;
  readonly oid: Oid;
}

/** The mode of a folder in a tree. */
export const folderMode = '40000';

interface Place {
  readonly start: number;
  readonly end: number;
  readonly entry: TreeEntry;
}

/**
 * Trees are edited in their raw bytes: the user's other entries are never decoded, so that a name
 * in no known encoding or a mode that git no longer writes comes through untouched.
 */
export function findEntry(tree: Buffer, name: string): TreeEntry | undefined {
  return find(tree, Buffer.from(name, 'utf8'))?.entry;
}

/** The tree with one entry set, or taken out when `entry` is undefined. */
export function spliceTree(tree: Buffer, name: string, entry: TreeEntry | undefined): Buffer {
  const bytes = Buffer.from(name, 'utf8');
  const old = find(tree, bytes);
  const without = old ? Buffer.concat([tree.subarray(0, old.start), tree.subarray(old.end)]) : tree;
  if (!entry) return without;
  const at = insertionPoint(without, bytes, entry.mode);
  return Buffer.concat([
    without.subarray(0, at),
    Buffer.from(`${entry.mode} `, 'latin1'),
    bytes,
    Buffer.from([0]),
    Buffer.from(entry.oid, 'hex'),
    without.subarray(at),
  ]);
}

/** Every entry, names as UTF-8; for reading only. */
export function listTree(tree: Buffer): ({ readonly name: string } & TreeEntry)[] {
  const entries = [];
  for (const { name, mode, oidAt } of scan(tree)) {
    entries.push({
      name: name.toString('utf8'),
      mode,
      oid: tree.toString('hex', oidAt, oidAt + 20),
    });
  }
  return entries;
}

interface Scanned {
  readonly start: number;
  readonly mode: string;
  readonly name: Buffer;
  readonly oidAt: number;
}

function* scan(tree: Buffer): Generator<Scanned> {
  let start = 0;
  while (start < tree.length) {
    const space = tree.indexOf(0x20, start);
    const nul = tree.indexOf(0, space + 1);
    if (space < 0 || nul < 0 || nul + 21 > tree.length) throw new Error('a tree object is damaged');
    const mode = tree.toString('latin1', start, space);
    yield { start, mode, name: tree.subarray(space + 1, nul), oidAt: nul + 1 };
    start = nul + 21;
  }
}

function find(tree: Buffer, name: Buffer): Place | undefined {
  for (const item of scan(tree)) {
    if (!item.name.equals(name)) continue;
    const oid = tree.toString('hex', item.oidAt, item.oidAt + 20);
    return { start: item.start, end: item.oidAt + 20, entry: { mode: item.mode, oid } };
  }
  return undefined;
}

function insertionPoint(tree: Buffer, name: Buffer, mode: string): number {
  const key = sortKey(name, mode);
  for (const item of scan(tree)) {
    if (Buffer.compare(sortKey(item.name, item.mode), key) > 0) return item.start;
  }
  return tree.length;
}

/** Git sorts a folder as if its name ended in a slash. */
function sortKey(name: Buffer, mode: string): Buffer {
  return mode === folderMode ? Buffer.concat([name, Buffer.from('/')]) : name;
}
