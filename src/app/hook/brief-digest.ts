import { sep } from 'node:path';
import { crc32 } from 'node:zlib';
import type { BriefPoint } from '../../core/record-type.ts';
import type { RecordDoubts } from '../../core/store.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import type { QuickMemory } from '../../store/quick-memory.ts';
import { bytesOf, jsonBytes, type SectionFile } from '../../store/records/section-file.ts';
import type { StoredIndex } from '../../store/search/stored-index.ts';
import { BranchRelevance, relevanceKeys } from '../../toolsets/brief/branch-relevance.ts';
import type { ContextSource } from '../../toolsets/brief/context-source.ts';
import { type BriefLine, maxQuoted } from '../../toolsets/brief/layout.ts';
import {
  type BriefPoints,
  checkedPaths,
  type DamagedRecord,
  type LocatedPoint,
  type MemoryChange,
  rankPoints,
} from '../../toolsets/brief/session-brief.ts';
import { encodeKeyedRows, KeyedRows } from './keyed-rows.ts';

/** The facts of a digest. */
interface DigestFacts {
  /** The commit of HEAD. */
  readonly head: string;
  /** The last commit that changed the memory; `''` for none. */
  readonly lastChange: string;
  readonly damaged: readonly DamagedRecord[];
  /** Whether the memory is exchanged with the remote by itself. */
  readonly syncs: boolean;
  /** The lines about memories of others, and the values of the refs on which they depend. */
  readonly foreign: readonly BriefLine[];
  readonly foreignRefs: readonly (readonly [ref: string, oid: string])[];
  readonly changes: readonly MemoryChange[];
  /** The names of the tools, by toolset. */
  readonly tools: readonly (readonly [toolset: string, tools: readonly string[]])[];
  /** The doubts about the records that a brief compares with the code. */
  readonly doubts: readonly (readonly [path: string, doubts: RecordDoubts])[];
  /** The number of statements of each part; their rows have this order. */
  readonly counts: readonly (readonly [part: BriefPoint['part'], count: number])[];
}

/**
 * The statements of the records, the last changes and the search index, kept in the git directory for the next process.
 *
 * It is valid as long as the commits since then leave the memory as it was. What it says about records
 * also needs the files of the memory to be as they were. It can be deleted at any time.
 */
export interface BriefDigest extends DigestFacts {
  /** Whether no section is damaged. */
  readonly isWhole: boolean;
  /** Whether it has the search index. */
  readonly isSearchable: boolean;
  /** Takes the stat of every file of the memory: whether all are as they were. */
  isCurrent(): boolean;
  /** Returns the statements of the records, of which it parses only those that are asked for. */
  points(relevance: BranchRelevance): BriefPoints;
  /** Reads the search index; undefined if it is not in the digest. */
  search(): Promise<StoredIndex | undefined>;
}

/** The sections of the file by position; those of the search index follow. */
const sections = {
  facts: 0,
  paths: 1,
  stats: 2,
  rowsAt: 3,
  sums: 4,
  rows: 5,
  keys: 6,
  search: 10,
} as const;

/** The doubts about a record next to its text; `0` for none that could change, or if there was no time. */
type DoubtsNote = RecordDoubts | 0;

/** A statement as it is stored; its place shows its part. */
type Row = readonly [path: string, text: string, at: string | null];

const fileName = 'brief';
const maxBytes = 64 * 1024 * 1024;
const maxFiles = 50_000;
/** Time in which the doubts about records are collected for prompts, in milliseconds. */
const maxChecking = 1_000;
const checkedAtOnce = 200;
/** Age from which a file that is changed again certainly gets another time, in milliseconds. */
const settled = 50;
const parts = ['now', 'decision', 'about'] as const;

/**
 * Returns the stored digest of a memory; undefined if there is none, or if it is not valid any more.
 *
 * @param build identifies the build of this program: another one may read records in another way.
 */
export function readDigest(memory: QuickMemory, build: string): BriefDigest | undefined {
  const file = memory.open(memory.derivedFile(fileName), build, maxBytes);
  // The checksum proves that this program has written the section.
  const facts = file?.json(sections.facts) as DigestFacts | undefined;
  if (!file || !facts || !memory.isUnchangedSince(facts.head)) return undefined;
  return {
    ...facts,
    get isWhole() {
      return file.isWhole;
    },
    isSearchable: file.has(sections.search),
    isCurrent: () => isCurrent(memory, file),
    points: (relevance) => readPoints(file, facts, relevance),
    search: async () => {
      if (!file.has(sections.search)) return undefined;
      // Only a prompt needs this part of the program.
      const { StoredIndex } = await import('../../store/search/stored-index.ts');
      return StoredIndex.read(file, sections.search);
    },
  };
}

/** Compares the stats of the files; a damaged one is not equal either, so nothing else checks them. */
function isCurrent(memory: QuickMemory, file: SectionFile): boolean {
  const bytes = file.part(sections.stats);
  const text = file.part(sections.paths);
  if (!bytes || !text) return false;
  const paths = Buffer.from(text.buffer, text.byteOffset, text.length).toString('utf8').split('\0');
  const stats = new Float64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 8));
  return stats.length === statSize * paths.length && memory.hasFiles(paths, stats);
}

/** @throws Error when a section is damaged. */
function readPoints(
  file: SectionFile,
  { counts }: DigestFacts,
  { weights }: BranchRelevance,
): BriefPoints {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const rowsAt = file.integers(sections.rowsAt, total + 1);
  const sums = file.integers(sections.sums, total);
  // Without a branch and changed files, there is nothing to look for.
  const keys = weights.size === 0 ? undefined : KeyedRows.read(file, sections.keys);
  if (!rowsAt || !sums || (!keys && weights.size > 0)) throw damaged();
  const worth = new Map<number, number>();
  for (const [key, weight] of weights) {
    for (const row of keys?.get(key) ?? []) worth.set(row, (worth.get(row) ?? 0) + weight);
  }
  const relevant = [...worth].sort(([a, one], [b, other]) => other - one || a - b);
  const pointAt = (row: number, part: BriefPoint['part']): LocatedPoint => {
    // Each row has a checksum of its own, because few of them are read.
    const bytes = file.part(sections.rows, rowsAt[row] ?? 0, rowsAt[row + 1] ?? 0);
    if (!bytes || crc32(bytes) !== sums[row]) throw damaged();
    const [path, statement, at] = JSON.parse(Buffer.from(bytes).toString('utf8')) as Row;
    return { part, path, text: statement, ...(at !== null && { at }) };
  };
  let end = 0;
  const [now, decision, about] = counts.map(([part, count]) => {
    const start = end;
    end += count;
    const [from, to] = [start, end];
    return {
      *[Symbol.iterator]() {
        for (const [row] of relevant) if (row >= from && row < to) yield pointAt(row, part);
        for (let row = from; row < to && part !== 'about'; row++) {
          if (!worth.has(row)) yield pointAt(row, part);
        }
      },
    };
  });
  return { now: now ?? [], decision: decision ?? [], about: about ?? [] };
}

function damaged(): Error {
  return new Error('The digest is damaged.');
}

/**
 * Stores the digest of a memory, unless the memory changes meanwhile or has just changed.
 *
 * @param source reads the memory as it is now.
 * @param encodeSearch returns its search index with a note for each record; undefined leaves it out.
 */
export async function writeDigest(
  memory: QuickMemory,
  build: string,
  { source, tools }: { readonly source: ContextSource } & Pick<DigestFacts, 'tools'>,
  encodeSearch: (
    noteOf: (path: string) => DoubtsNote,
  ) => Promise<readonly Uint8Array[] | undefined>,
): Promise<void> {
  const begun = Date.now();
  const before = memory.filesState(maxFiles);
  const head = memory.head().oid;
  if (!before || before.newest > begun - settled || head === undefined) return;
  const { points, damaged } = await source.records();
  const { name, work } = await source.branch();
  const ranked = rankPoints(points, new BranchRelevance(name, work));
  const doubts = [...(await source.doubts(checkedPaths(ranked)))];
  const changes = await source.changes();
  const lastChange = memory.lastChange() ?? '';
  const syncs = await source.syncs();
  const foreignRefs = await source.foreignRefs();
  const foreign = await source.foreign();
  // The newest statements first.
  const records = new Set([...points.map(({ path }) => path), ...before.paths.map(inMemory)]);
  const all = await doubtsOf([...records], source);
  const search = (await encodeSearch((path) => noteOf(all.get(path)))) ?? [];
  if (!memory.hasFiles(before.paths, before.stats) || memory.head().oid !== head) return;
  const ordered = parts.map((part) => points.filter((point) => point.part === part));
  const counts = parts.map((part, i) => [part, ordered[i]?.length ?? 0] as const);
  const facts: DigestFacts = {
    head,
    lastChange,
    damaged,
    syncs,
    foreign,
    foreignRefs,
    changes,
    tools,
    doubts,
    counts,
  };
  const own = [
    jsonBytes(facts),
    Buffer.from(before.paths.join('\0')),
    bytesOf(before.stats),
    ...encodePoints(ordered.flat()),
  ];
  const sum = (all: readonly Uint8Array[]) => all.reduce((bytes, { length }) => bytes + length, 0);
  // A brief can do without the search index.
  const fitting = [[...own, ...search], own].find((all) => sum(all) <= maxBytes / 2);
  if (fitting) await memory.write(memory.derivedFile(fileName), build, fitting);
}

/** The doubts about records, as far as there is time. */
async function doubtsOf(
  paths: readonly string[],
  source: ContextSource,
): Promise<ReadonlyMap<string, RecordDoubts>> {
  const found = new Map<string, RecordDoubts>();
  const begun = Date.now();
  for (let at = 0; at < paths.length && Date.now() - begun < maxChecking; at += checkedAtOnce) {
    const some = paths.slice(at, at + checkedAtOnce);
    for (const [path, doubts] of await source.doubts(some)) found.set(path, doubts);
    // A server answers other calls meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

/** The path of a file of the memory, as records have it. */
function inMemory(path: string): string {
  return path.split(sep).join('/');
}

function noteOf(doubts: RecordDoubts | undefined): DoubtsNote {
  if (!doubts) return 0;
  const { reasons, superseded, files, head, day } = doubts;
  const isPlain = !superseded && head === undefined && day === undefined;
  return isPlain && reasons.length === 0 && files.length === 0 ? 0 : doubts;
}

/** The doubts that a note contains; undefined for a record without a note. */
export function doubtsIn(note: unknown): RecordDoubts | undefined {
  if (note === 0) return { reasons: [], superseded: false, files: [] };
  return note as RecordDoubts | undefined;
}

/** Encodes statements as rows, and the rows that each key of their relevance is in. */
function encodePoints(points: readonly LocatedPoint[]): Uint8Array[] {
  const rowsAt = new Uint32Array(points.length + 1);
  const sums = new Uint32Array(points.length);
  const rowsByKey = new Map<string, number[]>();
  const rows = points.map((point, row) => {
    for (const key of relevanceKeys(point)) {
      const known = rowsByKey.get(key);
      if (known) known.push(row);
      else rowsByKey.set(key, [row]);
    }
    const { path, text, at } = point;
    const bytes = jsonBytes([path, text.slice(0, maxQuoted), at ?? null] satisfies Row);
    rowsAt[row + 1] = (rowsAt[row] ?? 0) + bytes.length;
    sums[row] = crc32(bytes);
    return bytes;
  });
  return [bytesOf(rowsAt), bytesOf(sums), Buffer.concat(rows), ...encodeKeyedRows(rowsByKey)];
}
