import type { Context } from '../../core/declarations/context.ts';
import type { Transaction } from '../../core/memory/store.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { find, intact, save } from './crud.ts';
import { label, saying } from './provenance.ts';
import { feature, type GraphRecord, objective, path, ticket } from './records.ts';

type Field = 'paths' | 'features' | 'tickets';
type Holder<F extends Field> = GraphRecord & { readonly [field in F]?: string[] | undefined };

/**
 * A kind of link: `field` of a `from` record has the sorted keys of the linked `to` records.
 *
 * The tools do not return `field`, so a new or removed link does not change `updated_at`: an agent
 * would see a new timestamp on a record that looks the same.
 */
export interface Link<F extends Field, T extends Holder<F>, U extends GraphRecord> {
  readonly from: RecordType<T>;
  readonly field: F;
  readonly to: RecordType<U>;
}

export const featurePaths = { from: feature, field: 'paths', to: path } as const;
export const objectiveFeatures = { from: objective, field: 'features', to: feature } as const;
export const objectiveTickets = { from: objective, field: 'tickets', to: ticket } as const;

/**
 * Links a record to others; an existing link stays as it is.
 *
 * @throws MemoryError `not_found` when one of the records does not exist; then none is linked.
 */
export async function link<F extends Field, T extends Holder<F>, U extends GraphRecord>(
  context: Context,
  { from, field, to }: Link<F, T, U>,
  key: string,
  targets: readonly string[],
): Promise<{ linked: number }> {
  const verb = `link ${from.name} "${key}" to`;
  await context.store.change(saying(verb, to.name, [...new Set(targets)]), async (draft) => {
    const holder = await find(draft, from, key);
    for (const target of targets) await find(draft, to, target);
    const held: readonly string[] = holder[field] ?? [];
    const added = targets.filter((target) => !held.includes(target));
    if (added.length === 0) return;
    await save(draft, from, { ...holder, [field]: [...new Set([...held, ...added])].sort() });
  });
  return { linked: targets.length };
}

/**
 * Removes the link of a record to another one, which may have been deleted.
 *
 * @throws MemoryError `not_found` when there is no such link.
 */
export async function unlink<F extends Field, T extends Holder<F>, U extends GraphRecord>(
  context: Context,
  { from, field, to }: Link<F, T, U>,
  key: string,
  target: string,
): Promise<{ unlinked: true }> {
  const subject = `unlink ${from.name} "${key}" from ${to.name} "${target}"`;
  await context.store.change({ subject }, async (draft) => {
    const holder = await find(draft, from, key);
    const held: readonly string[] = holder[field] ?? [];
    if (!held.includes(target)) throw notLinked(from.name, key, to.name, target);
    await save(draft, from, { ...holder, [field]: held.filter((other) => other !== target) });
  });
  return { unlinked: true };
}

function notLinked(from: string, key: string, to: string, target: string): MemoryError {
  return new MemoryError(
    'not_found',
    `Link between ${from} '${key}' and ${to} '${target}' not found`,
  );
}

/**
 * Removes every link to a record that is about to be deleted.
 *
 * @returns the records that had such a link, in the words of the commit message.
 */
export async function dropLinks<F extends Field, T extends Holder<F>, U extends GraphRecord>(
  draft: Transaction,
  { from, field }: Link<F, T, U>,
  target: string,
): Promise<string[]> {
  const dropped: string[] = [];
  for (const { value: holder } of intact(await draft.list(from))) {
    const held: readonly string[] = holder[field] ?? [];
    if (!held.includes(target)) continue;
    await save(draft, from, { ...holder, [field]: held.filter((other) => other !== target) });
    dropped.push(`from ${label(from, holder)}`);
  }
  return dropped;
}
