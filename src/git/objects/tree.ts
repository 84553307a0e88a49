import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from './object.ts';
import type { ObjectFormat } from './object-format.ts';

/** An entry of a tree: a file, folder, link or submodule. */
export interface TreeEntry {
  /** Octal, as in the tree: `100644`, `40000`. */
  readonly mode: string;
  readonly oid: Oid;
}

/** The mode of a folder in a tree. */
export const folderMode = '40000';

/**
 * Trees are edited as raw bytes. The user's other entries are never decoded, so a name in an unknown
 * encoding or a mode that git no longer writes stays unchanged.
 */
export function findEntry(tree: Buffer, name: string, format: ObjectFormat): TreeEntry | undefined {
  const bytes = Buffer.from(name, 'utf8');
  for (const at = new Cursor(tree, format); !at.done; at.next()) {
    if (bytes.compare(tree, at.name, at.nameEnd) === 0) return at.entry();
  }
  return undefined;
}

/** Returns the tree with entries set, or removed where they are undefined. */
export function spliceTree(
  tree: Buffer,
  edits: Iterable<readonly [name: string, entry: TreeEntry | undefined]>,
  format: ObjectFormat,
): Buffer {
  const slots: { readonly key: Buffer; readonly line: Buffer | undefined }[] = [];
  for (const [name, entry] of edits) {
    const line = entry && formatEntry(name, entry);
    const folder = entry?.mode === folderMode;
    // A file and a folder of one name sort differently; an entry at the other position is removed.
    slots.push({ key: Buffer.from(name, 'utf8'), line: folder ? undefined : line });
    slots.push({ key: Buffer.from(`${name}/`, 'utf8'), line: folder ? line : undefined });
  }
  slots.sort((a, b) => Buffer.compare(a.key, b.key));
  const pieces: Buffer[] = [];
  const at = new Cursor(tree, format);
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

/** Every entry, with names decoded as UTF-8; only for reading. */
export function listTree(
  tree: Buffer,
  format: ObjectFormat,
): ({ readonly name: string } & TreeEntry)[] {
  const entries = [];
  for (const at = new Cursor(tree, format); !at.done; at.next()) {
    entries.push({ name: at.text(), ...at.entry() });
  }
  return entries;
}

/** A file, folder, link or submodule that differs between two trees. */
export interface TreeDifference {
  /** Relative to the trees. */
  readonly path: string;
  /** Undefined where the tree has no entry at this path, or one of another kind. */
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** Yields the entries that differ, in git's order; equal entries are never decoded. */
export function* compareTrees(
  before: Buffer,
  after: Buffer,
  format: ObjectFormat,
): Generator<TreeDifference> {
  const [old, now] = [new Cursor(before, format), new Cursor(after, format)];
  for (old.passEqual(now); !old.done || !now.done; old.passEqual(now)) {
    const order = now.done ? -1 : old.compare(now.key());
    yield {
      path: order > 0 ? now.text() : old.text(),
      before: order > 0 ? undefined : old.entry(),
      after: order < 0 ? undefined : now.entry(),
    };
    if (order <= 0) old.next();
    if (order >= 0) now.next();
  }
}

function formatEntry(name: string, { mode, oid }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'utf8'), Buffer.from(oid, 'hex')]);
}

/** Walks a tree entry by entry without allocating: a folder may have thousands of entries. */
class Cursor {
  /** Offsets of the current entry, its name and the end of its name; the tree's length after the last. */
  start = 0;
  name = 0;
  nameEnd = 0;
  readonly #tree: Buffer;
  /** The length of an id, in bytes. */
  readonly #idSize: number;

  constructor(tree: Buffer, { size }: ObjectFormat) {
    this.#tree = tree;
    this.#idSize = size;
    this.#read();
  }

  get done(): boolean {
    return this.start === this.#tree.length;
  }

  next(): void {
    this.start = this.#end;
    this.#read();
  }

  /** Advances two cursors to the first entries that differ. */
  passEqual(other: Cursor): void {
    const [from, otherFrom] = [this.start, other.start];
    const end = from + equalBytes(this.#tree, from, other.#tree, otherFrom);
    while (!this.done && this.#end <= end) this.next();
    other.start = otherFrom + (this.start - from);
    other.#read();
  }

  /** The name, decoded; only for reading. */
  text(): string {
    return this.#tree.toString('utf8', this.name, this.nameEnd);
  }

  /** Git's sort key: a folder sorts as if its name ended in a slash. */
  key(): Buffer {
    const name = this.#tree.subarray(this.name, this.nameEnd);
    return this.#isFolder ? Buffer.concat([name, slash]) : name;
  }

  entry(): TreeEntry {
    const oid = this.nameEnd + 1;
    return {
      mode: this.#tree.toString('latin1', this.start, this.name - 1),
      oid: this.#tree.toString('hex', oid, oid + this.#idSize),
    };
  }

  /** Compares the entry with the sort key of another. */
  compare(key: Buffer): number {
    if (this.done) return 1;
    const tree = this.#tree;
    const folder = this.#isFolder;
    for (let i = 0; ; i++) {
      const at = this.name + i;
      const ours = at < this.nameEnd ? (tree[at] ?? 0) : at === this.nameEnd && folder ? 0x2f : -1;
      const theirs = key[i] ?? -1;
      if (ours !== theirs || ours === -1) return ours - theirs;
    }
  }

  /** The offset after the current entry. */
  get #end(): number {
    return this.nameEnd + 1 + this.#idSize;
  }

  get #isFolder(): boolean {
    return this.#tree[this.start] === 0x34;
  }

  #read(): void {
    const tree = this.#tree;
    if (this.start === tree.length) return;
    let at = this.start;
    while (at < tree.length && tree[at] !== 0x20) at += 1;
    this.name = at + 1;
    while (at < tree.length && tree[at] !== 0) at += 1;
    this.nameEnd = at;
    if (this.#end > tree.length) {
      throw new MemoryError('damaged', 'A tree object of this repository is damaged.', {
        hint: 'Run "git fsck" to list all damage.',
      });
    }
  }
}

const slash = Buffer.from('/');
/** Bytes compared per call; a call costs as much as comparing a few dozen bytes. */
const stretch = 1024;

/** Length of the common bytes of two buffers, from an offset in each. */
function equalBytes(a: Buffer, from: number, b: Buffer, otherFrom: number): number {
  const length = Math.min(a.length - from, b.length - otherFrom);
  let same = 0;
  for (let next = stretch; next <= length; next += stretch) {
    const here = otherFrom + same;
    if (a.compare(b, here, here + stretch, from + same, from + next) !== 0) break;
    same = next;
  }
  while (same < length && a[from + same] === b[otherFrom + same]) same += 1;
  return same;
}
