import type { TextFinding } from '../../core/evidence/verdict.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { MendCommands } from './mend-commands.ts';
import type { MissingLink } from './named-records.ts';
import { textFinding } from './text-findings.ts';

/** Limit of the findings about one record. */
const maxNamed = 20;

/** Finds the keys in fields of records that no record has, after all files have been read. */
export function brokenLinks(
  { history }: HistoryReader,
  missing: readonly MissingLink[],
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  const { view } = history.memory;
  const found = new Map<string, TextFinding[]>();
  for (const { path, line, type, key } of missing) {
    // A person may have moved the file of the other record.
    if (view.find(type, key) || (found.get(path)?.length ?? 0) >= maxNamed) continue;
    const [place] = type.locate?.(key) ?? [];
    const command = (place === undefined ? undefined : mend.bringBack(place)) ?? mend.edit(path);
    const message = `It names the ${type.name} ${JSON.stringify(key)}, which does not exist.`;
    addTo(found, path, textFinding('broken', message, { line, mend: command }));
  }
  return found;
}
