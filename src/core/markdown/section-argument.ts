import * as z from 'zod';
import { sectionNamesOf } from './section-names.ts';
import { parsePart } from './text-part.ts';

/** The optional argument of a tool that reads a text: only this section. */
export const sectionArgument = z
  .string()
  .regex(/\S/, 'must not be blank')
  .max(2_000)
  .optional()
  .describe('Only this section');

/**
 * Returns the text, or only the section that a name of it finds; `, characters 60000-` after it, or
 * alone, leaves out the beginning.
 *
 * @throws MemoryError `invalid_input` with the nearest sections of the text.
 */
export function readSection(text: string, name: string | undefined): string {
  if (name === undefined) return text;
  const names = sectionNamesOf(text);
  const part = parsePart(name);
  if (part.section !== name && !names.find(name)) {
    return readSection(text, part.section).slice(part.from);
  }
  const { start, end } = names.at(name, 'invalid_input');
  return text.slice(start, end);
}
