import * as z from 'zod';
import { nextOffset, offsetArgument } from '../../core/answers/offset-argument.ts';
import { noteOtherDecisions } from '../../core/declarations/other-decisions.ts';
import { reportSimilar } from '../../core/declarations/similar-note.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import { readSection, sectionArgument } from '../../core/markdown/section-argument.ts';
import { cautionField, reportDamaged } from '../../core/memory/answer-fields.ts';
import { foreignNote } from '../../core/memory/pinned-memories.ts';
import { type CoreFile, coreFiles } from './core-file.ts';
import { find, notFound, pathFor } from './lookup.ts';
import { memoryFile, write } from './memory-file.ts';

const filename = z.string().describe('progress.md, docs/api.md');

export const readFile = defineTool({
  name: 'read_memory_bank_file',
  title: 'Read a memory bank file',
  description: 'Open a markdown file by its name.',
  effect: 'read',
  input: z.object({ filename, section: sectionArgument }),
  async handle({ store, memories }, args) {
    if (await memories.isForeign(args.filename)) {
      const { text, caution } = await memories.read(args.filename);
      return {
        content: readSection(text, args.section),
        ...cautionField([foreignNote, ...caution]),
      };
    }
    const file = await find(store, args.filename);
    if (!file) throw await notFound(store, args.filename);
    const caution = (await store.cautions([file.path])).get(file.path);
    return { content: readSection(file.value.content, args.section), ...cautionField(caution) };
  },
});

export const writeFile = defineTool({
  name: 'write_memory_bank_file',
  title: 'Write a memory bank file',
  description:
    'Write a new page, or replace a whole file. To add to one, prefer track_progress, log_decision and update_active_context, which keep the rest.',
  effect: 'write',
  idempotent: true,
  input: z.object({ filename, content: z.string().describe('The whole file') }),
  async handle(context, { filename, content }) {
    const written = await context.store.change(
      { subject: `write ${filename}` },
      async (transaction) => {
        const path = await pathFor(transaction, filename);
        const before = await transaction.get(memoryFile, path);
        const file = await write(transaction, { path, content });
        return before?.value.content === content ? undefined : file;
      },
    );
    const similar = written && (await reportSimilar(context, memoryFile, written));
    return { message: 'File written successfully', ...similar };
  },
});

/** DELETE /memory-bank/file/:filename; the seed lists no tool for it. */
export const deleteFile = defineTool({
  name: 'delete_memory_bank_file',
  title: 'Delete a memory bank file',
  description: 'Delete a markdown file of the memory bank; the git history keeps it.',
  effect: 'destroy',
  listed: false,
  input: z.object({ filename }),
  async handle({ store }, { filename }) {
    await store.change({ subject: `delete ${filename}` }, async (transaction) => {
      const file = await find(transaction, filename);
      if (!file) throw await notFound(transaction, filename);
      await transaction.remove(memoryFile, file.key);
    });
    return { message: 'File deleted successfully' };
  },
});

export const listFiles = defineTool({
  name: 'list_memory_bank_files',
  title: 'List memory bank files',
  description: 'Which files are in the memory bank, core files first.',
  effect: 'read',
  input: z.object({ offset: offsetArgument }),
  growing: { files: nextOffset },
  async handle({ store }, { offset }) {
    const { records, damaged } = await store.list(memoryFile);
    return { files: inOrder(records).slice(offset), ...reportDamaged(damaged) };
  },
});

/** Paths with the core files first, in the seed's order, and the others by path. */
export function inOrder(files: readonly { readonly path: string }[]): string[] {
  const paths = files.map(({ path }) => path);
  const core = coreFiles.filter((name) => paths.includes(name));
  return [...core, ...paths.filter((path) => !coreFiles.some((name) => name === path)).sort()];
}

/** The tools that read one core file each ("Resource Tools"). */
export const coreReaders: readonly Tool[] = [
  coreReader('Product_Context', 'productContext.md', 'What this product is for and who uses it'),
  coreReader(
    'Active_Context',
    'activeContext.md',
    'What we are working on right now: tasks, open problems, what comes next',
  ),
  coreReader('Progress', 'progress.md', 'What has been done so far in the project'),
  coreReader(
    'Decision_Log',
    'decisionLog.md',
    'Show all decisions made so far, with their reasons. About one subject: search_memory; to add one: log_decision',
  ),
  coreReader(
    'System_Patterns',
    'systemPatterns.md',
    'Which patterns and conventions the architecture follows',
  ),
];

function coreReader(name: string, filename: CoreFile, what: string): Tool {
  return defineTool({
    name,
    title: name.replace('_', ' '),
    description: `${what} (${filename}).`,
    effect: 'read',
    input: z.object({ section: sectionArgument }),
    async handle(context, { section }) {
      if (filename === 'decisionLog.md' && section === undefined)
        await noteOtherDecisions(context, memoryFile.toolset);
      return readFile.call(context, { filename, section });
    },
  });
}
