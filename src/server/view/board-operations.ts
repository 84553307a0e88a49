import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { isOfPerson } from '../../core/memory/author-name.ts';
import type { WorkClaim } from '../../core/memory/claims.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import {
  type Board,
  type BoardTask,
  boardShape,
  claimedShape,
  createdShape,
  movedShape,
  releasedShape,
} from '../page/board-answers.ts';
import { at } from './answer-data.ts';
import { callTool } from './checked-call.ts';
import { defineMemoryOperation } from './operation.ts';
import { type KnownRecord, readState } from './record-source.ts';

/** Maximum number of tasks on the board; completed ones are left out first. */
const maxTasks = 2000;
const done = 'completed';

const id = z.string().min(1).max(100).describe('The id of the task');
const status = z.string().min(1).max(100);

export const board = defineMemoryOperation({
  method: 'get',
  path: '/memory/board',
  id: 'get_board',
  summary: 'Returns the tasks with who has claimed them, and their objectives with their tickets.',
  input: z.object({ at }),
  answer: boardShape,
  async run(context, { at }, { types }) {
    const wanted = types.filter(({ name }) => name === 'task' || name === 'objective');
    const { records } = await readState(context, wanted, at);
    const claims = at === undefined ? await context.claims.list() : new Map<string, WorkClaim>();
    const tasks = records
      .filter(({ type }) => type.name === 'task')
      .sort((a, b) => Number(isDone(a)) - Number(isDone(b)) || orderOf(a) - orderOf(b));
    return {
      objectives: records.filter(({ type }) => type.name === 'objective').map(objectiveOf),
      tasks: tasks.slice(0, maxTasks).map((one) => taskOf(one, claims.get(one.path))),
      total: tasks.length,
    };
  },
});

export const moveTask = defineMemoryOperation({
  method: 'post',
  path: '/memory/tasks/move',
  id: 'update_task',
  summary: 'Gives a task another state, unless it has got another one meanwhile.',
  input: z.object({ id, from: status.describe('The state that the person sees'), to: status }),
  answer: movedShape,
  async run(context, { id, from, to }, catalogue) {
    const type = taskType(catalogue.types);
    await callTool(context, catalogue, 'update_task', { id, status: to }, async (transaction) => {
      const value = (await transaction.get(type, id))?.value;
      const now = isObject(value) ? value.status : undefined;
      if (now === undefined || now === from) return;
      throw new MemoryError('conflict', `The task is ${now} now, and was ${from} before.`, {
        hint: 'Look at it again.',
      });
    });
    return { id, status: to };
  },
});

export const createTask = defineMemoryOperation({
  method: 'post',
  path: '/memory/tasks/create',
  id: 'create_tasks',
  summary: 'Adds a task to an objective, after its others.',
  input: z.object({
    objective: z.string().min(1).max(1000).describe('The slug of the objective'),
    text: z.string().trim().min(1).max(10_000),
  }),
  answer: createdShape,
  async run(context, { objective, text }, catalogue) {
    const args = { objective_slug: objective, tasks: [{ text }] };
    const { tasks } = await callTool(context, catalogue, 'create_tasks', args);
    const [created] = Array.isArray(tasks) ? tasks : [];
    return { id: isObject(created) ? String(created.id) : '' };
  },
});

export const claimTask = defineMemoryOperation({
  method: 'post',
  path: '/memory/tasks/claim',
  id: 'claim_task',
  summary: 'Claims a task for the person, so that no agent works on it.',
  input: z.object({ id }),
  answer: claimedShape,
  async run(context, { id }, catalogue) {
    const { shared } = await callTool(context, catalogue, 'claim_task', { id });
    return { id, shared: shared === true };
  },
});

export const releaseTask = defineMemoryOperation({
  method: 'post',
  path: '/memory/tasks/release',
  id: 'release_task',
  summary: 'Ends the claim of a task.',
  input: z.object({
    id,
    force: z.boolean().default(false).describe('Also the claim of another session'),
  }),
  answer: releasedShape,
  async run(context, { id, force }, catalogue) {
    const { released } = await callTool(context, catalogue, 'release_task', { id, force });
    return { id, released: released === true };
  },
});

/** The state of all claims as a text, by which a change of them is known. */
export async function claimsNow({ claims }: Context): Promise<string> {
  const found = [...(await claims.list()).values()];
  return JSON.stringify(found.map(({ path, session, until }) => [path, session, until]));
}

function taskType(types: readonly AnyRecordType[]): AnyRecordType {
  const type = types.find(({ name }) => name === 'task');
  if (type) return type;
  throw new MemoryError('unsupported', 'This server does not have the toolset graph.');
}

function isDone({ value }: KnownRecord): boolean {
  return value.status === done;
}

function orderOf({ value }: KnownRecord): number {
  return typeof value.order === 'number' ? value.order : 0;
}

function objectiveOf({ path, title, key, value }: KnownRecord): Board['objectives'][number] {
  const { tickets } = value;
  return {
    path,
    slug: key,
    name: title,
    tickets: Array.isArray(tickets) ? tickets.map(String) : [],
  };
}

function taskOf({ path, title, key, value }: KnownRecord, claim: WorkClaim | undefined): BoardTask {
  const { status, objective } = value;
  return {
    id: key,
    path,
    text: title,
    status: String(status),
    ...(typeof objective === 'string' && { objective }),
    ...(claim && {
      claim: {
        by: claim.agent !== '' && !isOfPerson(claim.agent) ? claim.agent : claim.person,
        until: claim.until,
        mine: claim.mine,
      },
    }),
  };
}
