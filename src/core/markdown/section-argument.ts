import * as z from 'zod';
import { MemoryError } from '../values/error.ts';
import { namedSections, sectionAt } from './section-path.ts';
import { parsePart } from './text-part.ts';

/** The optional argument of a tool that reads a text: only this section. */
export const sectionArgument = z
  .string()
  .regex(/\S/, 'must not be blank')
  .max(2_000)
  .optional()
  .describe('Only this section, as search_memory names it');

/** Limit of sections that an error names. */
const mostNamed = 20;

/**
 * Returns the text, or only the section that a path names; `, characters 60000-` after it, or alone,
 * leaves out the beginning.
 *
 * @throws MemoryError `invalid_input` with the sections of the text.
 */
export function readSection(text: string, path: string | undefined): string {
  if (path === undefined) return text;
  const found = sectionAt(text, path);
  if (found !== undefined) return found;
  const part = parsePart(path);
  if (part.section !== path) return readSection(text, part.section).slice(part.from);
  const sections = namedSections(text).map((section) => section.path);
  const left = sections.length - mostNamed;
  const names = sections.slice(0, mostNamed).map((name) => JSON.stringify(name));
  const named = `${names.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  throw new MemoryError('invalid_input', `There is no section ${JSON.stringify(path)}.`, {
    hint: sections.length === 0 ? 'The text has no headings.' : `The sections are: ${named}.`,
  });
}
