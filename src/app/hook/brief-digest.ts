import type { BriefPoint } from '../../core/record-type.ts';
import type { FilesState, QuickMemory } from '../../store/quick-memory.ts';
import { jsonBytes } from '../../store/records/section-file.ts';
import type { SearchIndex } from '../../store/search/index.ts';
import type {
  BriefSource,
  DamagedRecord,
  LocatedPoint,
  MemoryChange,
} from '../../toolsets/brief/session-brief.ts';

/**
 * The statements of the records, the last changes and the search index, kept in the git directory for the next process.
 *
 * It is valid while every file of the memory has the same stat, and the commits since then leave the
 * memory as it was. It can be deleted at any time.
 */
export interface BriefDigest {
  /** The commit of HEAD. */
  readonly head: string;
  /** The last commit that changed the memory; `''` for none. */
  readonly lastChange: string;
  readonly damaged: readonly DamagedRecord[];
  readonly changes: readonly MemoryChange[];
  /** The names of the tools that a session without settings is offered. */
  readonly tools: readonly string[];
  /** Parses the statements of all records, the newest first. */
  points(): readonly LocatedPoint[];
  /** Reads the search index; undefined if it is not in the digest. */
  search(): Promise<SearchIndex | undefined>;
}

/** The sections of the file by position; those of the search index follow. */
const sections = { facts: 0, points: 1, search: 2 } as const;

/** A statement as it is stored: the names of its fields would be half of the file. */
type Row = readonly [
  part: BriefPoint['part'],
  path: string,
  text: string,
  at: string | null,
  names: readonly string[] | null,
];

const fileName = 'brief';
const maxBytes = 64 * 1024 * 1024;
const maxFiles = 50_000;
/** Age from which a file that is changed again certainly gets another time, in milliseconds. */
const settled = 50;

/**
 * Returns the stored digest of a memory; undefined if there is none, or if it is not valid any more.
 *
 * @param build identifies the build of this program: another one may read records in another way.
 */
export function readDigest(memory: QuickMemory, build: string): BriefDigest | undefined {
  const path = memory.derivedFile(fileName);
  const files = memory.hasFile(path) ? memory.filesState(maxFiles) : undefined;
  const file = files && memory.read(path, markOf(build, files), maxBytes);
  const facts = file?.json(sections.facts);
  // The checksums prove that this program has written the sections.
  if (!file?.isWhole || facts === undefined) return undefined;
  const digest = facts as Omit<BriefDigest, 'points' | 'search'>;
  if (!memory.isUnchangedSince(digest.head)) return undefined;
  return {
    ...digest,
    points: () => ((file.json(sections.points) ?? []) as readonly Row[]).map(toPoint),
    search: async () => {
      if (!file.has(sections.search)) return undefined;
      // Only a prompt needs this part of the program.
      const { readEncodedSearch } = await import('../../store/search/encoded-search.ts');
      return readEncodedSearch(file, sections.search);
    },
  };
}

function markOf(build: string, { key }: FilesState): string {
  return `${build} ${key}`;
}

/**
 * Stores the digest of a memory, unless the memory changes meanwhile or has just changed.
 *
 * @param source reads the memory as it is now.
 * @param encodeSearch returns its search index; undefined leaves it out.
 */
export async function writeDigest(
  memory: QuickMemory,
  build: string,
  source: BriefSource,
  encodeSearch: () => Promise<readonly Uint8Array[] | undefined>,
): Promise<void> {
  const begun = Date.now();
  const before = memory.filesState(maxFiles);
  const head = memory.head().oid;
  if (!before || before.newest > begun - settled || head === undefined) return;
  const { points, damaged } = await source.records();
  const changes = await source.changes();
  const tools = [...(await source.tools())];
  const lastChange = memory.lastChange() ?? '';
  const search = (await encodeSearch()) ?? [];
  const after = memory.filesState(maxFiles);
  if (after?.key !== before.key || memory.head().oid !== head) return;
  const facts = jsonBytes({ head, lastChange, damaged, changes, tools });
  const parts = [facts, jsonBytes(points.map(toRow))];
  const sum = (all: readonly Uint8Array[]) => all.reduce((bytes, { length }) => bytes + length, 0);
  // A brief can do without the search index.
  const fitting = [[...parts, ...search], parts].find((all) => sum(all) <= maxBytes / 2);
  if (fitting) await memory.write(memory.derivedFile(fileName), markOf(build, after), fitting);
}

function toRow({ part, path, text, at, names }: LocatedPoint): Row {
  return [part, path, text, at ?? null, names ?? null];
}

function toPoint([part, path, text, at, names]: Row): LocatedPoint {
  return { part, path, text, ...(at !== null && { at }), ...(names !== null && { names }) };
}
