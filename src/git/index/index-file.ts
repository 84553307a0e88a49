import type { BigIntStats } from 'node:fs';
import type { Stat } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import { cachedTree, type TreeChange } from './cache-tree.ts';
import { fixedSizeOf, IndexBlock, type IndexLine, type LineEdit } from './index-block.ts';
import { damaged, type Extension, keepExtension, readExtensions } from './index-extensions.ts';
import type { IndexTimes, LineContent } from './index-time.ts';
import { joinLines, type ReadShared, sharedOf } from './split-index.ts';

/** A file's line in the index. */
export interface IndexEntry {
  readonly path: string;
  readonly oid: Oid;
  /** `0o100644` and the like. */
  readonly mode: number;
  /** Whether the file is left out of the work tree (sparse checkout). */
  readonly skipWorktree: boolean;
}

/** A version of a file that a merge has left in the index. */
export type UnmergedVersion = Pick<IndexEntry, 'oid' | 'mode'>;

/** An unmerged path and its version on each side; undefined for no file. */
export interface Unmerged {
  readonly path: string;
  readonly base: UnmergedVersion | undefined;
  readonly ours: UnmergedVersion | undefined;
  readonly theirs: UnmergedVersion | undefined;
}

/** A new index line for a path. */
export interface IndexChange {
  readonly path: string;
  readonly oid: Oid;
  readonly mode: number;
  /** Stat of the file with exactly this content; without it git compares the file itself. */
  readonly stat: LineStat | undefined;
}

/** The part of a file's stat that a line of the index keeps: words of 32 bits. */
export interface LineStat {
  readonly ctime: number;
  readonly ctimeNs: number;
  readonly mtime: number;
  readonly mtimeNs: number;
  readonly dev: number;
  readonly ino: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
}

const signature = 0x44495243;
const headSize = 12;
const noBytes = Buffer.alloc(0);
const sides = [undefined, 'base', 'ours', 'theirs'] as const;

/**
 * The index in its raw bytes (gitformat-index, versions 2 to 4).
 *
 * Only the lines of changed paths are rewritten. Every other line, flag and extension stays unchanged,
 * so what the user has staged stays staged.
 */
export class IndexFile {
  readonly #version: number;
  readonly #format: ObjectFormat;
  /** At least one; an index without lines has an empty block. */
  readonly #blocks: readonly IndexBlock[];
  readonly #extensions: readonly Extension[];
  readonly #skipHash: boolean;
  /** Whether a merge has left a path in several stages. */
  readonly unmerged: boolean;

  private constructor(
    version: number,
    format: ObjectFormat,
    blocks: readonly IndexBlock[],
    extensions: readonly Extension[],
    skipHash: boolean,
  ) {
    this.#version = version;
    this.#format = format;
    this.#blocks = blocks.length > 0 ? blocks : IndexBlock.read(noBytes, 0, version === 4, format);
    this.#extensions = extensions;
    this.#skipHash = skipHash;
    this.unmerged = blocks.some((block) => block.unmerged);
  }

  /**
   * Reads an index. A split one becomes a whole one, which is valid for git as well.
   *
   * @param bytes undefined where there is no index yet.
   * @throws MemoryError `unsupported` for an unknown extension that is not optional, `damaged` for bytes
   *   that are not an index.
   */
  static read(
    bytes: Buffer | undefined,
    format: ObjectFormat,
    readShared: ReadShared = () => undefined,
  ): IndexFile {
    if (!bytes) return new IndexFile(2, format, [], [], false);
    const { size } = format;
    if (bytes.length < headSize + size || bytes.readUInt32BE(0) !== signature) throw damaged();
    const version = bytes.readUInt32BE(4);
    if (version < 2 || version > 4) throw damaged();
    const count = bytes.readUInt32BE(8);
    const lines = bytes.subarray(headSize, -size);
    const blocks = IndexBlock.read(lines, count, version === 4, format);
    const end = blocks.reduce((sum, block) => sum + block.bytes.length, headSize);
    const skipHash = bytes.subarray(-size).every((byte) => byte === 0);
    const extensions = readExtensions(bytes.subarray(0, -size), end);
    const own = new IndexFile(version, format, blocks, extensions, skipHash);
    const link = extensions.find(({ name }) => name === 'link');
    return link ? own.#joined(link, readShared) : own;
  }

  #joined(link: Extension, readShared: ReadShared): IndexFile {
    const [format, version] = [this.#format, this.#version];
    const extensions = this.#extensions.filter((one) => one !== link);
    const content = link.bytes.subarray(8);
    const shared = sharedOf(content, format, readShared);
    if (!shared) return new IndexFile(version, format, this.#blocks, extensions, this.#skipHash);
    const base = IndexFile.read(shared, format).#blocks;
    const isCompressed = version === 4;
    const { bytes, count, hasMoreFlags } = joinLines(
      ...([content, this.#blocks, base, isCompressed, format] as const),
    );
    const blocks = IndexBlock.read(bytes, count, isCompressed, format);
    const joined = isCompressed ? version : hasMoreFlags ? 3 : 2;
    return new IndexFile(joined, format, blocks, extensions, this.#skipHash);
  }

  /** The path's line; the first one of an unmerged path. */
  find(path: string): IndexEntry | undefined {
    const name = Buffer.from(path, 'utf8');
    const block = this.#blockOf(name);
    const at = block.position(name);
    if (at === block.after(name, at)) return undefined;
    const { oid, mode, skipWorktree } = block.line(at);
    return { path, oid, mode, skipWorktree };
  }

  /**
   * The blob of a file whose stat shows that nobody has changed it since it was staged; undefined if its
   * content has to be compared.
   *
   * @param time of the index, in milliseconds: a file that is not older may have changed within a tick.
   */
  unchanged(path: string, stat: Stat, time: number): Oid | undefined {
    const name = Buffer.from(path, 'utf8');
    const block = this.#blockOf(name);
    const at = block.position(name);
    if (block.after(name, at) !== at + 1 || stat.kind !== 'file' || stat.size === 0)
      return undefined;
    const line = block.line(at);
    const mtime = line.mtime * 1000 + line.mtimeNs / 1e6;
    const isSame =
      line.size === stat.size &&
      line.ctime === Math.floor(stat.ctimeMs / 1000) &&
      // A number of milliseconds is exact to a thousandth.
      Math.abs(mtime - stat.mtimeMs) < 0.002;
    return line.stage === 0 && stat.mtimeMs < time && isSame ? line.oid : undefined;
  }

  /** The number of lines. */
  get count(): number {
    return this.#blocks.reduce((sum, block) => sum + block.count, 0);
  }

  /** All lines, sorted by the bytes of their names. */
  *lines(): Generator<IndexLine> {
    for (const block of this.#blocks) {
      for (let at = 0; at < block.count; at++) yield block.line(at);
    }
  }

  /** The lines of files that are not in a folder. */
  *linesOutside(folder: string): Generator<IndexLine> {
    const prefix = Buffer.from(`${folder}/`);
    const isInside = (name: Buffer) =>
      name.length > prefix.length && name.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
    for (const block of this.#blocks) {
      const { count } = block;
      // The names are sorted, so everything between two files of the folder is in it.
      if (count > 0 && isInside(block.name(0)) && isInside(block.name(count - 1))) continue;
      for (let at = 0; at < count; at++) {
        if (!isInside(block.name(at))) yield block.line(at);
      }
    }
  }

  /** The cached tree of all lines; undefined after a line has changed. */
  get tree(): Oid | undefined {
    return this.cachedTree('');
  }

  /** The cached tree of the lines of a folder, or of its nearest parent that was ever cached. */
  cachedTree(folder: string): Oid | undefined {
    const cache = this.#extensions.find(({ name }) => name === 'TREE');
    return cache && cachedTree(cache.bytes.subarray(8), folder, this.#format);
  }

  /**
   * Identifies what is staged. A refresh of the times, as by `git status`, does not change it.
   *
   * `git commit` changes it even when nothing new is staged: it caches the tree before its hooks run.
   */
  get content(): string {
    const sum = (i: 0 | 1) => this.#blocks.reduce((all, { sums }) => (all + sums[i]) | 0, 0);
    return [this.count, sum(0), sum(1), this.tree ?? 'none'].join(' ');
  }

  /** The unmerged paths below a folder; all unmerged paths for ''. */
  unmergedBelow(folder: string): Unmerged[] {
    const found = new Map<string, Unmerged>();
    const none = { base: undefined, ours: undefined, theirs: undefined };
    const prefix = folder === '' ? '' : `${folder}/`;
    for (const block of this.#blocks) {
      for (let at = 0; block.unmerged && at < block.count; at++) {
        const { name, stage, oid, mode } = block.line(at);
        const side = sides[stage];
        const path = name.toString('utf8');
        if (!side || !path.startsWith(prefix)) continue;
        found.set(path, { ...none, ...found.get(path), path, [side]: { oid, mode } });
      }
    }
    return [...found.values()];
  }

  /** Whether a sparse index collapses a parent folder of this path into one line. */
  collapses(path: string): boolean {
    const parts = path.split('/');
    return parts.some((_, depth) => depth > 0 && this.find(`${parts.slice(0, depth).join('/')}/`));
  }

  /**
   * Returns the index with lines set and paths removed; a new line replaces all lines of its path.
   *
   * @param trees how the commit changed the parent trees, so that valid cached trees stay valid.
   */
  splice(
    set: readonly IndexChange[],
    remove: readonly string[],
    trees: readonly TreeChange[],
  ): IndexFile {
    const sorted = [
      ...set.map((change) => toEdit(change.path, change, this.#format)),
      ...remove.map((path) => toEdit(path, undefined, this.#format)),
    ].sort((a, b) => Buffer.compare(a.name, b.name));
    const edits = new Map(this.#blocks.map((block) => [block, [] as LineEdit[]]));
    const growth = new Map<string, number>();
    for (const edit of sorted) {
      const block = this.#blockOf(edit.name);
      const at = block.position(edit.name);
      const there = block.after(edit.name, at) - at;
      if (there === 0 && !edit.fixed) continue;
      edits.get(block)?.push(edit);
      const delta = (edit.fixed ? 1 : 0) - there;
      for (const folder of foldersOf(edit.name)) {
        growth.set(folder, (growth.get(folder) ?? 0) + delta);
      }
    }
    const blocks: IndexBlock[] = [];
    let was: Buffer = noBytes;
    for (const [block, here] of edits) {
      blocks.push(...block.splice(here, was, blocks.at(-1)?.last ?? noBytes));
      was = block.last;
    }
    const structural = [...growth.values()].some((delta) => delta !== 0);
    const extensions = this.#extensions.flatMap((extension) =>
      keepExtension(extension, structural, trees, growth, this.#format),
    );
    return new IndexFile(this.#version, this.#format, blocks, extensions, this.#skipHash);
  }

  /**
   * Smudges each line that would look clean under the new time of the index but may not be.
   *
   * @param holds whether the file of a line contains the blob of the line.
   */
  smudge(times: IndexTimes, holds: (line: LineContent) => boolean): IndexFile {
    const blocks = this.#blocks.map((block) => block.smudge(times, holds));
    return new IndexFile(this.#version, this.#format, blocks, this.#extensions, this.#skipHash);
  }

  /** The content of the file, with its checksum, or zeros where git writes none. */
  pieces(): readonly Buffer[] {
    const count = this.#blocks.reduce((sum, block) => sum + block.count, 0);
    const head = Buffer.alloc(headSize);
    for (const [i, word] of [signature, this.#version, count].entries()) {
      head.writeUInt32BE(word, i * 4);
    }
    const pieces = [head, ...[...this.#blocks, ...this.#extensions].map(({ bytes }) => bytes)];
    if (this.#skipHash) return [...pieces, Buffer.alloc(this.#format.size)];
    const hash = this.#format.hash();
    for (const piece of pieces) hash.update(piece);
    return [...pieces, hash.digest()];
  }

  /** The block that contains the lines of a name, or would. */
  #blockOf(name: Buffer): IndexBlock {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (Buffer.compare(this.#block(middle).name(0), name) <= 0) low = middle;
      else high = middle - 1;
    }
    return this.#block(low);
  }

  #block(at: number): IndexBlock {
    return this.#blocks[at] as IndexBlock;
  }
}

function toEdit(path: string, change: IndexChange | undefined, format: ObjectFormat): LineEdit {
  const name = Buffer.from(path, 'utf8');
  return { name, fixed: change && formatLine(name, change, format) };
}

const noStat: LineStat = {
  ctime: 0,
  ctimeNs: 0,
  mtime: 0,
  mtimeNs: 0,
  dev: 0,
  ino: 0,
  uid: 0,
  gid: 0,
  size: 0,
};

/** Returns the part of a file's stat that a line of the index keeps. */
export function lineStat(stat: BigIntStats): LineStat {
  const word = (value: bigint) => Number(BigInt.asUintN(32, value));
  return {
    ctime: word(stat.ctimeNs / 1_000_000_000n),
    ctimeNs: Number(stat.ctimeNs % 1_000_000_000n),
    mtime: word(stat.mtimeNs / 1_000_000_000n),
    mtimeNs: Number(stat.mtimeNs % 1_000_000_000n),
    dev: word(stat.dev),
    ino: word(stat.ino),
    uid: word(stat.uid),
    gid: word(stat.gid),
    size: word(stat.size),
  };
}

/** The parts of a stat that git compares: of the ctime only whole seconds. */
const compared = 'ctime mtime mtimeNs dev ino uid gid size'.split(' ') as (keyof LineStat)[];

/** Whether git sees no difference between two stats. */
export function isSameForGit(a: LineStat | undefined, b: LineStat | undefined): boolean {
  return a === b || compared.every((part) => a?.[part] === b?.[part]);
}

/** Formats the bytes before the name, for a line at stage 0. */
function formatLine(name: Buffer, { oid, mode, stat }: IndexChange, format: ObjectFormat): Buffer {
  // Small buffers from the pool take less memory; all bytes are written below.
  const fixed = Buffer.allocUnsafe(fixedSizeOf(format));
  const { ctime, ctimeNs, mtime, mtimeNs, dev, ino, uid, gid, size } = stat ?? noStat;
  const words = [ctime, ctimeNs, mtime, mtimeNs, dev, ino, mode, uid, gid, size];
  for (const [i, word] of words.entries()) fixed.writeUInt32BE(word, i * 4);
  fixed.write(oid, 40, 'hex');
  fixed.writeUInt16BE(Math.min(name.length, 0xfff), fixed.length - 2);
  return fixed;
}

function foldersOf(name: Buffer): string[] {
  const parts = name.toString('utf8').split('/');
  return parts.map((_, depth) => parts.slice(0, depth).join('/'));
}
