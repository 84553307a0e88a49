import type { Tool } from '../../core/declarations/tool.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';

/** A toolset, and tools for teams that work with its records. */
interface TeamPart {
  readonly toolset: Toolset;
  readonly tools: readonly Tool[];
}

/**
 * Combines the tools by which several agents and people share a memory.
 *
 * Each tool answers in the wire format of the toolset whose records it works with.
 */
export function teamOver(parts: readonly TeamPart[]): Toolset {
  const formatOf = (tool: Tool): Toolset => {
    const part = parts.find(({ tools }) => tools.includes(tool));
    if (!part) throw new RangeError(`${tool.name} is not a tool of the team.`);
    return part.toolset;
  };
  return {
    name: 'team',
    title: 'Work with others: who does which task, exchange with the remote',
    comesWith: parts.map(({ toolset }) => toolset.name),
    tools: parts.flatMap(({ tools }) => tools),
    records: [],
    success: (tool, value) => formatOf(tool).success(tool, value),
    failure: (tool, error) => formatOf(tool).failure(tool, error),
  };
}
