import * as z from 'zod';
import { normalisePath } from './project-path.ts';

/** Size limits of arguments; longer texts and lists are refused, never cut. */
export const limits = {
  /** Characters of a slug. */
  slug: 200,
  /** Characters of a name, a title, a ticket's key or a query. */
  line: 500,
  /** Characters of a project path. */
  path: 1_000,
  /** Characters of a description, a requirement, a task, a note or a condition of use. */
  text: 10_000,
  /** Notes or conditions of use of one record. */
  list: 100,
  /** Elements of one batch. */
  batch: 500,
} as const;

/** Lower-case words joined by hyphens, with a slash between levels of the hierarchy (seed 000). */
export const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)*$/;

/** Twelve URL-safe characters. */
export const idPattern = /^[A-Za-z0-9_-]{12}$/;

export const status = z.enum(['pending', 'in_progress', 'completed']);
export const pathType = z.enum(['file', 'directory']);

export const slug = z
  .string()
  // A pattern can exhaust the stack on a text of megabytes.
  .max(limits.slug, { abort: true })
  .regex(slugPattern, 'must be lower-case words joined by hyphens, levels by slashes: auth/oauth');
export const id = z.string().regex(idPattern, 'must be an id of 12 letters, digits, "_" or "-"');

/** A title, which may be empty. */
export const title = z.string().max(limits.line);
/** A name, a key or a query. */
export const line = title.min(1);
/** A text that may be empty: a description. */
export const text = z.string().max(limits.text);
/** The text of a requirement or a task. */
export const statement = text.min(1);
/** Notes or conditions of use. */
export const texts = z.array(statement).max(limits.list);

/** A path inside the project; the handler gets it normalised. */
export const projectPath = z
  .string()
  .max(limits.path)
  .transform((given, check) => {
    const result = normalisePath(given);
    if ('path' in result) return result.path;
    check.addIssue(result.problem);
    return z.NEVER;
  });

/** One or more elements, of which either all take effect or none. */
export function batch<T extends z.ZodType>(element: T): z.ZodArray<T> {
  return z.array(element).min(1).max(limits.batch);
}
