import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { byKey, create, newIdentity, writtenBodies } from './crud.ts';
import { batch, line, text, title } from './graph-fields.ts';
import { dropLinks, objectiveTickets } from './links.ts';
import { NounTools } from './noun-tools.ts';
import { type Ticket, ticket } from './records.ts';

/** A ticket as the tools return it. */
export function ticketBody(value: Ticket): JsonObject {
  const { id, key, title = null, description = null, created_at, updated_at } = value;
  return { id, key, title, description, created_at, updated_at };
}

const tickets = new NounTools({
  type: ticket,
  naming: z.object({ key: line }),
  key: (_, { key }) => key,
  body: ticketBody,
});

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

  tickets.get('Read a ticket.'),

  tickets.list('List all tickets by key.', z.object({ offset: offsetArgument }), async (store) => {
    const { records, damaged } = await store.list(ticket);
    return { records: byKey(records), damaged };
  }),

  tickets.update(
    'Change the title or description of a ticket.',
    z.object({ key: line, title: title.optional(), description: text.optional() }),
  ),

  tickets.delete('Delete a ticket and its links.', async (draft, { key }) => [
    { noun: 'link', names: await dropLinks(draft, objectiveTickets, key) },
  ]),
];
