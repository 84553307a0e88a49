import { z } from 'zod';
import { MemoryError } from '../../core/error.ts';
import { titleOf } from '../../core/markdown/sections.ts';
import { fileNameProblem, foldName } from '../../core/names/file-name.ts';
import { defineRecordType } from '../../core/record-type.ts';
import type { Located, Transaction } from '../../core/store.ts';

/** The largest file that the tools write, in bytes. */
export const maxFileBytes = 1024 * 1024;

/** The folders of other toolsets and of the modes' rules. */
const reserved = ['graph', 'documents', 'knowledge', 'banks', 'rules'];

const schema = z.object({
  /** Where it lies below `.memory-bank/`. */
  path: z.string(),
  /** Every character of the file. */
  content: z.string(),
});

/** A markdown file of the memory bank (seed 003), whoever wrote it. */
export type MemoryFile = z.infer<typeof schema>;

/** The files are served as they are: no text is damaged, one with conflict markers neither. */
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
  locate: (key) => key,
  search: ({ path, content }) => ({
    title: titleOf(content) ?? path,
    body: content,
    notes: path,
  }),
  merge: { content: 'sections' },
});

/** What keeps a text from being the name of a file of the bank (3.13), or undefined. */
export function nameProblem(name: string): string | undefined {
  const [folder = ''] = name.split('/', 1);
  const other = name.includes('/') && reserved.find((one) => one === foldName(folder));
  if (other) return `must not lead into "${other}/", which other tools keep their records in`;
  return fileNameProblem(name);
}

/**
 * Refuses a file that is larger than what the tools read for editing and write.
 *
 * @throws MemoryError `too_large` beyond `maxFileBytes`.
 */
export function checkSize({ path, content }: MemoryFile): void {
  const bytes = Buffer.byteLength(content);
  if (bytes <= maxFileBytes) return;
  throw new MemoryError('too_large', `${path} is ${bytes} bytes large.`, {
    hint: `A file may have ${maxFileBytes} bytes (1 MiB); divide it, or move old parts to another file.`,
    data: { path },
  });
}

/** Writes a file; throws as `checkSize` and the store do. */
export function write(transaction: Transaction, file: MemoryFile): Promise<Located<MemoryFile>> {
  checkSize(file);
  return transaction.put(memoryFile, file);
}
