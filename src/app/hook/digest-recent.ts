import { jsonBytes } from '../../store/derived/section-file.ts';
import type { QuickMemory } from '../../store/session/quick-memory.ts';
import type { KeyedPassage } from '../../toolsets/brief/keyed-passage.ts';
import type { DatedPoint } from '../../toolsets/brief/session-brief.ts';
import type { DigestFacts } from './digest-facts.ts';
import type { DigestRecord, DoubtsNote } from './digest-record.ts';
import type { RecordDates } from './record-dates.ts';

/** The sections of the file by position. */
const sections = { facts: 0, changes: 1 } as const;

export const maxRecentBytes = 16 * 1024 * 1024;
const kind = 'recent';
const version = 3;

/** A record that is not as the base has it. */
export interface RecentRecord extends Pick<DigestRecord, 'text' | 'note' | 'dates'> {
  readonly passages: readonly KeyedPassage[];
  readonly points: readonly RecentPoint[];
}

/** A statement with the keys of its relevance, which are of the whole text. */
export interface RecentPoint extends DatedPoint {
  readonly keys: readonly string[];
}

/** A file that is not as the base has it. */
export interface RecentFile {
  readonly path: string;
  /** Its `statNumbers`; null for one that is gone. */
  readonly stat: readonly number[] | null;
  /** Null for a file without a record that counts. */
  readonly record: RecentRecord | null;
}

/** The changes since a base was stored. */
export interface RecentChanges {
  /** Sorted by path. */
  readonly files: readonly RecentFile[];
  /** The notes of now about records of the base; null for a note that is not known. */
  readonly notes: readonly (readonly [path: string, note: DoubtsNote | null])[];
  /** The last changes of now of records of the base, where they are not those of the base any more. */
  readonly dates: readonly (readonly [path: string, dates: RecordDates])[];
}

/** The small part of a digest, which is stored again after each change: the facts, and what is not in the base. */
export interface DigestRecent {
  readonly facts: DigestFacts;
  readonly changes: RecentChanges;
}

/** Reads the file; undefined if it is missing, damaged, of another build or of another base. */
export function readRecent(memory: QuickMemory, base: string): DigestRecent | undefined {
  const file = memory.open(kind, [kind, version, base], maxRecentBytes);
  // The checksum proves that this program has written the sections.
  const facts = file?.json(sections.facts) as DigestFacts | undefined;
  const changes = file?.json(sections.changes) as RecentChanges | undefined;
  return facts && changes && { facts, changes };
}

/** Replaces the file. */
export async function writeRecent(
  memory: QuickMemory,
  base: string,
  { facts, changes }: DigestRecent,
): Promise<void> {
  await memory.write(kind, [kind, version, base], [jsonBytes(facts), jsonBytes(changes)]);
}
