import * as z from 'zod';
import { nextOffset, offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import type { JsonObject } from '../../core/values/json.ts';
import {
  bodiesOf,
  bodyOf,
  byKey,
  create,
  findRecord,
  newIdentity,
  remove,
  update,
  updatedBody,
  writtenBodies,
} from './crud.ts';
import { batch, line, text, title } from './graph-fields.ts';
import { dropLinks, objectiveTickets } from './links.ts';
import { type Ticket, ticket } from './records.ts';

/** A ticket as the tools return it. */
export function ticketBody(value: Ticket): JsonObject {
  const { id, key, title = null, description = null, created_at, updated_at } = value;
  return { id, key, title, description, created_at, updated_at };
}

/** Ticket tools (seed 000). */
export const ticketTools: readonly Tool[] = [
  defineTool({
    name: 'create_tickets',
    title: 'Create tickets',
    description: 'Record tickets of an issue tracker, to link objectives to. Example key: JIRA-1.',
    effect: 'write',
    input: z.object({
      tickets: batch(
        z.object({ key: line, title: title.optional(), description: text.optional() }),
      ),
    }),
    async handle(context, args) {
      const tickets = args.tickets.map((given) => ({ ...given, ...newIdentity(context) }));
      const argument = (index: number) => ['tickets', index, 'key'];
      const written = await create(context, ticket, tickets, argument);
      return { tickets: await writtenBodies(context, ticket, written, ticketBody) };
    },
  }),

  defineTool({
    name: 'get_ticket',
    title: 'Get a ticket',
    description: 'Read a ticket.',
    effect: 'read',
    input: z.object({ key: line }),
    async handle({ store }, { key }) {
      const found = await findRecord(store, ticket, key);
      return { ticket: await bodyOf(store, found, ticketBody) };
    },
  }),

  defineTool({
    name: 'list_tickets',
    title: 'List tickets',
    description: 'List all tickets by key.',
    effect: 'read',
    input: z.object({ offset: offsetArgument }),
    growing: { tickets: nextOffset },
    async handle({ store }, { offset }) {
      const { records, damaged } = await store.list(ticket);
      const tickets = await bodiesOf(store, byKey(records).slice(offset), ticketBody);
      return { tickets, ...reportDamaged(damaged) };
    },
  }),

  defineTool({
    name: 'update_ticket',
    title: 'Update a ticket',
    description: 'Change the fields given.',
    effect: 'write',
    idempotent: true,
    input: z.object({ key: line, title: title.optional(), description: text.optional() }),
    async handle(context, { key, ...changes }) {
      const updated = await update(context, ticket, key, changes);
      return { ticket: await updatedBody(context, ticket, updated, ticketBody) };
    },
  }),

  defineTool({
    name: 'delete_ticket',
    title: 'Delete a ticket',
    description: 'Delete a ticket and its links.',
    effect: 'destroy',
    idempotent: true,
    input: z.object({ key: line }),
    handle: (context, { key }) =>
      remove(context, ticket, key, async (draft) => [
        { noun: 'link', names: await dropLinks(draft, objectiveTickets, key) },
      ]),
  }),
];
