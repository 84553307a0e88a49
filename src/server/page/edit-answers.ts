import * as z from 'zod';

/** The data of forms and conflicts: the REST operations answer with it, and the page imports its types. */

const text = z.string();

export const conflictsShape = z.object({
  conflicts: z.array(
    z.object({
      path: text,
      ours: text.optional().describe('the text of the current branch'),
      theirs: text.optional().describe('the text of the other side'),
    }),
  ),
});

/** The records that a merge of git has left in conflict. */
export type Conflicts = z.infer<typeof conflictsShape>;

export const resolvedShape = z.object({
  resolved: z.array(text),
  conflicts: z.array(z.object({ path: text, reasons: z.array(text) })),
  edited: z.array(text).describe('files that a person has edited since; they were left alone'),
  elsewhere: z.array(text).describe('files outside the memory that are in conflict'),
  next: text.optional().describe('the command of git that concludes the merge'),
});

/** The result of resolving conflicts. */
export type Resolved = z.infer<typeof resolvedShape>;

const controlShape = z.object({
  name: text,
  kind: z.enum(['line', 'text', 'choice', 'number', 'list', 'json']),
  choices: z.array(text).optional(),
  value: z.unknown().optional(),
  required: z.boolean(),
  about: text.optional(),
});

/** A field of a record in a form. */
export type Control = z.infer<typeof controlShape>;

export const formShape = z.object({
  text: text.describe('the file that the values are from'),
  controls: z.array(controlShape),
});

/** The fields of a record that a form edits. */
export type RecordForm = z.infer<typeof formShape>;

export const previewShape = z.object({
  html: text.optional(),
  fields: z.record(text, z.unknown()),
  problem: text.optional().describe('why the text is not a record'),
});

/** A text that is not saved yet, as the record that it would be. */
export type Preview = z.infer<typeof previewShape>;

export const savedShape = z.object({
  saved: z.boolean().describe('false if the record was changed meanwhile'),
  text: text.describe('the text of the record now'),
  fields: z.record(text, z.unknown()).optional().describe('the fields of the record now'),
});

/** The result of saving a text. */
export type Saved = z.infer<typeof savedShape>;
