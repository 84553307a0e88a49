import type {
  Activity,
  Blame,
  CommitLog,
  Concerns,
  Difference,
  GraphData,
  Home,
  News,
  RecordData,
  RecordList,
  StaleEvidence,
  StateComparison,
} from './answers.ts';
import type { Board } from './board-answers.ts';
import type { Conflicts } from './edit-answers.ts';
import type { BranchList, ModeList } from './window-answers.ts';

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
  /** The first path in each part of the records. */
  readonly starts: readonly string[];
}

/** A part of a copy: some records, each with its history. */
export interface CopyRecords {
  readonly [path: string]: {
    /** Undefined for a record that was deleted. */
    readonly record?: RecordData;
    readonly blame?: Blame;
    readonly log: CommitLog;
    /** The changes of each commit, by the first letters of its id. */
    readonly changes: { readonly [commit: string]: readonly Difference[] };
  };
}

/** A part of a copy: the texts to search. */
export type CopyTexts = readonly (Pick<RecordData, 'path' | 'title' | 'type' | 'toolset'> & {
  readonly text: string;
})[];
