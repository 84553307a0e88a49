import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import { type Context, timestamp } from '../../core/declarations/context.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { byCreation, type Listing, type Located } from '../../core/memory/listing.ts';
import type { Reader, Transaction } from '../../core/memory/store.ts';
import { invalid, type MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { add, find, idOf, intact, listOwned, newIdentity, save, writtenBodies } from './crud.ts';
import { batch, id, slug, statement, status } from './graph-fields.ts';
import { NounTools } from './noun-tools.ts';
import { saying } from './provenance.ts';
import { objective, type Task, task } from './records.ts';
import { withClaims } from './task-claims.ts';

/** A task as the tools return it. */
export function taskBody(value: Task, objective_id: string | null): JsonObject {
  const { id, text, status, order, created_at, updated_at } = value;
  return { id, objective_id, text, status, order, created_at, updated_at };
}

/** Lists the tasks of an objective by order; of two with the same order the older one comes first. */
export async function tasksOf(reader: Reader, slug: string): Promise<Listing<Task>> {
  const { records, damaged } = await listOwned(reader, task, slug);
  return { records: byCreation(records).sort((a, b) => a.value.order - b.value.order), damaged };
}

const tasks = new NounTools({
  type: task,
  naming: z.object({ id }),
  key: (_, { id }) => id,
  owner: (reader, { objective: slug }) => idOf(reader, objective, slug),
  body: taskBody,
  extend: withClaims,
});

/** Task tools (seed 000). */
export const taskTools: readonly Tool[] = [
  defineTool({
    name: 'create_tasks',
    title: 'Create tasks',
    description: 'Add tasks to an objective, in the order given.',
    effect: 'write',
    input: z.object({
      objective_slug: slug,
      tasks: batch(z.object({ text: statement, status: status.default('pending') })),
    }),
    async handle(context, { objective_slug, ...args }) {
      const given = args.tasks.map((fields) => ({ ...fields, ...newIdentity(context) }));
      const names = given.map(({ text }) => text);
      const why = saying('create', 'task', names, ` of objective "${objective_slug}"`);
      const { objective_id, written } = await context.store.change(why, async (draft) => {
        const { id } = await find(draft, objective, objective_slug);
        let next = 0;
        for (const { value } of intact(await tasksOf(draft, objective_slug))) {
          // After a merge two tasks can have the same order; this makes orders unique again.
          const { order } = await move(context, draft, value, Math.max(value.order, next));
          next = order + 1;
        }
        const written: Located<Task>[] = [];
        for (const [index, fields] of given.entries()) {
          const value = { ...fields, order: next, objective: objective_slug };
          written.push(await add(draft, task, value, ['tasks', index]));
          next += 1;
        }
        return { objective_id: id, written };
      });
      const body = (value: Task) => taskBody(value, objective_id);
      return { tasks: await writtenBodies(context, task, written, body) };
    },
  }),

  tasks.get('Read a task.'),

  tasks.list(
    'Show the tasks of an objective with their ids, in order, or those of one status.',
    z.object({
      objective_slug: slug,
      status: status.optional(),
      offset: offsetArgument,
    }),
    async (store, { objective_slug, status }) => {
      const { id } = await find(store, objective, objective_slug);
      const { records, damaged } = await tasksOf(store, objective_slug);
      const selected = records.filter(
        ({ value }) => status === undefined || value.status === status,
      );
      return { records: selected, damaged, owner: id };
    },
  ),

  tasks.update(
    'Mark a task as done, finished or in progress, or change its text.',
    z.object({ id, text: statement.optional(), status: status.optional() }),
  ),

  tasks.delete('Delete a task. The others keep their order.'),

  defineTool({
    name: 'reorder_tasks',
    title: 'Reorder tasks',
    description:
      'Put tasks of an objective into another order: those given first, the others as before.',
    effect: 'write',
    idempotent: true,
    input: z.object({ objective_slug: slug, task_ids: batch(id) }),
    async handle(context, { objective_slug, task_ids }) {
      const why = { subject: `reorder tasks of objective "${objective_slug}"` };
      const tasks = await context.store.change(why, async (draft) => {
        const owner = await find(draft, objective, objective_slug);
        const records = intact(await tasksOf(draft, objective_slug));
        const rest = new Map(records.map(({ key, value }) => [key, value]));
        const first = task_ids.map((id, index) => {
          const value = rest.get(id);
          if (!value) throw notOf(objective_slug, task_ids, index);
          rest.delete(id);
          return value;
        });
        const ordered: JsonObject[] = [];
        for (const [order, value] of [...first, ...rest.values()].entries()) {
          ordered.push(taskBody(await move(context, draft, value, order), owner.id));
        }
        return ordered;
      });
      return { tasks };
    },
  }),
];

/** Gives a task a new order; writes nothing when it has that order already. */
async function move(
  context: Context,
  draft: Transaction,
  value: Task,
  order: number,
): Promise<Task> {
  if (value.order === order) return value;
  return save(draft, task, { ...value, order, updated_at: timestamp(context.now()) });
}

function notOf(slug: string, ids: readonly string[], index: number): MemoryError {
  const id = ids[index] ?? '';
  return invalid(
    ['task_ids', index],
    ids.indexOf(id) < index
      ? `task '${id}' is in this list twice`
      : `there is no task '${id}' in objective '${slug}'`,
  );
}
