import { counted } from '../../core/answers/painter.ts';
import type { Context } from '../../core/declarations/context.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Finding } from './finding.ts';

/**
 * Sums up in one line what `memory-bank check` reports about a memory.
 *
 * @returns undefined for a memory without a commit, which has nothing to check.
 */
export async function checkLine(context: Context): Promise<Finding | undefined> {
  const what = 'Check';
  if ((await context.project.head()).oid === undefined) return undefined;
  try {
    const { records, docs } = await context.history.evidence({});
    const all = [...records, ...(docs?.files ?? [])].flatMap(({ findings }) => [...findings]);
    const found = (['error', 'warning'] as const).flatMap((wanted) => {
      const { length } = all.filter(({ severity }) => severity === wanted);
      return length === 0 ? [] : [counted(length, wanted)];
    });
    if (found.length === 0) return { what, state: 'good', text: 'nothing to mend' };
    const isBad = all.some(({ severity }) => severity === 'error');
    const text = `${found.join(', ')}: run "memory-bank check"`;
    return { what, state: isBad ? 'bad' : 'note', text };
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return undefined;
    throw error;
  }
}
