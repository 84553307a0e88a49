import type { Context } from '../../core/declarations/context.ts';
import type { EvidenceReport } from '../../core/evidence/verdict.ts';
import { findingCounts, type LastCheck, writeLastCheck } from '../../core/memory/last-check.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Finding } from './finding.ts';

/** Counts the errors and warnings of a check of a whole memory, and keeps the counts for the next brief. */
export async function countFindings(
  { project, store }: Context,
  { records, docs }: EvidenceReport,
): Promise<Pick<LastCheck, 'errors' | 'warnings'>> {
  const all = [...records, ...(docs?.files ?? [])].flatMap(({ findings }) => [...findings]);
  const [errors = 0, warnings = 0] = (['error', 'warning'] as const).map(
    (wanted) => all.filter(({ severity }) => severity === wanted).length,
  );
  const { oid: commit } = await project.head();
  if (commit !== undefined) await writeLastCheck(store.local, { commit, errors, warnings });
  return { errors, warnings };
}

/**
 * Sums up in one line what `memory-bank check` reports about a memory.
 *
 * @returns undefined for a memory without a commit, which has nothing to check.
 */
export async function checkLine(context: Context): Promise<Finding | undefined> {
  const what = 'Check';
  if ((await context.project.head()).oid === undefined) return undefined;
  try {
    const counts = await countFindings(context, await context.history.evidence({}));
    const found = findingCounts(counts);
    if (found === '') return { what, state: 'good', text: 'nothing to mend' };
    const text = `${found}: run "memory-bank check"`;
    return { what, state: counts.errors > 0 ? 'bad' : 'note', text };
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'not_found') return undefined;
    throw error;
  }
}
