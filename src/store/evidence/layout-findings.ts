import { counted } from '../../core/answers/painter.ts';
import type { TextFinding } from '../../core/evidence/verdict.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { entriesInLogs } from '../layout/entry-logs.ts';
import type { MendCommands } from './mend-commands.ts';
import { textFinding } from './text-findings.ts';

/** Finds the entries that a merge has left in a log whose entries are files. */
export function layoutFindings(
  reader: HistoryReader,
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  const { memory } = reader.history;
  if (!memory.settings.hasEntryFiles) return new Map();
  const left = entriesInLogs(memory.storedFiles).filter(({ path }) => reader.mayRead(path));
  return new Map(
    left.map(({ path, lines }) => {
      const message = `Entries in the wrong layout: ${counted(lines.length, 'entry')} of this file should be in files of ${lines.length === 1 ? 'its' : 'their'} own.`;
      const command = mend.layout();
      const [line = 1] = lines;
      const finding = textFinding('layout', message, { line, mend: command });
      return [path, [{ ...finding, stored: { path, line } }]];
    }),
  );
}
