import { Sections } from '../../core/markdown/section-statements.ts';
import type { Restoration } from '../../core/memory/history.ts';
import { formatAddress } from '../../core/names/record-address.ts';
import type { Oid } from '../../git/objects/object.ts';
import { takeSections } from '../merge/section-choice.ts';
import type { LiveTransaction } from '../records/transaction.ts';
import { type HistoryReader, noRecord } from './history-reader.ts';
import type { PastRecords } from './past-records.ts';
import { recordInCommit } from './record-in-commit.ts';

export type RestoredPaths = Omit<Restoration, 'commit' | 'undone'>;

/**
 * Brings one section of a record back to an earlier state; everything else of the record stays.
 *
 * @param removes whether a section is removed that the earlier state does not have.
 * @throws MemoryError `not_found` for a record or section that the earlier state does not have.
 */
export async function restoreSection(
  reader: HistoryReader,
  draft: LiveTransaction,
  records: PastRecords,
  { path, section }: { readonly path: string; readonly section: string },
  source: Oid,
  removes: boolean,
): Promise<RestoredPaths> {
  const file = await recordInCommit(reader, records, path);
  const past = file && records.text(file.path);
  if (!file || past === undefined) throw noRecord(path, source);
  const later: string[] = [];
  let isRemoved = false;
  await draft.rewrite(path, (text) => {
    const [now, old] = [new Sections(path, text), new Sections(file.path, past)];
    const present = now.find(section);
    // A title without its date can be that of another section in the earlier state.
    const name = present ? now.nameOf(present) : section;
    const earlier = present && removes ? old.find(name) : old.at(name);
    const restored = takeSections(text, past, ({ start }, isOfPresent) =>
      isOfPresent ? start === present?.start : start === earlier?.start,
    );
    isRemoved = earlier === undefined;
    if (restored !== text) later.push(formatAddress({ path, section: name }));
    return restored;
  });
  return { restored: isRemoved ? [] : later, removed: isRemoved ? later : [], damaged: [] };
}
