import type { Toolset } from '../core/toolset.ts';
import { banks } from './banks/toolset.ts';
import { briefOver } from './brief/toolset.ts';
import { documents } from './documents/toolset.ts';
import { graph } from './graph/toolset.ts';
import { history } from './history/toolset.ts';
import { knowledge } from './knowledge/toolset.ts';
import { memoryBank } from './memory-bank/toolset.ts';
import { searchOver } from './search/toolset.ts';

const seeded: readonly Toolset[] = [memoryBank, graph, documents, knowledge, banks];

/** Every toolset, in the order in which its tools are listed. */
export const toolsets: readonly Toolset[] = [
  ...seeded,
  searchOver(seeded),
  briefOver(seeded),
  history,
];
