import * as z from 'zod';
import { commitShape, problemShape } from './answers.ts';

/** The data of the window, its branches and its modes: the REST operations answer with it, and the page imports its types. */

const text = z.string();
const count = z.number();

export const windowShape = z.object({
  project: text,
  id: text.optional().describe('the id of the project in config.yaml'),
  branch: text.optional(),
  head: text.optional().describe('the commit that is checked out now'),
  commit: commitShape.optional().describe('the newest commit of the memory in a past state'),
  kinds: z.array(z.object({ toolset: text, title: text, type: text })),
});

/** The data that every page needs. */
export type WindowData = z.infer<typeof windowShape>;

export const branchesShape = z.object({
  branches: z.array(
    z.object({
      name: text,
      current: z.boolean(),
      commit: commitShape,
      ahead: count,
      behind: count,
      unrelated: z.boolean(),
      changes: count.describe('number of records that differ from the current branch'),
    }),
  ),
  total: count,
});

/** The local branches, the current one first. */
export type BranchList = z.infer<typeof branchesShape>;

export const modesShape = z.object({
  modes: z.array(
    z.object({ name: text, source: text, read: text, write: text, current: z.boolean() }),
  ),
  skipped: z.array(problemShape),
});

/** The modes with the files that each may read and change. */
export type ModeList = z.infer<typeof modesShape>;
