import { plainFailure, plainSuccess, type Toolset } from '../../core/toolset.ts';
import { memoryDelete, memoryList, memoryRead, memoryWrite } from './entries.ts';
import { entryRecord } from './entry.ts';
import { memorySearch } from './memory-search.ts';
import { memoryPrune } from './prune.ts';

/**
 * What was learnt about the project and its user, by category and key (seed 004).
 *
 * The seed names no error codes but those of its file system, so a failure carries the code of the
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
