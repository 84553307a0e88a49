import type { Context } from '../core/declarations/context.ts';
import type { Toolset } from '../core/declarations/toolset.ts';
import { banks } from './banks/toolset.ts';
import { ContextSource } from './brief/context-source.ts';
import type { Brief } from './brief/layout.ts';
import type { BriefRequest } from './brief/session-brief.ts';
import { briefOf, briefOver } from './brief/toolset.ts';
import { documents } from './documents/toolset.ts';
import { claimTools } from './graph/task-claims.ts';
import { graph } from './graph/toolset.ts';
import { searchPast } from './history/as-of.ts';
import { syncMemory } from './history/sync-memory.ts';
import { history } from './history/toolset.ts';
import { knowledge } from './knowledge/toolset.ts';
import { isTemplate } from './memory-bank/core-file.ts';
import { memoryBank } from './memory-bank/toolset.ts';
import { searchOver } from './search/toolset.ts';
import { teamOver } from './team/toolset.ts';
import { truth } from './truth/toolset.ts';

/** The names of tools, by toolset. */
export type ToolNames = readonly (readonly [toolset: string, tools: readonly string[]])[];

const seeded: readonly Toolset[] = [memoryBank, graph, documents, knowledge, banks];

/** Every toolset, in the order in which its tools are listed. */
export const toolsets: readonly Toolset[] = [
  ...seeded,
  searchOver(seeded, searchPast),
  briefOver(seeded),
  history,
  truth,
  teamOver([
    { toolset: graph, tools: claimTools },
    { toolset: history, tools: [syncMemory] },
  ]),
];

/** The names of the tools that clients see, by toolset. */
export function listedTools(): ToolNames {
  return toolsets.map(({ name, tools }) => [
    name,
    tools.flatMap((tool) => (tool.listed === false ? [] : [tool.name])),
  ]);
}

/** Adds an entry to the progress of the project, as the tool `track_progress` does. */
export async function trackProgress(
  context: Context,
  action: string,
  description: string,
): Promise<void> {
  const tool = memoryBank.tools.find(({ name }) => name === 'track_progress');
  await tool?.call(context, { action, description, updateActiveContext: false });
}

/** The source of a brief of the records of all toolsets. */
export function briefSource(context: Context): ContextSource {
  return new ContextSource(
    context,
    seeded.flatMap(({ records }) => records),
  );
}

/** Composes a brief of the records of all toolsets, for callers other than its tool. */
export function brief(context: Context, request: BriefRequest): Promise<Brief> {
  const types = seeded.flatMap(({ records }) => records);
  return briefOf(context, types, request);
}

/** Whether a record is a core file as the program created it, which nobody has filled yet. */
export function isUnusedTemplate(record: object): boolean {
  if (!('path' in record) || !('content' in record)) return false;
  return isTemplate(String(record.path), String(record.content));
}
