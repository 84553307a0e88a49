import type { Reader, Transaction } from '../../core/memory/store.ts';
import { inFile, MemoryError } from '../../core/values/error.ts';
import { find } from './lookup.ts';
import { checkSize, write } from './memory-file.ts';
import { withoutPlaceholders } from './placeholder.ts';

/** Title and sections of each new core file, without the placeholder entries that seed 003 shows. */
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
  'decisionLog.md': ['# Decision Log'],
  'systemPatterns.md': ['# System Patterns', '## Architecture Patterns', '## Design Patterns'],
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
 * @returns its path.
 * @throws MemoryError `conflict` when the text holds conflict markers.
 */
export async function edit(
  transaction: Transaction,
  name: CoreFile,
  change: (text: string) => string,
): Promise<string> {
  const file = await find(transaction, name);
  if (file) checkSize(file.value);
  const path = file?.path ?? name;
  const content = inFile(path, () => change(startOf(name, file?.value.content)));
  await write(transaction, { path, content });
  return path;
}

/** Returns the result of the work, or `forbidden` when the session's mode does not allow it. */
function allowed<T>(work: Promise<T>): Promise<T | 'forbidden'> {
  return work.catch((error) => {
    if (error instanceof MemoryError && error.code === 'forbidden') return 'forbidden';
    throw error;
  });
}

/** Whether a file still has the text of its template, perhaps with the placeholder entries of older versions. */
export function isTemplate(path: string, content: string): boolean {
  const name = coreFiles.find((one) => one === path);
  if (name === undefined) return false;
  return withoutPlaceholders(content).replaceAll('\r\n', '\n') === templateOf(name);
}

/** The text that a file has before an edit: a template loses its placeholder entries. */
function startOf(name: CoreFile, content = templateOf(name)): string {
  return isTemplate(name, content) ? withoutPlaceholders(content) : content;
}

function templateOf(name: CoreFile): string {
  return `${templates[name].join('\n\n')}\n`;
}
