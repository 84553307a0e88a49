import { plainFailure, plainSuccess, type Toolset } from '../../core/declarations/toolset.ts';
import { readAsOf, searchAsOf } from './as-of.ts';
import { blameRecord } from './blame-record.ts';
import { diffMemory } from './diff-memory.ts';
import { listBranches } from './list-branches.ts';
import { recordHistory } from './record-history.ts';
import { restoreMemory } from './restore-memory.ts';
import { resolveConflicts } from './sync-memory.ts';

/** The past of the memory, and the way back to it. */
export const history: Toolset = {
  name: 'history',
  title: 'The past of the memory: who changed what and why, earlier states, branches',
  tools: [
    recordHistory,
    readAsOf,
    searchAsOf,
    diffMemory,
    restoreMemory,
    listBranches,
    blameRecord,
    resolveConflicts,
  ],
  records: [],
  success: plainSuccess,
  failure: plainFailure,
};
