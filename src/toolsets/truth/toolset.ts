import { plainFailure, plainSuccess, type Toolset } from '../../core/declarations/toolset.ts';
import { forgetMemory } from './forget-memory.ts';
import { tendPrompt } from './tend-prompt.ts';
import { verifyMemory } from './verify-memory.ts';

/** Whether records are still true: the code that they rest on, and the records that replace them. */
export const truth: Toolset = {
  name: 'truth',
  title: 'Whether records are still true: their code, their successors, their dates',
  tools: [verifyMemory, forgetMemory],
  records: [],
  prompts: [tendPrompt],
  success: plainSuccess,
  failure: plainFailure,
};
