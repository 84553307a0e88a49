import { type AnswerRest, openFile } from '../../core/answers/answer-limit.ts';
import type { Tool } from '../../core/declarations/tool.ts';
import { formatPart, parsePart } from '../../core/markdown/text-part.ts';
import { isObject } from '../../core/values/json.ts';

/** How a caller asks for what the answer of a call leaves out. */
export function restOf(
  { name, effect, growing, complete, input }: Tool,
  args: unknown,
): AnswerRest {
  const { offset, section } = isObject(args) ? args : {};
  const lists = {
    lists: growing,
    complete,
    // A command prints all of its answer; the same change must not be made again for that.
    ...(effect === 'read' && { others: `"memory-bank ${name.replaceAll('_', '-')}" prints all` }),
    ...(typeof offset === 'number' && { offset }),
  };
  if (!('section' in input.shape)) return { ...lists, text: openFile };
  const part = parsePart(typeof section === 'string' ? section : '');
  return {
    ...lists,
    text(kept) {
      const next = formatPart({ ...part, from: part.from + kept });
      return `To read on, ask for this text alone, with section ${JSON.stringify(next)}.`;
    },
  };
}
