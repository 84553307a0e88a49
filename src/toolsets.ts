import type { Toolset } from './core/toolset.ts';

/** Every toolset, in the order in which its tools are listed. */
export const toolsets: readonly Toolset[] = [];
