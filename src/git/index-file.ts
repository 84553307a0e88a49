import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { TreeChange } from './cache-tree.ts';
import { damaged, type Extension, keepExtension, readExtensions } from './index-extensions.ts';
import type { Oid } from './object.ts';

/** A file's line in the index. */
export interface IndexEntry {
  readonly path: string;
  readonly oid: Oid;
  /** `0o100644` and the like. */
  readonly mode: number;
  /** The file is not wanted in the work tree (sparse checkout). */
  readonly skipWorktree: boolean;
}

/** A version of a file that a merge has left in the index. */
export type Version = Pick<IndexEntry, 'oid' | 'mode'>;

/** A path that a merge could not settle, and what each side has of it; undefined for no file. */
export interface Unmerged {
  readonly path: string;
  readonly base: Version | undefined;
  readonly ours: Version | undefined;
  readonly theirs: Version | undefined;
}

/** What to make of one path: a new line for it, or none. */
export interface IndexChange {
  readonly path: string;
  readonly oid: Oid;
  readonly mode: number;
  /** The file as it holds just these bytes; without it git looks for itself what the file holds. */
  readonly stat: BigIntStats | undefined;
}

const signature = 0x44495243;
const fixedSize = 62;
const stageMask = 0x3000;
const stages = [undefined, 'base', 'ours', 'theirs'] as const;
const extendedFlag = 0x4000;
const skipWorktreeFlag = 0x4000;

/**
 * The index in its raw bytes (gitformat-index, versions 2 to 4).
 *
 * Only the lines of the changed paths are written anew; every other line, flag and extension comes
 * through as it is, so that what the user has staged stays staged.
 */
export class IndexFile {
  readonly #bytes: Buffer;
  readonly #format: number;
  /** Start of each entry, and of what follows the last. */
  readonly #offsets: Uint32Array;
  /** Only version 4 needs them: its names are prefix-compressed. */
  readonly #names: Buffer[] | undefined;
  readonly #extensions: readonly Extension[];
  readonly #skipHash: boolean;
  /** Whether a merge has left a path in several stages. */
  readonly unmerged: boolean;

  /**
   * @throws MemoryError `unsupported` for a split index or an extension that must be understood and
   *   is not, `damaged` for bytes that are no index.
   */
  constructor(bytes: Buffer | undefined) {
    this.#bytes = bytes ?? emptyIndex();
    if (this.#bytes.length < 32 || this.#bytes.readUInt32BE(0) !== signature) throw damaged();
    this.#format = this.#bytes.readUInt32BE(4);
    if (this.#format < 2 || this.#format > 4) throw damaged();
    const count = this.#bytes.readUInt32BE(8);
    if (count > this.#bytes.length / fixedSize) throw damaged();
    this.#offsets = new Uint32Array(count + 1);
    this.#names = this.#format === 4 ? [] : undefined;
    this.unmerged = this.#scan(count);
    this.#extensions = readExtensions(this.#bytes, this.#offsets[count] ?? 12);
    this.#skipHash = this.#bytes.subarray(-20).every((byte) => byte === 0);
  }

  /** The path's line; the first of them, where a merge has left several. */
  find(path: string): IndexEntry | undefined {
    const name = Buffer.from(path, 'utf8');
    const at = this.#position(name);
    if (at === this.#after(name, at)) return undefined;
    const flags = this.#flags(at);
    const more = flags & extendedFlag ? this.#bytes.readUInt16BE(this.#start(at) + fixedSize) : 0;
    return { path, ...this.#version(at), skipWorktree: (more & skipWorktreeFlag) !== 0 };
  }

  /** The paths below a folder that a merge has left in several versions; all of them for ''. */
  unmergedBelow(folder: string): Unmerged[] {
    const prefix = Buffer.from(folder === '' ? '' : `${folder}/`, 'utf8');
    const found: Unmerged[] = [];
    for (let at = this.#position(prefix); at < this.#count; ) {
      const name = this.#name(at);
      if (!name.subarray(0, prefix.length).equals(prefix)) break;
      const versions: { -readonly [side in 'base' | 'ours' | 'theirs']: Version | undefined } = {
        base: undefined,
        ours: undefined,
        theirs: undefined,
      };
      const end = this.#after(name, at);
      let settled = false;
      for (; at < end; at++) {
        const side = stages[(this.#flags(at) & stageMask) >> 12];
        if (side) versions[side] = this.#version(at);
        else settled = true;
      }
      if (!settled) found.push({ path: name.toString('utf8'), ...versions });
    }
    return found;
  }

  /** Whether a sparse index keeps a folder above this path as one line. */
  collapses(path: string): boolean {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = Buffer.from(`${parts.slice(0, depth).join('/')}/`, 'utf8');
      const at = this.#position(folder);
      if (at < this.#count && this.#name(at).equals(folder)) return true;
    }
    return false;
  }

  /** Paths and ids below a folder, in index order. */
  *below(folder: string): Generator<IndexEntry> {
    const prefix = Buffer.from(`${folder}/`, 'utf8');
    for (let at = this.#position(prefix); at < this.#count; at++) {
      const name = this.#name(at);
      if (!name.subarray(0, prefix.length).equals(prefix)) return;
      const entry = this.find(name.toString('utf8'));
      if (entry) yield entry;
    }
  }

  /**
   * The bytes of the index with these lines set, in the place of all that their paths have, and those
   * paths taken out.
   *
   * @param trees how the commit changed the trees above the paths, so that the cached trees that
   *   were true stay true.
   */
  splice(
    set: readonly IndexChange[],
    remove: readonly string[],
    trees: readonly TreeChange[],
  ): Buffer {
    const edits = [
      ...set.map((change) => ({ name: Buffer.from(change.path, 'utf8'), change })),
      ...remove.map((path) => ({ name: Buffer.from(path, 'utf8'), change: undefined })),
    ].sort((a, b) => Buffer.compare(a.name, b.name));
    const pieces: Buffer[] = [];
    const growth = new Map<string, number>();
    let copied = 0;
    let count = this.#count;
    let previous: Buffer | undefined;
    for (const { name, change } of edits) {
      const at = this.#position(name);
      const end = this.#after(name, at);
      if (at === end && !change) continue;
      this.#copy(pieces, copied, at, previous);
      if (at > copied) previous = undefined;
      const before = previous ?? (at > 0 ? this.#name(at - 1) : Buffer.alloc(0));
      copied = end;
      if (change) {
        pieces.push(this.#entry(name, change, before));
        previous = name;
      } else {
        previous = before;
      }
      const delta = (change ? 1 : 0) - (end - at);
      count += delta;
      for (const folder of foldersOf(name)) growth.set(folder, (growth.get(folder) ?? 0) + delta);
    }
    this.#copy(pieces, copied, this.#count, previous);
    const structural = [...growth.values()].some((delta) => delta !== 0);
    const head = Buffer.alloc(12);
    head.writeUInt32BE(signature, 0);
    head.writeUInt32BE(this.#format, 4);
    head.writeUInt32BE(count, 8);
    const extensions = this.#extensions.flatMap((extension) =>
      keepExtension(extension, structural, trees, growth),
    );
    return this.#seal([head, ...pieces, ...extensions]);
  }

  get #count(): number {
    return this.#offsets.length - 1;
  }

  /** Finds where each entry begins; whether any is at a stage above 0. */
  #scan(count: number): boolean {
    const bytes = this.#bytes;
    let at = 12;
    let unmerged = false;
    let previous: Buffer = Buffer.alloc(0);
    for (let i = 0; i < count; i++) {
      this.#offsets[i] = at;
      if (at + fixedSize > bytes.length) throw damaged();
      // By single bytes: this runs a hundred thousand times, and `readUInt16BE` costs more than the rest.
      const flags = ((bytes[at + 60] ?? 0) << 8) | (bytes[at + 61] ?? 0);
      if (flags & stageMask) unmerged = true;
      const name = at + fixedSize + (flags & extendedFlag ? 2 : 0);
      if (this.#names) {
        const strip = readOffset(bytes, name);
        const end = bytes.indexOf(0, strip.next);
        if (end < 0 || strip.value > previous.length) throw damaged();
        previous = Buffer.concat([
          previous.subarray(0, previous.length - strip.value),
          bytes.subarray(strip.next, end),
        ]);
        this.#names.push(previous);
        at = end + 1;
      } else {
        const short = flags & 0xfff;
        const length = short < 0xfff ? short : bytes.indexOf(0, name + 0xfff) - name;
        if (length < 0) throw damaged();
        at += (name - at + length + 8) & ~7;
      }
    }
    this.#offsets[count] = at;
    return unmerged;
  }

  #start(at: number): number {
    return this.#offsets[at] ?? 0;
  }

  #flags(at: number): number {
    return this.#bytes.readUInt16BE(this.#start(at) + 60);
  }

  #version(at: number): Version {
    const start = this.#start(at);
    return {
      oid: this.#bytes.toString('hex', start + 40, start + 60),
      mode: this.#bytes.readUInt32BE(start + 24),
    };
  }

  #name(at: number): Buffer {
    const known = this.#names?.[at];
    if (known) return known;
    const start = this.#start(at);
    const flags = this.#flags(at);
    const name = start + fixedSize + (flags & extendedFlag ? 2 : 0);
    const short = flags & 0xfff;
    const end = short < 0xfff ? name + short : this.#bytes.indexOf(0, name + 0xfff);
    return this.#bytes.subarray(name, end);
  }

  /** Where the first entry at or after this name is. */
  #position(name: Buffer): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.#name(middle), name) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where the entries of this name end that begin at a place; there, when it has none. */
  #after(name: Buffer, at: number): number {
    let end = at;
    while (end < this.#count && this.#name(end).equals(name)) end++;
    return end;
  }

  /** Copies entries; the first of them is compressed anew where another name now stands before it. */
  #copy(pieces: Buffer[], from: number, to: number, previous: Buffer | undefined): void {
    if (from >= to) return;
    const start = this.#start(from);
    const end = this.#start(to);
    if (!this.#names || previous === undefined) {
      pieces.push(this.#bytes.subarray(start, end));
      return;
    }
    const fixed = fixedSize + (this.#flags(from) & extendedFlag ? 2 : 0);
    pieces.push(
      this.#bytes.subarray(start, start + fixed),
      compressName(this.#name(from), previous),
      this.#bytes.subarray(this.#offsets[from + 1] ?? end, end),
    );
  }

  #entry(name: Buffer, change: IndexChange, previous: Buffer): Buffer {
    const fixed = Buffer.alloc(fixedSize);
    const seconds = (ns: bigint) => Number((ns / 1_000_000_000n) & 0xffff_ffffn);
    const zero = { ctimeNs: 0n, mtimeNs: 0n, dev: 0n, ino: 0n, uid: 0n, gid: 0n, size: 0n };
    const stat = change.stat ?? zero;
    const words = [
      seconds(stat.ctimeNs),
      Number(stat.ctimeNs % 1_000_000_000n),
      seconds(stat.mtimeNs),
      Number(stat.mtimeNs % 1_000_000_000n),
      Number(BigInt.asUintN(32, stat.dev)),
      Number(BigInt.asUintN(32, stat.ino)),
      change.mode,
      Number(BigInt.asUintN(32, stat.uid)),
      Number(BigInt.asUintN(32, stat.gid)),
      Number(BigInt.asUintN(32, stat.size)),
    ];
    for (const [i, word] of words.entries()) fixed.writeUInt32BE(word, i * 4);
    fixed.write(change.oid, 40, 'hex');
    fixed.writeUInt16BE(Math.min(name.length, 0xfff), 60);
    if (this.#names) return Buffer.concat([fixed, compressName(name, previous)]);
    const padding = 8 - ((fixedSize + name.length) % 8);
    return Buffer.concat([fixed, name, Buffer.alloc(padding)]);
  }

  /** The pieces as one, with their checksum or the zeros that stand for none. */
  #seal(pieces: readonly Buffer[]): Buffer {
    const sealed = Buffer.concat([...pieces, Buffer.alloc(20)]);
    if (this.#skipHash && this.#bytes.length > 32) return sealed;
    const body = sealed.subarray(0, -20);
    createHash('sha1').update(body).digest().copy(sealed, body.length);
    return sealed;
  }
}

function foldersOf(name: Buffer): string[] {
  const parts = name.toString('utf8').split('/');
  return parts.map((_, depth) => parts.slice(0, depth).join('/'));
}

function compressName(name: Buffer, previous: Buffer): Buffer {
  let common = 0;
  while (common < previous.length && previous[common] === name[common]) common++;
  return Buffer.concat([
    writeOffset(previous.length - common),
    name.subarray(common),
    Buffer.from([0]),
  ]);
}

/** The variable-width number of pack offsets and of version 4 names. */
function readOffset(
  bytes: Buffer,
  from: number,
): { readonly value: number; readonly next: number } {
  let at = from;
  const take = () => {
    const byte = bytes[at++];
    if (byte === undefined) throw damaged();
    return byte;
  };
  let byte = take();
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = take();
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

function writeOffset(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest & 0x7f));
  }
  return Buffer.from(bytes);
}

function emptyIndex(): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32BE(signature, 0);
  head.writeUInt32BE(2, 4);
  return Buffer.concat([head, createHash('sha1').update(head).digest()]);
}
