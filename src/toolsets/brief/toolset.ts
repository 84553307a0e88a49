import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import {
  type Prompt,
  plainFailure,
  plainSuccess,
  type TextResource,
  type Toolset,
} from '../../core/declarations/toolset.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { ContextSource } from './context-source.ts';
import type { Brief } from './layout.ts';
import { type BriefRequest, composeBrief, defaultBudget } from './session-brief.ts';

/** Size limit of a brief in characters: what clients accept from a hook. */
const maxBudget = 10_000;

/** Composes the brief of a memory; an empty one where there is no memory. */
export async function briefOf(
  context: Context,
  types: readonly AnyRecordType[],
  request: BriefRequest,
): Promise<Brief> {
  // A prompt is answered at once.
  if (!request.onlyPrompt) await context.catchUp();
  if (!(await context.project.site()).initialized) return { text: '', lines: [] };
  return composeBrief<never>(new ContextSource(context, types), request);
}

/** A short overview of the records of the given toolsets, for the start of a session. */
export function briefOver(toolsets: readonly Toolset[]): Toolset {
  const types: readonly AnyRecordType[] = toolsets.flatMap(({ records }) => records);
  const tool = defineTool({
    name: 'brief',
    title: 'Brief',
    description:
      'A short summary of the memory to start with: what you should know before you begin.',
    effect: 'read',
    input: z.object({
      budget: z.int().min(500).max(maxBudget).default(defaultBudget).describe('Characters'),
      prompt: z.string().max(1_000_000).optional().describe('The task'),
    }),
    async handle(context, { budget, prompt }) {
      const { text } = await briefOf(context, types, { budget, prompt });
      return { brief: text };
    },
  });
  const prompt: Prompt = {
    name: 'brief',
    title: 'Brief of the project’s memory',
    description: 'What the memory of this project says about the current work.',
    async text(context) {
      const { text } = await briefOf(context, types, { budget: defaultBudget });
      return text || 'The memory of this project has nothing to say yet.';
    },
  };
  const text: TextResource = {
    uri: 'memory-bank://brief',
    name: 'brief',
    description: 'Current work, decisions and recent changes of the project.',
    text: async (context) => (await briefOf(context, types, { budget: defaultBudget })).text,
  };
  return {
    name: 'brief',
    title: 'A short overview for the start of a session',
    tools: [tool],
    records: [],
    prompts: [prompt],
    texts: [text],
    success: plainSuccess,
    failure: plainFailure,
  };
}
