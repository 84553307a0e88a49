import type { Toolset } from './core/toolset.ts';
import { banks } from './toolsets/banks/toolset.ts';
import { documents } from './toolsets/documents/toolset.ts';
import { graph } from './toolsets/graph/toolset.ts';
import { history } from './toolsets/history/toolset.ts';
import { knowledge } from './toolsets/knowledge/toolset.ts';
import { memoryBank } from './toolsets/memory-bank/toolset.ts';
import { searchOver } from './toolsets/search/toolset.ts';

const seeded: readonly Toolset[] = [memoryBank, graph, documents, knowledge, banks];

/** Every toolset, in the order in which its tools are listed. */
export const toolsets: readonly Toolset[] = [...seeded, searchOver(seeded), history];
