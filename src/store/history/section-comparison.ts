import { markdownDiff } from '../../core/markdown/empty-sections.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import type { RecordChange } from '../../core/memory/commit-log.ts';
import { formatAddress, type RecordAddress } from '../../core/names/record-address.ts';
import type { Oid } from '../../git/objects/object.ts';
import { type HistoryReader, noRecord } from './history-reader.ts';

/**
 * Compares one section of a record in two commits.
 *
 * @param name as readers have it: a path of headings, or a title with or without its date.
 * @returns undefined if both commits have the same.
 * @throws MemoryError `not_found` for a section that neither commit has.
 */
export function sectionChange(
  reader: HistoryReader,
  { path, section: name = '' }: RecordAddress,
  old: Oid,
  now: Oid,
): RecordChange | undefined {
  const versions = [old, now].map((commit) =>
    reader.versions.read(path, reader.history.records(commit).oid(path)),
  );
  const record = versions[1] ?? versions[0];
  if (!record) throw noRecord(path, now);
  const sections = versions.map((version) => new Sections(path, version?.text ?? ''));
  const found = sections.map((all) => all.find(name));
  const [named] = sections.flatMap((all, at) => (found[at] ? [all.addressOf(found[at])] : []));
  if (named === undefined) sections.at(versions[1] ? 1 : 0)?.at(name);
  const [before, after] = found.map(
    (one, at) => one && versions[at]?.text.slice(one.start, one.end).trimEnd(),
  );
  if (before === after) return undefined;
  const isChanged = before !== undefined && after !== undefined;
  return {
    path: named ?? formatAddress({ path, section: name }),
    change: isChanged ? 'changed' : after === undefined ? 'removed' : 'added',
    type: record.type,
    key: record.key,
    title: (found[1] ?? found[0])?.heading,
    fields: isChanged ? [{ field: 'text', diff: markdownDiff(`${before}\n`, `${after}\n`) }] : [],
  };
}
