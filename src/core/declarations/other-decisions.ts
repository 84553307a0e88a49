import { counted } from '../answers/painter.ts';
import type { Context } from './context.ts';

/** Adds a note about the decisions of other toolsets to an answer that has those of one toolset. */
export async function noteOtherDecisions(context: Context, toolset: string): Promise<void> {
  const tools = await context.toolNames();
  for (const { place, count } of await context.store.decisions(toolset)) {
    if (count === 0 || !tools.has(place.tool)) continue;
    const call = [place.tool, ...(place.with === undefined ? [] : [place.with])].join(' with ');
    context.note(`${place.name} has ${counted(count, 'more decision')}; read by ${call}.`);
  }
}
