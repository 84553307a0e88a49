import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { sessionKey } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';

/** The memory folder that the session has activated; one that moves to another activates again. */
const activated = sessionKey<string | undefined>('documents.activated', () => undefined);

export const activateProject = defineTool({
  name: 'activate_project',
  title: 'Activate the project',
  description:
    'Opens the project’s documents. Call it once per session, before store_memory, get_memory, list_memories, update_memory and delete_memory.',
  effect: 'write',
  idempotent: true,
  setsSession: true,
  input: z.object({}),
  async handle(context) {
    const project_id = await context.project.initialize();
    context.session.set(activated, (await context.project.site()).folder);
    return { project_id };
  },
});

/**
 * Refuses a call unless the session has activated the project that the call would reach.
 *
 * @throws MemoryError `not_activated` (seed 002).
 */
export async function requireActivation(context: Context, tool: Tool): Promise<void> {
  if (tool === activateProject) return;
  const folder = context.session.get(activated);
  if (folder !== undefined && folder === (await context.project.site()).folder) return;
  throw new MemoryError('not_activated', 'The project is not activated in this session.', {
    hint: 'Call activate_project first, then repeat the call.',
  });
}
