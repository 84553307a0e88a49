import type { RecordDoubts } from '../../core/memory/store.ts';
import type { BriefPoint } from '../../core/record/record-type.ts';
import type { StoredText } from '../../store/search/stored-index.ts';
import type { KeyedPassage } from '../../toolsets/brief/keyed-passage.ts';
import type { LocatedPoint } from '../../toolsets/brief/session-brief.ts';
import type { RecordDates } from './record-dates.ts';

/** The parts of a brief that have statements, in the order in which a digest has them. */
export const pointParts: readonly BriefPoint['part'][] = ['now', 'decision', 'about'];

/** The doubts about a record next to its text; `0` for none that could change, or if there was no time. */
export type DoubtsNote = RecordDoubts | 0;

/** The part of a record that a digest has. */
export interface DigestRecord {
  readonly path: string;
  readonly points: readonly LocatedPoint[];
  /** Its passages about files and commands. */
  readonly passages: () => readonly KeyedPassage[];
  readonly text: StoredText;
  readonly note: DoubtsNote;
  readonly dates: RecordDates;
  /** The paths of the records on which the note depends. */
  readonly links: readonly string[];
}

/** The note about a record. */
export function noteOf(doubts: RecordDoubts | undefined): DoubtsNote {
  if (!doubts) return 0;
  const { reasons, superseded, files, head, day } = doubts;
  const isPlain = !superseded && head === undefined && day === undefined;
  return isPlain && reasons.length === 0 && files.length === 0 ? 0 : storedDoubts(doubts);
}

/** The doubts about a record without what is stored elsewhere. */
export function storedDoubts({
  records: _records,
  evidence: _evidence,
  ...doubts
}: RecordDoubts): RecordDoubts {
  return doubts;
}

/** The doubts that a note contains; undefined for a record without a note. */
export function doubtsIn(note: unknown): RecordDoubts | undefined {
  if (note === 0) return { reasons: [], superseded: false, files: [] };
  return (note ?? undefined) as RecordDoubts | undefined;
}
