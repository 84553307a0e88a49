import * as z from 'zod';
import type { ProjectInfo } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import { coreFiles, create, missingCoreFiles } from './core-file.ts';
import { inOrder } from './file-tools.ts';
import { olderName } from './lookup.ts';
import { memoryFile } from './memory-file.ts';

const path = z.string().min(1).describe('Project folder; "." for this one');

export const initialize = defineTool({
  name: 'initialize_memory_bank',
  title: 'Initialize a memory bank',
  description:
    'Create a memory bank for a project: the missing core files in <path>/.memory-bank. One that exists: set_memory_bank_path.',
  effect: 'write',
  idempotent: true,
  setsSession: true,
  input: z.object({ path }),
  async handle(context, { path }) {
    const info = await context.useProject(path, { create: true });
    const created = await context.store.change(
      { subject: 'initialize memory bank' },
      async (transaction) => {
        const missing = await missingCoreFiles(transaction);
        for (const name of missing) await create(transaction, name);
        return missing;
      },
    );
    return { message: 'Memory Bank initialized successfully', path: info.folder, created };
  },
});

export const setPath = defineTool({
  name: 'set_memory_bank_path',
  title: 'Set the memory bank path',
  description:
    'Work with the memory of another project from now on; initialize_memory_bank creates a new one.',
  effect: 'read',
  setsSession: true,
  input: z.object({ path }),
  async handle(context, { path }) {
    const info = await context.useProject(path, { create: false });
    return { message: 'Memory Bank path set successfully', ...stateOf(info) };
  },
});

export const getStatus = defineTool({
  name: 'get_memory_bank_status',
  title: 'Get the memory bank status',
  description: 'Where the memory bank is, whether it is set up, or which core files are missing.',
  effect: 'read',
  input: z.object({}),
  async handle({ project, store }) {
    const { records, damaged } = await store.list(memoryFile);
    const files = inOrder(records);
    const missing = await missingCoreFiles(store);
    const shadowed = coreFiles.flatMap((name) => {
      const older = olderName(name);
      return older !== undefined && files.includes(older) && files.includes(name) ? [older] : [];
    });
    return {
      ...stateOf(await project.info()),
      files,
      missing,
      ...(shadowed.length > 0 && { shadowed }),
      ...reportDamaged(damaged),
    };
  },
});

function stateOf({ folder, initialized }: ProjectInfo) {
  return { memoryBankStatus: initialized ? 'initialized' : 'uninitialized', path: folder };
}
