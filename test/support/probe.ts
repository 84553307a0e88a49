import { once } from 'node:events';
import { z } from 'zod';
import { defineTool } from '../../src/core/declarations/tool.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { usualRoles } from '../../src/core/record/part-role.ts';
import { defineRecordType } from '../../src/core/record/record-type.ts';
import { MemoryError } from '../../src/core/values/error.ts';

interface Note {
  readonly name: string;
  readonly text: string;
}

/** A note with a name and a text: the smallest possible record. */
export const note = defineRecordType<Note>({
  name: 'note',
  toolset: 'probe',
  folder: 'notes',
  extension: '.md',
  schema: z.object({ name: z.string(), text: z.string() }),
  codec: {
    encode: ({ text }) => text,
    decode: (text, path) => ({ name: path.slice('notes/'.length, -'.md'.length), text }),
  },
  key: ({ name }) => name,
  path: ({ name }) => `notes/${name}.md`,
  search: ({ name, text }) => ({ title: name, body: text }),
  roles: usualRoles,
  merge: { text: 'text' },
});

const name = z.string().min(1).describe('Name of the note');
const write = z.object({ name, text: z.string() });

/** A toolset that waits, throws and prints, as real ones do only in exceptional cases. */
export const probe: Toolset = {
  name: 'probe',
  title: 'Tools for tests of the transports',
  records: [note],
  resources: { scheme: 'note', type: note },
  prompts: [
    {
      name: 'recall',
      title: 'Recall',
      description: 'Recalls the notes',
      text: async (context) => {
        const { records } = await context.store.list(note);
        return `There are ${records.length} notes.`;
      },
    },
  ],
  tools: [
    defineTool({
      name: 'note_write',
      title: 'Write a note',
      description: 'Writes a note.',
      effect: 'write',
      idempotent: true,
      input: write,
      meta: { use_when: 'there is something to note' },
      async handle(context, value) {
        await context.store.change({ subject: `write note ${value.name}` }, (transaction) =>
          transaction.put(note, value),
        );
        return { agent: context.session.agent ?? null };
      },
    }),
    defineTool({
      name: 'home_write',
      title: 'Write a note for all projects',
      description: 'Writes a note into the home store.',
      effect: 'write',
      input: write,
      async handle(context, value) {
        await (await context.home()).change(
          { subject: `write note ${value.name}` },
          (transaction) => transaction.put(note, value),
        );
        return {};
      },
    }),
    defineTool({
      name: 'note_read',
      title: 'Read a note',
      description: 'Reads a note.',
      effect: 'read',
      input: z.object({ name }),
      async handle(context, args) {
        const found = await context.store.get(note, args.name);
        if (!found) throw new MemoryError('not_found', `There is no note ${args.name}.`);
        return { text: found.value.text };
      },
    }),
    defineTool({
      name: 'note_drop',
      title: 'Remove a note',
      description: 'Removes a note.',
      effect: 'destroy',
      input: z.object({ name }),
      async handle(context, args) {
        const removed = await context.store.change(
          { subject: `remove note ${args.name}` },
          (transaction) => transaction.remove(note, args.name),
        );
        return { removed };
      },
    }),
    defineTool({
      name: 'wait',
      title: 'Wait',
      description: 'Waits for SIGUSR2 or until it is cancelled.',
      effect: 'read',
      input: z.object({}),
      async handle(context) {
        // Unlike real work, a signal listener does not keep the process alive.
        const work = setInterval(() => {}, 60_000);
        try {
          const released = once(process, 'SIGUSR2', { signal: context.signal });
          context.log('notice', 'waiting');
          await released;
        } finally {
          clearInterval(work);
        }
        return { waited: true };
      },
    }),
    defineTool({
      name: 'steps',
      title: 'Steps',
      description: 'Reports progress.',
      effect: 'read',
      input: z.object({}),
      handle(context) {
        context.progress(1, 2, 'half');
        context.progress(1, 2, 'half again');
        context.progress(2, 2, 'done');
        return {};
      },
    }),
    defineTool({
      name: 'fail',
      title: 'Fail',
      description: 'Throws, prints and leaves a rejection behind.',
      effect: 'read',
      input: z.object({}),
      handle() {
        console.log('printed by a library');
        process.stdout.write('written by a library\n');
        void Promise.reject(new Error('left behind'));
        throw new Error('private detail');
      },
    }),
    defineTool({
      name: 'break',
      title: 'Break',
      description: 'Leaves an exception behind that nobody catches.',
      effect: 'read',
      input: z.object({}),
      handle() {
        setImmediate(() => {
          throw new Error('uncaught');
        });
        return {};
      },
    }),
    defineTool({
      name: 'where',
      title: 'Where',
      description: 'Says which root is served, after going to another one.',
      effect: 'read',
      input: z.object({ path: z.string().optional(), create: z.boolean().default(false) }),
      async handle(context, { path, create }) {
        if (path !== undefined) await context.useProject(path, { create });
        const { root } = await context.project.info();
        return { root, mode: (await context.modes.current())?.name ?? null };
      },
    }),
    defineTool({
      name: 'hidden',
      title: 'Hidden',
      description: 'Is in no list.',
      effect: 'read',
      listed: false,
      input: z.object({}),
      handle: () => ({}),
    }),
  ],
  success: (_, value) => ({ ok: true, ...value }),
  failure: (_, error) => ({
    body: { ok: false, code: error.code, message: error.text },
    note: 'It failed.',
  }),
};
