import { MemoryError } from '../core/error.ts';
import type { Oid } from './object.ts';

/** One line of a tree: a file, a folder, a link or a submodule. */
export interface TreeEntry {
  /** Octal, as the tree writes it: `100644`, `40000`. */
  readonly mode: string;
  readonly oid: Oid;
}

/** The mode of a folder in a tree. */
export const folderMode = '40000';

/**
 * Trees are edited in their raw bytes: the user's other entries are never decoded, so that a name
 * in no known encoding or a mode that git no longer writes comes through untouched.
 */
export function findEntry(tree: Buffer, name: string): TreeEntry | undefined {
  const bytes = Buffer.from(name, 'utf8');
  for (const at = new Cursor(tree); !at.done; at.next()) {
    if (bytes.compare(tree, at.name, at.nameEnd) === 0) return at.entry();
  }
  return undefined;
}

/** The tree with entries set, or taken out where they are undefined. */
export function spliceTree(
  tree: Buffer,
  edits: Iterable<readonly [name: string, entry: TreeEntry | undefined]>,
): Buffer {
  const slots: { readonly key: Buffer; readonly line: Buffer | undefined }[] = [];
  for (const [name, entry] of edits) {
    const line = entry && formatEntry(name, entry);
    const folder = entry?.mode === folderMode;
    // A file and a folder of one name have two places; what is in the other one goes as well.
    slots.push({ key: Buffer.from(name, 'utf8'), line: folder ? undefined : line });
    slots.push({ key: Buffer.from(`${name}/`, 'utf8'), line: folder ? line : undefined });
  }
  slots.sort((a, b) => Buffer.compare(a.key, b.key));
  const pieces: Buffer[] = [];
  const at = new Cursor(tree);
  let copied = 0;
  for (const { key, line } of slots) {
    while (at.compare(key) < 0) at.next();
    pieces.push(tree.subarray(copied, at.start));
    if (line) pieces.push(line);
    if (at.compare(key) === 0) at.next();
    copied = at.start;
  }
  pieces.push(tree.subarray(copied));
  return Buffer.concat(pieces);
}

/** Every entry, names as UTF-8; for reading only. */
export function listTree(tree: Buffer): ({ readonly name: string } & TreeEntry)[] {
  const entries = [];
  for (const at = new Cursor(tree); !at.done; at.next()) {
    entries.push({ name: tree.toString('utf8', at.name, at.nameEnd), ...at.entry() });
  }
  return entries;
}

function formatEntry(name: string, { mode, oid }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'utf8'), Buffer.from(oid, 'hex')]);
}

/** Goes through a tree entry by entry, without an object for each: a folder may have thousands. */
class Cursor {
  /** Where the present entry, its name and the end of its name are; behind the last one all of it ends. */
  start = 0;
  name = 0;
  nameEnd = 0;
  readonly #tree: Buffer;

  constructor(tree: Buffer) {
    this.#tree = tree;
    this.#read();
  }

  get done(): boolean {
    return this.start === this.#tree.length;
  }

  next(): void {
    this.start = this.nameEnd + 21;
    this.#read();
  }

  entry(): TreeEntry {
    const oid = this.nameEnd + 1;
    return {
      mode: this.#tree.toString('latin1', this.start, this.name - 1),
      oid: this.#tree.toString('hex', oid, oid + 20),
    };
  }

  /** Where the entry stands beside a key: git sorts a folder as if its name ended in a slash. */
  compare(key: Buffer): number {
    if (this.done) return 1;
    const tree = this.#tree;
    const folder = tree[this.start] === 0x34;
    for (let i = 0; ; i++) {
      const at = this.name + i;
      const ours = at < this.nameEnd ? (tree[at] ?? 0) : at === this.nameEnd && folder ? 0x2f : -1;
      const theirs = key[i] ?? -1;
      if (ours !== theirs || ours === -1) return ours - theirs;
    }
  }

  #read(): void {
    const tree = this.#tree;
    if (this.start === tree.length) return;
    let at = this.start;
    while (at < tree.length && tree[at] !== 0x20) at += 1;
    this.name = at + 1;
    while (at < tree.length && tree[at] !== 0) at += 1;
    this.nameEnd = at;
    if (at + 21 > tree.length) {
      throw new MemoryError('damaged', 'A tree object of this repository is damaged.', {
        hint: 'Run "git fsck" to see what else is.',
      });
    }
  }
}
