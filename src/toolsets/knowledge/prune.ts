import * as z from 'zod';
import { defineTool } from '../../core/declarations/tool.ts';
import { reportDamaged } from '../../core/memory/answer-fields.ts';
import type { Listing, Located } from '../../core/memory/listing.ts';
import type { Provenance, Reader } from '../../core/memory/store.ts';
import { confirm, requireConfirmation } from './confirmation.ts';
import { categories, entryRecord, type KnowledgeEntry, listEntries } from './entry.ts';

const millisecondsPerDay = 86_400_000;

/** Maximum number of deleted entries that the commit message names. */
const namedInCommit = 50;

/** Categories that can be pruned; protocol state never expires. */
const prunable = categories.filter((category) => category !== 'protocol-state');

export const memoryPrune = defineTool({
  name: 'memory_prune',
  title: 'Prune knowledge',
  description:
    'Clean up entries of memory_write that are older than max_age_days, and the oldest beyond max_entries. Preview with dry_run first.',
  effect: 'destroy',
  input: z.object({
    max_age_days: z.int().min(0).max(1_000_000).default(90),
    max_entries: z.int().min(0).max(1_000_000).default(100).describe('Kept per category'),
    dry_run: z.boolean().default(true),
    confirm: confirm.optional().describe('Must be true unless dry_run'),
  }),
  complete: ['would_delete', 'deleted'],
  async handle(context, { dry_run, confirm, ...limits }) {
    if (!dry_run) requireConfirmation(confirm, 'Nothing is deleted yet.');
    const now = context.now().getTime();

    if (dry_run) {
      const { records, damaged } = await stale(context.store, limits, now);
      const would_delete = records.map((record) => summary(record, now));
      return { dry_run, would_delete, total: would_delete.length, ...reportDamaged(damaged) };
    }
    const { records, damaged } = await context.store.change(
      (pruned: Listing<KnowledgeEntry>) => provenance(pruned.records, limits, now),
      async (transaction) => {
        const found = await stale(transaction, limits, now);
        for (const [index, { key }] of found.records.entries()) {
          await transaction.remove(entryRecord, key);
          context.progress(index + 1, found.records.length, `Deleted ${key}`);
        }
        return found;
      },
    );
    const deleted = records.map((record) => summary(record, now));
    return { dry_run, deleted, total: deleted.length, ...reportDamaged(damaged) };
  },
});

interface Limits {
  readonly max_age_days: number;
  readonly max_entries: number;
}

/** Lists the entries older than the maximum age or not among the most recently updated ones. */
async function stale(
  reader: Reader,
  limits: Limits,
  now: number,
): Promise<Listing<KnowledgeEntry>> {
  const { records, damaged } = await listEntries(reader, prunable);
  const oldest = now - limits.max_age_days * millisecondsPerDay;
  const newest = new Set(
    prunable.flatMap((category) =>
      records
        .filter(({ value }) => value.category === category)
        // Of two entries updated at the same time, the one created later counts as newer.
        .toReversed()
        .sort((a, b) => updated(b) - updated(a))
        .slice(0, limits.max_entries),
    ),
  );
  return {
    records: records.filter((record) => !newest.has(record) || updated(record) < oldest),
    damaged,
  };
}

function updated({ value }: Located<KnowledgeEntry>): number {
  return Date.parse(value.updated_at);
}

function summary(record: Located<KnowledgeEntry>, now: number) {
  const { category, key } = record.value;
  // The clock of the machine that wrote the entry may have been ahead.
  const age = Math.max(0, now - updated(record));
  return { category, key, age_days: Math.floor(age / millisecondsPerDay) };
}

function provenance(
  records: readonly Located<KnowledgeEntry>[],
  { max_age_days, max_entries }: Limits,
  now: number,
): Provenance {
  const named = records.slice(0, namedInCommit).map((record) => {
    const { category, key, age_days } = summary(record, now);
    return `- ${category}: ${key} (${age_days} days)`;
  });
  const more = records.length - named.length;
  return {
    subject: `prune ${records.length} knowledge ${records.length === 1 ? 'entry' : 'entries'}`,
    reason: [
      `Not updated for ${max_age_days} days, or not among the ${max_entries} newest of a category:`,
      '',
      ...named,
      ...(more > 0 ? [`- and ${more} more`] : []),
    ].join('\n'),
  };
}
