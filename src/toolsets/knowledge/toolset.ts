import { plainFailure, plainSuccess, type Toolset } from '../../core/declarations/toolset.ts';
import { memoryDelete, memoryList, memoryRead, memoryWrite } from './entries.ts';
import { entryRecord } from './entry.ts';
import { memorySearch } from './memory-search.ts';
import { memoryPrune } from './prune.ts';

/**
 * Knowledge about the project and its user, by category and key (seed 004).
 *
 * The seed defines error codes for the file system only, so a failure has the code of the memory
 * error itself: `invalid_input`, `not_found`, `confirmation_required`, `damaged`, …
 */
export const knowledge: Toolset = {
  name: 'knowledge',
  title: 'Preferences, learnings, corrections, patterns and decisions by key',
  tools: [memoryRead, memoryWrite, memorySearch, memoryList, memoryDelete, memoryPrune],
  records: [entryRecord],
  formats: async () => (await import('./knowledge-formats.ts')).formats,
  success: plainSuccess,
  failure: plainFailure,
};
