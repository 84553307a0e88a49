import { inProfile, type ProfileUse } from '../../src/app/session/agent-profile.ts';
import type { Tool } from '../../src/core/declarations/tool.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { inputSchema } from '../../src/core/values/input.ts';
import { toListing } from '../../src/server/mcp/tool-listing.ts';
import { toolsets } from '../../src/toolsets/index.ts';

/** Returns the tools of toolsets as `tools/list` shows them. */
export function toolList(some: readonly Toolset[]) {
  return listings(some.flatMap(({ tools }) => tools.filter(({ listed }) => listed !== false)));
}

/** Returns tools as `tools/list` shows them. */
export function listings(tools: readonly Tool[]) {
  return tools.map((tool) => ({ ...toListing(tool), inputSchema: inputSchema(tool) }));
}

/** Returns the tools of the profile of agents; in a new project without a remote by default. */
export function profileTools(use: Partial<ProfileUse> = {}): Tool[] {
  const all = toolsets.flatMap((toolset) =>
    toolset.tools.flatMap((tool) => (tool.listed === false ? [] : { tool, toolset })),
  );
  return inProfile(all, { usesGraph: false, hasRemote: false, ...use }).map(({ tool }) => tool);
}
