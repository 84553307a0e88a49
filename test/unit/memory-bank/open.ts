import { memoryBank } from '../../../src/toolsets/memory-bank/toolset.ts';
import { callsOf } from '../../suites/call.ts';
import { TestContext } from '../../support/context.ts';

/** A memory bank with these files, or one that does not exist yet. */
export function open(files?: { readonly [path: string]: string }) {
  const context = new TestContext(memoryBank);
  if (files) {
    context.project.id = '5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01';
    for (const [path, text] of Object.entries(files)) context.store.files.set(path, text);
  }
  return {
    context,
    call: callsOf(memoryBank, context),
    file: (path: string) => context.store.files.get(path),
    commits: () => context.store.commits.map(({ subject }) => subject),
  };
}

/** A failure as the seed prints it. */
export function failure(code: string, message: unknown) {
  return { isError: true, body: { status: 'error', error: { code, message } } };
}

export const coreNames = [
  'activeContext.md',
  'productContext.md',
  'progress.md',
  'decisionLog.md',
  'systemPatterns.md',
];
