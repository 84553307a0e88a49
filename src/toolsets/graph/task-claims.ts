import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import type { WorkClaim } from '../../core/memory/claims.ts';
import type { Located } from '../../core/memory/listing.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { findRecord } from './crud.ts';
import { id } from './graph-fields.ts';
import { type Task, task } from './records.ts';

/** Tools by which several agents divide the tasks of an objective. */
export const claimTools: readonly Tool[] = [
  defineTool({
    name: 'claim_task',
    title: 'Claim a task',
    description:
      'Take a task, so that nobody else works on it. Fails if another session has it. Again: extends the claim. release_task gives it back.',
    effect: 'write',
    idempotent: true,
    input: z.object({
      id,
      minutes: z.number().int().min(1).max(10_080).default(60).describe('Until it expires'),
    }),
    async handle(context, { id, minutes }) {
      const { path } = await findRecord(context.store, task, id);
      const { claim, unshared } = await context.claims.claim(path, minutes);
      if (unshared !== undefined) {
        context.note(`Other machines do not know this claim: ${unshared}`);
      }
      return { task_id: id, claim: claimBody(claim), shared: unshared === undefined };
    },
  }),

  defineTool({
    name: 'release_task',
    title: 'Release a task',
    description: 'Give a task of claim_task back: somebody else may take it.',
    effect: 'write',
    idempotent: true,
    input: z.object({
      id,
      force: z.boolean().default(false).describe('Also of another session'),
    }),
    async handle(context, { id, force }) {
      const { path } = await findRecord(context.store, task, id);
      return { task_id: id, released: await context.claims.release(path, force) };
    },
  }),
];

/** A claim as the tools return it. */
function claimBody({ agent, person, until, mine }: WorkClaim): JsonObject {
  return { agent, person, until, mine };
}

/** Adds the claims of tasks to their bodies, where there are any. */
export async function withClaims(
  { claims }: Context,
  tasks: readonly Located<Task>[],
  bodies: readonly JsonObject[],
): Promise<JsonObject[]> {
  const found = await claims.list();
  return bodies.map((body, i) => {
    const claim = found.get(tasks[i]?.path ?? '');
    return claim ? { ...body, claim: claimBody(claim) } : body;
  });
}
