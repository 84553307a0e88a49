import { counted } from '../../core/answers/painter.ts';
import type { TextFinding } from '../../core/evidence/verdict.ts';
import { conflictLine } from '../../core/markdown/conflict-line.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { EntryFile } from '../layout/entry-files.ts';
import { composeLog, entriesInLogs, type StoredFiles } from '../layout/entry-logs.ts';
import { entryFolders, logAt, logOfEntry } from '../layout/log-paths.ts';
import { FoldedPaths, foldedDifference } from '../records/folded-paths.ts';
import { conflictMessage } from './file-findings.ts';
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

/**
 * Finds the conflict markers of entry files that their log does not show: it shows what is above a line
 * of equal signs as a heading.
 */
export function entryConflicts(
  reader: HistoryReader,
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  const { storedFiles } = reader.history.memory;
  const found = new Map<string, TextFinding[]>();
  for (const { path, text, log } of readableEntries(reader).flat()) {
    const line = conflictLine(text);
    if (line === undefined) continue;
    if (conflictLine(composeLog(storedFiles, log) ?? '') !== undefined) continue;
    const finding = textFinding('conflict', conflictMessage, { mend: mend.resolve(log) });
    addTo(found, log, { ...finding, stored: { path, line } });
  }
  return found;
}

/** Whether a merge has left conflict markers in a record, or in a file of a log. */
export function isInConflict(reader: HistoryReader, path: string, text: string): boolean {
  if (conflictLine(text) !== undefined) return true;
  const { settings, storedFiles } = reader.history.memory;
  const log = settings.hasEntryFiles ? logAt(path) : undefined;
  if (!log) return false;
  return entriesOf(storedFiles, log.folder).some((file) => conflictLine(file.text) !== undefined);
}

/** Finds the entry files whose names some file systems do not tell apart. */
export function entryTwins(
  reader: HistoryReader,
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  const found = new Map<string, TextFinding[]>();
  for (const entries of readableEntries(reader)) {
    const names = new FoldedPaths(entries.map(({ path }) => path));
    for (const { path, log } of entries) {
      const twins = names.twinsOf(path);
      if (twins.length === 0) continue;
      const message = `The name of its entry ${path} differs from ${twins.join(' and ')} ${foldedDifference}`;
      const finding = textFinding('case', message, {
        mend: mend.rename(path, names.freeName(path)),
      });
      addTo(found, log, { ...finding, stored: { path, line: 1 } });
    }
  }
  return found;
}

/** The entry files of each folder whose log the reader may read; none where logs have their entries. */
function readableEntries(
  reader: HistoryReader,
): { readonly path: string; readonly text: string; readonly log: string }[][] {
  const { settings, storedFiles } = reader.history.memory;
  if (!settings.hasEntryFiles) return [];
  return entryFolders.map((folder) =>
    entriesOf(storedFiles, folder).flatMap(({ name, text }) => {
      const path = `${folder}/${name}`;
      const log = logOfEntry(path);
      return log === undefined || !reader.mayRead(log) ? [] : [{ path, text, log }];
    }),
  );
}

/** The entry files of a folder; none if one cannot be read, which its log reports. */
function entriesOf(files: StoredFiles, folder: string): readonly EntryFile[] {
  try {
    return files.entries(folder);
  } catch (error) {
    if (error instanceof MemoryError) return [];
    throw error;
  }
}
