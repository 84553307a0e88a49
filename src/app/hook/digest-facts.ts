import type { RecordDoubts } from '../../core/memory/store.ts';
import type { DamagedRecord } from '../../toolsets/brief/attention-lines.ts';
import type { BriefLine } from '../../toolsets/brief/layout.ts';
import type { MemoryChange } from '../../toolsets/brief/session-brief.ts';

/** The facts of a digest, which belong to no record. */
export interface DigestFacts {
  /** The commit of HEAD. */
  readonly head: string;
  /** The last commit that changed the memory; `''` for none. */
  readonly lastChange: string;
  readonly damaged: readonly DamagedRecord[];
  /** Whether the settings cannot be used, so that nothing is written. */
  readonly isStopped: boolean;
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
}
