import type { Tool } from '../../core/declarations/tool.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { MemoryError } from '../../core/values/error.ts';

/**
 * Returns the toolsets with these names, and those that come with them; all for undefined.
 *
 * @throws MemoryError `invalid_input` for an unknown name.
 */
export function selectToolsets(
  all: readonly Toolset[],
  enabled: readonly string[] | undefined,
): readonly Toolset[] {
  if (enabled === undefined) return all;
  const names = all.map((toolset) => toolset.name);
  const unknown = enabled.filter((name) => !names.includes(name));
  if (unknown.length === 0) {
    return all.filter(({ name, comesWith = [] }) =>
      [name, ...comesWith].some((one) => enabled.includes(one)),
    );
  }
  throw new MemoryError('invalid_input', `There is no toolset "${unknown.join('", "')}".`, {
    hint: `The toolsets are: ${names.join(', ')}.`,
  });
}

/** Finds a tool by its name, or by the longer name that clients print: `mcp__memory__memory_read`. */
export function findTool(
  toolsets: readonly Toolset[],
  name: string,
): { readonly tool: Tool; readonly toolset: Toolset } | undefined {
  for (const candidate of spellings(name)) {
    for (const toolset of toolsets) {
      const tool = toolset.tools.find((one) => one.name === candidate);
      if (tool) return { tool, toolset };
    }
  }
  return undefined;
}

/** The possible names of a tool: `mcp__b__c` may be the tool `c` of the server `b`. */
function spellings(name: string): string[] {
  if (!name.startsWith('mcp__') || name.length > 200) return [name];
  const parts = name.split('__');
  return parts.map((_, i) => parts.slice(i).join('__'));
}
