import type { Tool } from '../../core/declarations/tool.ts';
import { nearestName } from '../../core/names/nearest-name.ts';
import { isObject } from '../../core/values/json.ts';

/** Maximum number of names in one note. */
const maxNames = 5;

/**
 * A note about the arguments of a call that the tool does not have; undefined for none.
 *
 * They are ignored, because a client of a seed may send more than this tool takes. A tool without
 * arguments gets no note: some clients send such a tool a dummy argument.
 */
export function noteUnknown(tool: Tool, args: unknown): string | undefined {
  const known = Object.keys(tool.input.shape);
  if (!isObject(args) || known.length === 0) return undefined;
  const unknown = Object.keys(args).filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const named = unknown.slice(0, maxNames).map((name) => {
    const nearest = nearestName(name, known);
    const shown = JSON.stringify(name.slice(0, 60));
    return nearest === undefined ? shown : `${shown} (did you mean "${nearest}"?)`;
  });
  const more = unknown.length > maxNames ? ` and ${unknown.length - maxNames} more` : '';
  return `${tool.name} ignored arguments that it does not have: ${named.join(', ')}${more}. It takes: ${known.join(', ')}.`;
}
