import type { Oid } from '../objects/object.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import { damaged } from './index-extensions.ts';
import { compressName, formatName, readOffset } from './index-name.ts';
import { becomesTrusted, type IndexTimes, type LineContent } from './index-time.ts';

/** Maximum lines of a block; a path in several stages may exceed it. */
const maxLines = 512;
/** The offset of the id in a line. */
const idAt = 40;
const stageMask = 0x3000;
const extendedFlag = 0x4000;
const skipWorktreeFlag = 0x4000;
const mtimeAt = 8;
const sizeAt = 36;
const gitlinkMode = 0o160000;
const noName = Buffer.alloc(0);

/** One line of the index. */
export interface IndexLine {
  readonly name: Buffer;
  readonly oid: Oid;
  readonly mode: number;
  /** 0, or the version of an unmerged file: 1 the base, 2 ours, 3 theirs. */
  readonly stage: number;
  readonly skipWorktree: boolean;
  /** The modification time of the file, in whole seconds, and its size, both modulo 2^32. */
  readonly mtime: number;
  readonly size: number;
  /** The part of the modification time below a second, and the time of the last change of the inode. */
  readonly mtimeNs: number;
  readonly ctime: number;
}

/** The edit of all lines of one name. */
export interface LineEdit {
  readonly name: Buffer;
  /** The new bytes before the name; undefined removes the lines. */
  readonly fixed: Buffer | undefined;
}

/**
 * Consecutive lines of the index in their raw bytes (gitformat-index, versions 2 to 4).
 *
 * All lines of one name are in one block. Blocks are immutable: an index and its edited successor share
 * all blocks without a changed line.
 */
export class IndexBlock {
  readonly bytes: Buffer;
  /** Offset of each line, and the end of the last one. */
  readonly #offsets: Uint32Array;
  /** Only for version 4, whose names are prefix-compressed. */
  readonly #names: readonly Buffer[] | undefined;
  #unmerged: boolean | undefined;
  #newest: number | undefined;
  #sums: readonly [number, number] | undefined;
  readonly #format: ObjectFormat;

  private constructor(
    bytes: Buffer,
    offsets: Uint32Array,
    names: readonly Buffer[] | undefined,
    format: ObjectFormat,
  ) {
    this.#format = format;
    this.bytes = bytes;
    this.#offsets = offsets;
    this.#names = names;
  }

  /**
   * Reads the lines at the start of bytes into blocks of about the same size, at least one.
   *
   * @param compressed whether each name is a difference from the previous one, as in version 4.
   * @param previous the name before the first line.
   * @throws MemoryError `damaged` when there are fewer lines.
   */
  static read(
    bytes: Buffer,
    count: number,
    compressed: boolean,
    format: ObjectFormat,
    previous: Buffer = noName,
  ): IndexBlock[] {
    const fixedSize = fixedSizeOf(format);
    if (count > bytes.length / fixedSize) throw damaged();
    const offsets = new Uint32Array(count + 1);
    const names: Buffer[] | undefined = compressed ? [] : undefined;
    let last = previous;
    let at = 0;
    for (let i = 0; i < count; i++) {
      offsets[i] = at;
      if (at + fixedSize > bytes.length) throw damaged();
      const flags = uint16(bytes, at + fixedSize - 2);
      const name = at + fixedSize + (flags & extendedFlag ? 2 : 0);
      if (names) {
        const strip = readOffset(bytes, name);
        const end = bytes.indexOf(0, strip.next);
        if (end < 0 || strip.value > last.length) throw damaged();
        const kept = last.subarray(0, last.length - strip.value);
        last = Buffer.concat([kept, bytes.subarray(strip.next, end)]);
        names.push(last);
        at = end + 1;
      } else {
        const short = flags & 0xfff;
        const length = short < 0xfff ? short : bytes.indexOf(0, name + 0xfff) - name;
        if (length < 0) throw damaged();
        at += (name - at + length + 8) & ~7;
      }
    }
    if (at > bytes.length) throw damaged();
    offsets[count] = at;
    return new IndexBlock(bytes.subarray(0, at), offsets, names, format).#parts();
  }

  get count(): number {
    return this.#offsets.length - 1;
  }

  /** Whether a merge has left a path in several stages. */
  get unmerged(): boolean {
    this.#unmerged ??= this.#hasStages();
    return this.#unmerged;
  }

  #hasStages(): boolean {
    for (let at = 0; at < this.count; at++) if (this.#flags(at) & stageMask) return true;
    return false;
  }

  line(at: number): IndexLine {
    const start = this.#start(at);
    const flags = this.#flags(at);
    const more =
      flags & extendedFlag ? this.bytes.readUInt16BE(start + fixedSizeOf(this.#format)) : 0;
    return {
      name: this.name(at),
      oid: this.bytes.toString('hex', start + idAt, start + idAt + this.#format.size),
      mode: this.bytes.readUInt32BE(start + 24),
      stage: (flags & stageMask) >> 12,
      skipWorktree: (more & skipWorktreeFlag) !== 0,
      mtime: this.bytes.readUInt32BE(start + mtimeAt),
      size: this.bytes.readUInt32BE(start + sizeAt),
      mtimeNs: this.bytes.readUInt32BE(start + mtimeAt + 4),
      ctime: this.bytes.readUInt32BE(start),
    };
  }

  /** The bytes of a line before its name. */
  fixed(at: number): Buffer {
    const start = this.#start(at);
    return this.bytes.subarray(start, start + this.#fixedSize(at));
  }

  /**
   * Two checksums of what the lines stage: ids, modes, stages and name lengths, but no times.
   *
   * They do not depend on how the lines are distributed over blocks.
   */
  get sums(): readonly [number, number] {
    this.#sums ??= this.#sum();
    return this.#sums;
  }

  #sum(): readonly [number, number] {
    let [a, b] = [0, 0];
    for (let at = 0; at < this.count; at++) {
      const start = this.#start(at);
      const kind = int32(this.bytes, start + 24) ^ (this.#flags(at) << 16);
      a = (a + Math.imul(int32(this.bytes, start + idAt) ^ kind, 0x9e3779b1)) | 0;
      b = (b + Math.imul(int32(this.bytes, start + idAt + 4) ^ kind, 0x85ebca6b)) | 0;
    }
    return [a, b];
  }

  name(at: number): Buffer {
    const known = this.#names?.[at];
    if (known) return known;
    const name = this.#start(at) + this.#fixedSize(at);
    const short = this.#flags(at) & 0xfff;
    const end = short < 0xfff ? name + short : this.bytes.indexOf(0, name + 0xfff);
    return this.bytes.subarray(name, end);
  }

  /** The last name; empty if there are no lines. */
  get last(): Buffer {
    return this.count === 0 ? noName : this.name(this.count - 1);
  }

  /** Position of the first line at or after this name. */
  position(name: Buffer): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.name(middle), name) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** End of the lines of this name that begin at a position; that position if there are none. */
  after(name: Buffer, at: number): number {
    let end = at;
    while (end < this.count && this.name(end).equals(name)) end++;
    return end;
  }

  /**
   * Applies edits; returns no block if no line is left.
   *
   * @param edits sorted by name; each name belongs into this block.
   * @param was the name before the block.
   * @param previous the name before the result.
   */
  splice(edits: readonly LineEdit[], was: Buffer, previous: Buffer): readonly IndexBlock[] {
    const moved = this.#names !== undefined && !previous.equals(was);
    if (edits.length === 0 && !moved) return [this];
    const pieces: Buffer[] = [];
    let copied = 0;
    let count = this.count;
    /** The name before the next copied line, if it is not its predecessor here. */
    let other = moved ? previous : undefined;
    for (const { name, fixed } of edits) {
      const at = this.position(name);
      const end = this.after(name, at);
      this.#copy(pieces, copied, at, other);
      if (at > copied) other = undefined;
      const before = other ?? (at > 0 ? this.name(at - 1) : previous);
      copied = end;
      count -= end - at;
      other = before;
      if (fixed) {
        pieces.push(fixed, formatName(name, fixed.length, this.#names && before));
        count += 1;
        other = name;
      }
    }
    this.#copy(pieces, copied, this.count, other);
    const compressed = this.#names !== undefined;
    return count === 0
      ? []
      : IndexBlock.read(Buffer.concat(pieces), count, compressed, this.#format, previous);
  }

  /**
   * Smudges each line that would look clean under the new time of the index but may not be.
   *
   * If the size of a line is 0 and its blob is not empty, git compares the file itself.
   *
   * A line of size 0 is that of an empty file, or smudged already, so it cannot hide other content of the
   * same size. Git always compares a gitlink.
   *
   * @param holds whether the file of a line contains the blob of the line.
   */
  smudge(times: IndexTimes, holds: (line: LineContent) => boolean): IndexBlock {
    if (this.#newestSecond() < times.before.seconds) return this;
    let copy: Buffer | undefined;
    for (let at = 0; at < this.count; at++) {
      const start = this.#start(at);
      const seconds = this.bytes.readUInt32BE(start + mtimeAt);
      const nanoseconds = this.bytes.readUInt32BE(start + mtimeAt + 4);
      if (!becomesTrusted({ seconds, nanoseconds }, times)) continue;
      const { name, oid, mode } = this.line(at);
      const isEmpty = this.bytes.readUInt32BE(start + sizeAt) === 0;
      if (isEmpty || mode === gitlinkMode) continue;
      if (holds({ path: name.toString('utf8'), oid })) continue;
      copy ??= Buffer.from(this.bytes);
      copy.writeUInt32BE(0, start + sizeAt);
    }
    return copy ? new IndexBlock(copy, this.#offsets, this.#names, this.#format) : this;
  }

  /** The latest mtime of the lines, in seconds. */
  #newestSecond(): number {
    if (this.#newest !== undefined) return this.#newest;
    let newest = 0;
    for (let at = 0; at < this.count; at++) {
      newest = Math.max(newest, int32(this.bytes, this.#start(at) + mtimeAt) >>> 0);
    }
    this.#newest = newest;
    return newest;
  }

  /** Copies lines; compresses the first one again if its predecessor has changed. */
  #copy(pieces: Buffer[], from: number, to: number, previous: Buffer | undefined): void {
    if (from >= to) return;
    const start = this.#start(from);
    const end = this.#start(to);
    if (!this.#names || previous === undefined) {
      pieces.push(this.bytes.subarray(start, end));
      return;
    }
    pieces.push(
      this.bytes.subarray(start, start + this.#fixedSize(from)),
      compressName(this.name(from), previous),
      this.bytes.subarray(this.#start(from + 1), end),
    );
  }

  /** Splits the lines into blocks of at most the maximum size. */
  #parts(): IndexBlock[] {
    const size = Math.ceil(this.count / Math.ceil(this.count / maxLines));
    const parts: IndexBlock[] = [];
    for (let from = 0; from < this.count; ) {
      let to = Math.min(from + size, this.count);
      while (to < this.count && this.name(to).equals(this.name(to - 1))) to++;
      parts.push(this.#part(from, to));
      from = to;
    }
    return parts.length > 0 ? parts : [this];
  }

  #part(from: number, to: number): IndexBlock {
    const start = this.#start(from);
    const offsets = this.#offsets.slice(from, to + 1).map((offset) => offset - start);
    const bytes = this.bytes.subarray(start, this.#start(to));
    return new IndexBlock(bytes, offsets, this.#names?.slice(from, to), this.#format);
  }

  #start(at: number): number {
    return this.#offsets[at] ?? 0;
  }

  #flags(at: number): number {
    return uint16(this.bytes, this.#start(at) + fixedSizeOf(this.#format) - 2);
  }

  #fixedSize(at: number): number {
    return fixedSizeOf(this.#format) + (this.#flags(at) & extendedFlag ? 2 : 0);
  }
}

/** The bytes of a line before its name; two more where an extended flag is set. */
export function fixedSizeOf({ size }: ObjectFormat): number {
  return idAt + size + 2;
}

/** Like `readInt32BE`, which takes longer than the rest of a loop over 100,000 lines. */
function int32(bytes: Buffer, at: number): number {
  return (uint16(bytes, at) << 16) | uint16(bytes, at + 2);
}

/** Like `readUInt16BE`, in less time. */
function uint16(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
