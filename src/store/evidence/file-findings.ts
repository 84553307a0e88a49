import type { TextFinding, TextKind } from '../../core/evidence/verdict.ts';
import { conflictLine } from '../../core/markdown/conflict-line.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { isEntryPath } from '../layout/log-paths.ts';
import { FoldedPaths, foldedDifference } from '../records/folded-paths.ts';
import type { RecordFile } from '../records/record-file.ts';
import type { Steps } from '../records/slices.ts';
import type { SecretGuard } from '../secrets/guard.ts';
import { readText } from './judged-places.ts';
import type { MendCommands } from './mend-commands.ts';
import type { CheckedRecord } from './record-evidence.ts';
import { textFinding } from './text-findings.ts';

/**
 * Finds the files that do not count as a record of their own: files that cannot be read, files of one
 * key, copies by their names, and names that some file systems do not tell apart.
 */
export function* fileFindings(
  reader: HistoryReader,
  mend: MendCommands,
): Steps<ReadonlyMap<string, readonly TextFinding[]>> {
  const { types, view } = reader.history.memory;
  const found = new Map<string, TextFinding[]>();
  const add = (
    path: string,
    kind: TextKind,
    message: string,
    records: readonly string[],
    command: string | undefined,
  ) => {
    if (![path, ...records].every((one) => reader.mayRead(one))) return;
    addTo(found, path, textFinding(kind, message, { records, mend: command }));
  };
  const folded = new FoldedPaths(view.paths());
  for (const type of types) {
    for (const file of yield* view.identifying(type)) {
      yield;
      const { path, error } = file;
      if (error && reader.mayRead(path)) {
        addTo(found, path, unreadable(reader, file, mend));
      }
      const twins = folded.twinsOf(path);
      if (twins.length > 0) {
        const message = `Its name differs from ${twins.join(' and ')} ${foldedDifference}`;
        add(path, 'case', message, twins, mend.rename(path, folded.freeName(path)));
      }
      const twin = view.shadowedBy(file);
      if (twin !== undefined) {
        const message = `It has the same key as ${twin}, and only that counts: take over what that lacks, then remove this file, or give it another key.`;
        add(path, 'duplicate', message, [twin], mend.remove(path));
        continue;
      }
      const original = error ? undefined : view.copyOf(file);
      if (original === undefined) continue;
      const message = `It is a copy of ${original} by its name, and git does not have it: take over what that lacks, then remove this file, or commit it if it is a record of its own.`;
      add(path, 'copy', message, [original], mend.add(path));
    }
  }
  return found;
}

/** Says why a file cannot be read as a record, and what helps, without its path. */
function unreadable(
  reader: HistoryReader,
  { path, type, error }: RecordFile,
  mend: MendCommands,
): TextFinding {
  const { cause } = error ?? {};
  const reason = cause instanceof MemoryError ? cause.message : (error?.message ?? '');
  const message = `It cannot be read: ${reason.replace(/\.$/, '')}. ${error?.hint ?? ''}`.trim();
  if (error?.code === 'conflict') {
    const line = conflictLine(readText(reader, path) ?? '');
    return textFinding('conflict', message, { line, mend: mend.resolve(path) });
  }
  // A log can be composed of several files.
  const place = cause instanceof MemoryError ? cause.data?.path : undefined;
  const line = lineIn(reason);
  if (typeof place !== 'string' || !isEntryPath(place)) {
    const command = mend.restore(path, (text) => type.codec.decode(text, path)) ?? mend.edit(path);
    return textFinding('unreadable', message, { line, mend: command });
  }
  const stored = { path: place, line: 1 };
  const earlier = mend.restore(place, () => undefined);
  if (earlier !== undefined)
    return { ...textFinding('unreadable', message, { mend: earlier }), stored };
  // No editor opens a part of a log.
  const out = `${message} Save it as UTF-8; the command keeps it and leaves it out of the log.`;
  return {
    ...textFinding('unreadable', out, { mend: mend.rename(place, `${place}.txt`) }),
    stored,
  };
}

/** The line that the message of a parser names. */
export function lineIn(message: string): number | undefined {
  const [, line] = /\bline (\d{1,7})\b/.exec(message) ?? [];
  return line === undefined ? undefined : Number(line);
}

export const conflictMessage =
  'A merge left conflict markers in it: keep what holds of both sides, and remove them.';

/** Finds conflict markers in a record that can be read in spite of them. */
export function conflictFindings(
  { path, text, value }: CheckedRecord,
  mend: MendCommands,
): readonly TextFinding[] {
  const line = conflictLine(text);
  if (line === undefined || value === undefined) return [];
  return [textFinding('conflict', conflictMessage, { line, mend: mend.resolve(path) })];
}

/** Finds the credentials in a record, which no write through the program would have accepted. */
export function secretFindings(
  guard: SecretGuard,
  { path, text, type, value }: CheckedRecord,
  mend: MendCommands,
): readonly TextFinding[] {
  return guard.describeIn(text, value && { type, value }).map(({ line, message }) => {
    return textFinding('secret', message, { line, mend: mend.edit(path) });
  });
}
