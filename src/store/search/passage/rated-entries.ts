import type { Steps } from '../../records/slices.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import type { DatedEntry } from '../text/log-entries.ts';
import { areasOf, isSuperseded, type OutlineOf } from '../text/passage-area.ts';
import type { AskedQuery } from './asked-query.ts';
import { rateUnits, weigh } from './best-section.ts';
import { findMatches, type TextMatch } from './text-match.ts';

/** Entries that are worth a smaller share of the best one are not found. */
const leastShare = 0.6;
/** The same for an entry that may replace one of those. */
const leastSuccessor = 0.2;
/** The share of its worth that an entry adds whose title has no other words than the query. */
const fitWeight = 0.25;

export interface RatedEntry {
  readonly entry: DatedEntry;
  /** Its worth, as a share of that of the best entry. */
  readonly share: number;
  /** All matches in the body of its document, which the text of its hit is chosen by. */
  readonly places: readonly TextMatch[];
}

/**
 * Rates the entries of a log by what they have of a query; those that have much less are left out.
 *
 * @param fitOf returns the share of the words of the title of an entry that the query asks for.
 */
export function* ratedEntries(
  document: IndexedDocument,
  entries: readonly DatedEntry[],
  { concepts, asked, rarities }: AskedQuery,
  outlineOf: OutlineOf,
  fitOf: (entry: DatedEntry) => number,
): Steps<readonly RatedEntry[]> {
  const { fields } = document;
  const text = fields.body ?? '';
  const places = yield* findMatches(document, 'body', asked);
  const areas = areasOf(fields, 'body', outlineOf);
  const weights = weigh(concepts, rarities, places, areas);
  const rated: { readonly entry: DatedEntry; readonly value: number }[] = [];
  for (const entry of entries) {
    const { best } = yield* rateUnits(text, entry.areas, places, weights);
    if (!best) continue;
    const fit = fitOf(entry);
    rated.push({ entry, value: best.value * (1 + fitWeight * fit) });
  }
  const most = rated.reduce((value, one) => Math.max(value, one.value), 0);
  const shares = rated.map(({ entry, value }) => ({ entry, share: value / most, places }));
  const [replaced] = shares
    .filter(({ entry, share }) => share >= leastShare && isSuperseded(text, entry.section))
    .sort((a, b) => (a.entry.at < b.entry.at ? -1 : 1));
  return shares.filter(({ entry, share }) => {
    const isLater = replaced !== undefined && entry.at > replaced.entry.at;
    return share >= (isLater ? leastSuccessor : leastShare);
  });
}
