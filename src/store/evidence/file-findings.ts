import { textKinds } from '../../core/evidence/finding-kinds.ts';
import type { TextFinding, TextKind } from '../../core/evidence/verdict.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Visit } from '../history/visit.ts';
import { FoldedPaths, foldedDifference } from '../records/folded-paths.ts';
import { configPath } from '../records/memory-config.ts';
import type { RecordFile } from '../records/record-file.ts';
import type { Steps } from '../records/slices.ts';
import type { SecretGuard } from '../secrets/guard.ts';
import type { CheckedRecord } from './record-evidence.ts';

/**
 * Finds the files that do not count as a record of their own: files that cannot be read, files of one
 * key, copies by their names, and names that some file systems do not tell apart.
 */
export function* fileFindings(visit: Visit): Steps<ReadonlyMap<string, readonly TextFinding[]>> {
  const { types, view } = visit.archive.memory;
  const found = new Map<string, TextFinding[]>();
  const add = (path: string, kind: TextKind, message: string, records: readonly string[] = []) => {
    if (![path, ...records].every((one) => visit.mayRead(one))) return;
    const finding = { kind, severity: textKinds[kind].severity, records, message };
    found.set(path, [...(found.get(path) ?? []), finding]);
  };
  const folded = new FoldedPaths(view.paths());
  for (const type of types) {
    for (const file of yield* view.identifying(type)) {
      yield;
      const { path, error } = file;
      if (error) add(path, error.code === 'conflict' ? 'conflict' : 'unreadable', problemOf(file));
      const twins = folded.twinsOf(path);
      if (twins.length > 0) {
        const message = `Its name differs from ${twins.join(' and ')} ${foldedDifference}`;
        add(path, 'case', message, twins);
      }
      const twin = view.shadowedBy(file);
      if (twin !== undefined) {
        const message = `It has the same key as ${twin}, and only that counts: take over what that lacks, then remove this file, or give it another key.`;
        add(path, 'duplicate', message, [twin]);
        continue;
      }
      const original = error ? undefined : view.copyOf(file);
      if (original === undefined) continue;
      const message = `It is a copy of ${original} by its name, and git does not have it: take over what that lacks, then remove this file, or commit it if it is a record of its own.`;
      add(path, 'copy', message, [original]);
    }
  }
  return found;
}

/** Says why a file cannot be read as a record, and what helps, without its path. */
function problemOf({ error }: RecordFile): string {
  const { cause } = error ?? {};
  const reason = cause instanceof MemoryError ? cause.message : (error?.message ?? '');
  return `It cannot be read: ${reason.replace(/\.$/, '')}. ${error?.hint ?? ''}`.trim();
}

/** Finds the credentials in a record, which no write through the program would have accepted. */
export function secretFindings(guard: SecretGuard, record: CheckedRecord): readonly TextFinding[] {
  const { text, type, value } = record;
  return guard.describeIn(text, value && { type, value }).map(({ line, message }) => {
    return { kind: 'secret', severity: textKinds.secret.severity, records: [], line, message };
  });
}

/** Finds settings that cannot be read, which stop all writing. */
export function settingsFindings(visit: Visit): ReadonlyMap<string, readonly TextFinding[]> {
  try {
    visit.archive.memory.settings.values();
    return new Map();
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const message = `Nothing is written until it is mended: ${error.text}`;
    const finding = {
      kind: 'settings',
      severity: textKinds.settings.severity,
      records: [],
      message,
    } as const;
    return new Map([[configPath, [finding]]]);
  }
}
