import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { byCreation } from '../../core/memory/listing.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { create, intact, listOwned, newIdentity, writtenBodies } from './crud.ts';
import { batch, limits, line, slug, status, text } from './graph-fields.ts';
import { link, objectiveFeatures, objectiveTickets, unlink } from './links.ts';
import { NounTools } from './noun-tools.ts';
import { type Objective, objective, task } from './records.ts';

/** An objective as the tools return it: without its links, which other tools return. */
export function objectiveBody(value: Objective): JsonObject {
  const { id, slug, name, description = null, status, plan_file_path = null } = value;
  const { created_at, updated_at } = value;
  return { id, slug, name, description, status, plan_file_path, created_at, updated_at };
}

const objectives = new NounTools({
  type: objective,
  naming: z.object({ slug }),
  key: (_, { slug }) => slug,
  body: objectiveBody,
  async remark({ store }, { slug, status }) {
    if (status !== 'completed') return undefined;
    const tasks = intact(await listOwned(store, task, slug));
    const open = tasks.filter(({ value }) => value.status !== 'completed');
    if (open.length === 0) return undefined;
    const named = open.slice(0, mostNamed).map(({ value: { id, text } }) => `"${text}" (${id})`);
    const more = open.length > mostNamed ? ` and ${open.length - mostNamed} more` : '';
    return `The objective is completed, but these of its tasks are open: ${named.join(', ')}${more}.`;
  },
});

/** Limit of the open tasks that a remark names. */
const mostNamed = 10;

const planFile = z.string().max(limits.path);

/** Objective tools (seed 000). */
export const objectiveTools: readonly Tool[] = [
  defineTool({
    name: 'create_objective',
    title: 'Create an objective',
    description:
      'Start a new objective, a goal to work on. Its steps are tasks; its plan can be a file.',
    effect: 'write',
    input: z.object({
      slug,
      name: line,
      description: text.optional(),
      status: status.default('pending'),
      plan_file_path: planFile.optional(),
    }),
    async handle(context, args) {
      const created = { ...args, ...newIdentity(context) };
      const argument = () => ['slug'];
      const written = await create(context, objective, [created], argument);
      const [body = {}] = await writtenBodies(context, objective, written, objectiveBody);
      return { objective: body };
    },
  }),

  objectives.get('Read an objective. get_objective_context adds its tasks and links.'),

  objectives.list(
    'Which objectives there are, or are still active (by status), newest first.',
    z.object({ status: status.optional(), offset: offsetArgument }),
    async (store, { status }) => {
      const { records, damaged } = await store.list(objective);
      const selected = byCreation(records).filter(
        ({ value }) => status === undefined || value.status === status,
      );
      return { records: selected.reverse(), damaged };
    },
  ),

  objectives.update(
    'Change an objective, such as its status.',
    z.object({
      slug,
      name: line.optional(),
      description: text.optional(),
      status: status.optional(),
      plan_file_path: planFile.optional(),
    }),
  ),

  objectives.delete(
    'Delete an objective, its tasks and links. Features and tickets stay.',
    async (draft, { slug, features = [], tickets = [] }) => {
      const tasks = intact(await listOwned(draft, task, slug));
      for (const { key } of tasks) await draft.remove(task, key);
      const toFeatures = features.map((key) => `to feature "${key}"`);
      const toTickets = tickets.map((key) => `to ticket "${key}"`);
      return [
        { noun: 'task', names: tasks.map(({ value }) => `"${value.text}"`) },
        { noun: 'link', names: [...toFeatures, ...toTickets] },
      ];
    },
  ),

  defineTool({
    name: 'link_objective_to_features',
    title: 'Link an objective to features',
    description: 'Say which features belong to an objective.',
    effect: 'write',
    idempotent: true,
    input: z.object({ objective_slug: slug, feature_slugs: batch(slug) }),
    handle: (context, { objective_slug, feature_slugs }) =>
      link(context, objectiveFeatures, objective_slug, feature_slugs),
  }),

  defineTool({
    name: 'unlink_objective_from_feature',
    title: 'Unlink an objective from a feature',
    description: 'Remove a feature from an objective. Both records stay.',
    effect: 'destroy',
    idempotent: true,
    input: z.object({ objective_slug: slug, feature_slug: slug }),
    handle: (context, { objective_slug, feature_slug }) =>
      unlink(context, objectiveFeatures, objective_slug, feature_slug),
  }),

  defineTool({
    name: 'link_objective_to_tickets',
    title: 'Link an objective to tickets',
    description: 'Say which ticket belongs to an objective.',
    effect: 'write',
    idempotent: true,
    input: z.object({ objective_slug: slug, ticket_keys: batch(line) }),
    handle: (context, { objective_slug, ticket_keys }) =>
      link(context, objectiveTickets, objective_slug, ticket_keys),
  }),

  defineTool({
    name: 'unlink_objective_from_ticket',
    title: 'Unlink an objective from a ticket',
    description: 'Remove a ticket from an objective. Both records stay.',
    effect: 'destroy',
    idempotent: true,
    input: z.object({ objective_slug: slug, ticket_key: line }),
    handle: (context, { objective_slug, ticket_key }) =>
      unlink(context, objectiveTickets, objective_slug, ticket_key),
  }),
];
