import * as z from 'zod';

/** The data of the board: the REST operations answer with it, and the page imports its types. */

const text = z.string();

const taskShape = z.object({
  id: text,
  path: text,
  text,
  status: text,
  objective: text.optional().describe('the slug of its objective'),
  claim: z
    .object({ by: text, until: text, mine: z.boolean().describe('whether it is of this session') })
    .optional()
    .describe('who works on it'),
});

/** A task as the board shows it. */
export type BoardTask = z.infer<typeof taskShape>;

export const boardShape = z.object({
  objectives: z.array(
    z.object({ path: text, slug: text, name: text, tickets: z.array(text).describe('their keys') }),
  ),
  tasks: z.array(taskShape).describe('in their order, completed ones last'),
  total: z.number().describe('number of all tasks'),
});

/** The tasks and their objectives. */
export type Board = z.infer<typeof boardShape>;

export const createdShape = z.object({ id: text });
export const movedShape = z.object({ id: text, status: text });
export const claimedShape = z.object({
  id: text,
  shared: z.boolean().describe('whether other machines know it'),
});
export const releasedShape = z.object({
  id: text,
  released: z.boolean().describe('whether there was a claim'),
});
