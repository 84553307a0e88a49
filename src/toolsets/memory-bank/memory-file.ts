import * as z from 'zod';
import { titleOf } from '../../core/markdown/sections.ts';
import type { Located } from '../../core/memory/listing.ts';
import type { Transaction } from '../../core/memory/store.ts';
import { fileNameProblem, foldName } from '../../core/names/file-name.ts';
import { usualRoles } from '../../core/record/part-role.ts';
import { defineRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { pointsOf } from './file-points.ts';
import { maskPlaceholders } from './placeholder.ts';

/** The largest file that the tools write, in bytes. */
export const maxFileBytes = 1024 * 1024;

/** Folders of other toolsets and of mode rules. */
const reserved = ['graph', 'documents', 'knowledge', 'banks', 'rules'];

const schema = z.object({
  /** Path below `.memory-bank/`. */
  path: z.string(),
  /** The whole text of the file. */
  content: z.string(),
});

/** A markdown file of the memory bank (seed 003), written by this program or by hand. */
export type MemoryFile = z.infer<typeof schema>;

/** Serves files as they are: no text counts as damaged, not even with conflict markers. */
export const memoryFile = defineRecordType<MemoryFile>({
  name: 'bank-file',
  toolset: 'memory-bank',
  folder: '',
  extension: '.md',
  schema,
  codec: {
    encode: ({ content }) => content,
    decode: (content, path) => ({ path, content }),
  },
  fanOut: false,
  owns: (path) => nameProblem(path.normalize()) === undefined,
  key: ({ path }) => path,
  path: ({ path }) => path,
  locate: (key) => [key],
  search: ({ path, content }) => ({
    title: titleOf(content) ?? path,
    body: maskPlaceholders(content),
    markdown: true,
    notes: path,
  }),
  roles: { ...usualRoles, notes: 'bookkeeping' },
  points: pointsOf,
  decisions: {
    name: 'decisionLog.md',
    tool: 'Decision_Log',
    among: { keys: ['decisionLog.md', 'decision-log.md'] },
    count: (file) => pointsOf(file).filter(({ part }) => part === 'decision').length,
  },
  merge: { content: 'sections' },
});

/** Returns why a text cannot be the name of a file of the memory bank, or undefined. */
export function nameProblem(name: string): string | undefined {
  const [folder = ''] = name.split('/', 1);
  const other = name.includes('/') && reserved.find((one) => one === foldName(folder));
  if (other) return `must not be in "${other}/", where other tools keep their records`;
  return fileNameProblem(name);
}

/**
 * Refuses a file that is too large for the tools to edit or write.
 *
 * @throws MemoryError `too_large` beyond `maxFileBytes`.
 */
export function checkSize({ path, content }: MemoryFile): void {
  const bytes = Buffer.byteLength(content);
  if (bytes <= maxFileBytes) return;
  throw new MemoryError('too_large', `${path} has ${bytes} bytes.`, {
    hint: `The limit is ${maxFileBytes} bytes (1 MiB). Split the file, or move old parts to another one.`,
    data: { path },
  });
}

/** Writes a file; throws as `checkSize` and the store do. */
export function write(transaction: Transaction, file: MemoryFile): Promise<Located<MemoryFile>> {
  checkSize(file);
  return transaction.put(memoryFile, file);
}
