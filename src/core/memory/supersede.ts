import { invalid, MemoryError } from '../values/error.ts';
import { afterCommit } from './after-commit.ts';
import type { History } from './history.ts';
import type { Transaction } from './store.ts';

/**
 * Makes a record or section replace others: it says so, and each of them says by which it was replaced.
 * Those that it no longer replaces say so no longer.
 *
 * @param address of a record or section that exists.
 * @returns the addresses of the replaced ones, in the form in which they are stored.
 * @throws MemoryError `not_found`, `invalid_input`, and what `annotate` throws.
 */
export async function supersede(
  transaction: Transaction,
  address: string,
  old: readonly string[],
): Promise<readonly string[]> {
  const own = await transaction.addressOf(address);
  const before = own === undefined ? undefined : await transaction.annotations(own);
  if (own === undefined || !before) throw missing(address);
  const replaced: string[] = [];
  for (const [index, one] of old.entries()) {
    const found = await transaction.addressOf(one);
    if (found === undefined) throw missing(one);
    const { supersedes = [] } = (await transaction.annotations(found)) ?? {};
    if (found === own || supersedes.includes(own)) {
      throw invalid(['supersedes', index], `${own} and ${found} would replace each other`);
    }
    replaced.push(found);
  }
  await transaction.annotate(own, { supersedes: replaced });
  for (const one of replaced) await transaction.annotate(one, { supersededBy: own });
  for (const one of before.supersedes) {
    if (replaced.includes(one)) continue;
    const released = await transaction.annotations(one);
    if (released?.supersededBy === own) await transaction.annotate(one, { supersededBy: null });
  }
  return replaced;
}

/** The error for an address without a record or section. */
export function missing(address: string): MemoryError {
  return new MemoryError('not_found', `There is no record at ${JSON.stringify(address)}.`, {
    hint: 'Give a path relative to .memory-bank/, as search results do; a section follows after #.',
    data: { path: address },
  });
}

/** Limit of the linked records that an answer names. */
const maxLinked = 50;

/** The live records that name one of these superseded records or sections; a note says if they are not known. */
export async function linkedTo(
  context: { readonly history: Pick<History, 'evidence'>; note(text: string): void },
  old: readonly string[],
): Promise<readonly string[]> {
  if (old.length === 0) return [];
  const read = async () => (await context.history.evidence({ only: 'texts' })).records;
  const records = await afterCommit(context, read, []);
  const linked = records.filter(({ findings }) =>
    findings.some((one) => one.kind === 'link' && one.records.some((link) => old.includes(link))),
  );
  return linked.map(({ path }) => path).slice(0, maxLinked);
}
