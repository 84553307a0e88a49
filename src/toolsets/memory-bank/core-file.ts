import type { Context } from '../../core/context.ts';
import { inFile, MemoryError } from '../../core/error.ts';
import type { Provenance, Reader, Transaction } from '../../core/store.ts';
import { find } from './lookup.ts';
import { checkSize, write } from './memory-file.ts';

/** Initial headings of each core file, exactly as seed 003 gives them. */
const templates = {
  'activeContext.md': [
    '# Current Context',
    '## Ongoing Tasks',
    '## Known Issues',
    '## Next Steps',
    '## Current Session Notes',
  ],
  'productContext.md': [
    '# Project Name',
    '## Overview',
    '## Key Features',
    '## Technical Stack',
    '## Architecture',
  ],
  'progress.md': [
    '# Project Progress',
    '## Completed Milestones',
    '## Pending Milestones',
    '## Update History',
  ],
  'decisionLog.md': [
    '# Decision Log',
    '## [Decision Title] - [Date]',
    '### Context',
    '### Decision',
    '### Alternatives Considered',
    '### Consequences',
  ],
  'systemPatterns.md': [
    '# System Patterns',
    '## Architecture Patterns',
    '### [Pattern Name]',
    '#### Usage',
    '#### Implementation',
    '## Design Patterns',
    '### [Pattern Name]',
    '#### Usage',
    '#### Implementation',
  ],
} as const;

/** One of the five files that every memory bank has. */
export type CoreFile = keyof typeof templates;

/** The five files, in the seed's order. */
export const coreFiles: readonly CoreFile[] = [
  'activeContext.md',
  'productContext.md',
  'progress.md',
  'decisionLog.md',
  'systemPatterns.md',
];

/** Lists the core files that do not exist yet under either of their names. */
export async function missingCoreFiles(reader: Reader): Promise<CoreFile[]> {
  const missing: CoreFile[] = [];
  for (const name of coreFiles) if (!(await allowed(find(reader, name)))) missing.push(name);
  return missing;
}

/** Creates a core file from its template. */
export async function create(transaction: Transaction, name: CoreFile): Promise<void> {
  await write(transaction, { path: name, content: templateOf(name) });
}

/**
 * Changes the text of a core file; a missing file starts from its template.
 *
 * @throws MemoryError `conflict` when the text holds conflict markers.
 */
export async function edit(
  transaction: Transaction,
  name: CoreFile,
  change: (text: string) => string,
): Promise<void> {
  const file = await find(transaction, name);
  if (file) checkSize(file.value);
  const path = file?.path ?? name;
  const content = inFile(path, () => change(file?.value.content ?? templateOf(name)));
  await write(transaction, { path, content });
}

/**
 * Changes files of the memory bank in one commit.
 *
 * The first change also creates the core files that the session's mode allows, so that an agent that
 * never calls initialize_memory_bank gets a complete memory bank.
 */
export async function change(
  context: Context,
  why: Provenance,
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  const { initialized } = await context.project.info();
  await context.store.change(why, async (transaction) => {
    await work(transaction);
    if (initialized) return;
    for (const name of await missingCoreFiles(transaction)) {
      await allowed(create(transaction, name));
    }
  });
}

/** Returns the result of the work, or `forbidden` when the session's mode does not allow it. */
function allowed<T>(work: Promise<T>): Promise<T | 'forbidden'> {
  return work.catch((error) => {
    if (error instanceof MemoryError && error.code === 'forbidden') return 'forbidden';
    throw error;
  });
}

/** Whether a file still has the text of its template. */
export function isTemplate(path: string, content: string): boolean {
  const name = coreFiles.find((one) => one === path);
  return name !== undefined && templateOf(name) === content;
}

function templateOf(name: CoreFile): string {
  return `${templates[name].join('\n\n')}\n`;
}
