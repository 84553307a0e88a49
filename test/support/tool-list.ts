import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { inputSchema } from '../../src/core/values/input.ts';
import { toListing } from '../../src/server/mcp/tool-listing.ts';

/** Returns the tools of toolsets as `tools/list` shows them. */
export function toolList(toolsets: readonly Toolset[]) {
  return toolsets
    .flatMap(({ tools }) => tools)
    .filter((tool) => tool.listed !== false)
    .map((tool) => ({ ...toListing(tool), inputSchema: inputSchema(tool) }));
}
