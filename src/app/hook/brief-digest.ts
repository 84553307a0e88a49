import { checksum } from '../../core/checksum.ts';
import type { BriefPoint } from '../../core/record-type.ts';
import type { QuickMemory } from '../../store/quick-memory.ts';
import type {
  BriefSource,
  DamagedRecord,
  LocatedPoint,
  MemoryChange,
} from '../../toolsets/brief/session-brief.ts';

/**
 * The statements of the records and the last changes, kept in the git directory for the next process.
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
}

/** A statement as it is stored: the names of its fields would be half of the file. */
type Row = readonly [
  part: BriefPoint['part'],
  path: string,
  text: string,
  at: string | null,
  names: readonly string[] | null,
];

const fileName = 'brief';
const maxBytes = 16 * 1024 * 1024;
const maxFiles = 50_000;
/** Age from which a file that is changed again certainly gets another time, in milliseconds. */
const settled = 50;

/**
 * Returns the stored digest of a memory; undefined if there is none, or if it is not valid any more.
 *
 * @param build identifies the build of this program: another one may read records in another way.
 */
export function readDigest(memory: QuickMemory, build: string): BriefDigest | undefined {
  const text = memory.read(memory.derivedFile(fileName), maxBytes);
  const [seal, facts = '', rows = ''] = text?.split('\n', 3) ?? [];
  const files = seal === undefined ? undefined : memory.filesState(maxFiles);
  if (!files || seal !== checksum(build, files.key, facts, rows)) return undefined;
  // The seal proves that this program has written the text.
  const digest = JSON.parse(facts) as Omit<BriefDigest, 'points'>;
  if (!memory.isUnchangedSince(digest.head)) return undefined;
  return { ...digest, points: () => (JSON.parse(rows) as Row[]).map(toPoint) };
}

/**
 * Stores the digest of a memory, unless the memory changes meanwhile or has just changed.
 *
 * @param source reads the memory as it is now.
 */
export async function writeDigest(
  memory: QuickMemory,
  build: string,
  source: BriefSource,
): Promise<void> {
  const begun = Date.now();
  const before = memory.filesState(maxFiles);
  const head = memory.head().oid;
  if (!before || before.newest > begun - settled || head === undefined) return;
  const { points, damaged } = await source.records();
  const changes = await source.changes();
  const tools = [...(await source.tools())];
  const lastChange = memory.lastChange() ?? '';
  const after = memory.filesState(maxFiles);
  if (after?.key !== before.key || memory.head().oid !== head) return;
  const facts = JSON.stringify({ head, lastChange, damaged, changes, tools });
  const rows = JSON.stringify(points.map(toRow));
  if (rows.length > maxBytes / 4) return;
  const seal = checksum(build, after.key, facts, rows);
  await memory.write(memory.derivedFile(fileName), `${seal}\n${facts}\n${rows}\n`);
}

function toRow({ part, path, text, at, names }: LocatedPoint): Row {
  return [part, path, text, at ?? null, names ?? null];
}

function toPoint([part, path, text, at, names]: Row): LocatedPoint {
  return { part, path, text, ...(at !== null && { at }), ...(names !== null && { names }) };
}
