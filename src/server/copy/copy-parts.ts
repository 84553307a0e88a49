import type { CopiedWords } from '../../app/exchange/copied-search.ts';
import type { PackedState } from '../../app/exchange/copied-states.ts';
import type {
  Activity,
  CommitLog,
  Concerns,
  GraphData,
  Home,
  News,
  RecordList,
  StaleEvidence,
  StateComparison,
} from '../page/answers.ts';
import type { Board } from '../page/board-answers.ts';
import type { Conflicts } from '../page/edit-answers.ts';
import type { BranchList, ModeList } from '../page/window-answers.ts';
import type { PackedRecord } from './record-in-copy.ts';

/** A part of a copy of the memory in files: the answers that do not depend on one record. */
export interface CopyBase {
  readonly home: Home;
  readonly graph: GraphData;
  readonly board: Board;
  readonly branches: BranchList;
  readonly modes: ModeList;
  readonly conflicts: Conflicts;
  readonly activity: Activity;
  readonly news: News;
  readonly evidence: StaleEvidence;
  readonly concerns: Concerns;
  readonly records: RecordList['records'];
  /** The records of each branch that differ from the current one, by the name of the branch. */
  readonly compared: { readonly [branch: string]: StateComparison };
  /** The toolset of each tool. */
  readonly tools: { readonly [tool: string]: string };
  /** Groups of words that mean the same in this project. */
  readonly synonyms: readonly (readonly string[])[];
  /** The first path in each part of the records. */
  readonly starts: readonly string[];
}

/** A part of a copy: some records, each with its history. */
export interface CopyRecords {
  readonly [path: string]: PackedRecord;
}

/** A part of a copy: the past states of some records, the newest first. */
export interface CopyStates {
  readonly [path: string]: readonly PackedState[];
}

/** A part of a copy: all records, and which of them names which other one. */
export type CopyLinks = Pick<GraphData, 'nodes' | 'edges'>;

/** The parts of a copy by name. */
export interface CopyParts {
  /** The script of the pages. */
  readonly page: string;
  readonly base: CopyBase;
  /** The newest commits. */
  readonly log: CommitLog;
  readonly links: CopyLinks;
  /** The words and records with vectors for the search, and these vectors. */
  readonly words: CopiedWords;
  readonly vectors: Uint8Array<ArrayBuffer>;
  readonly [records: `records-${number}`]: CopyRecords;
  readonly [states: `states-${number}`]: CopyStates;
}
