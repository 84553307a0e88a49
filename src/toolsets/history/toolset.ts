import { plainFailure, plainSuccess, type Toolset } from '../../core/toolset.ts';
import { blameRecord } from './blame.ts';
import { listBranches } from './branches.ts';
import { diffMemory } from './diff.ts';
import { recordHistory } from './log.ts';
import { restoreMemory } from './restore.ts';
import { readAsOf, searchAsOf } from './snapshot.ts';
import { resolveConflicts, syncMemory } from './sync.ts';

/** What versioned files make possible: the memory's past, the way back to it, and the way to others. */
export const history: Toolset = {
  name: 'history',
  title: 'The past of the memory: who changed what and why, earlier states, branches, sync',
  tools: [
    recordHistory,
    readAsOf,
    searchAsOf,
    diffMemory,
    restoreMemory,
    listBranches,
    blameRecord,
    resolveConflicts,
    syncMemory,
  ],
  records: [],
  success: plainSuccess,
  failure: plainFailure,
};
