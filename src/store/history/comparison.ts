import type { Change, FieldChange, RecordChange } from '../../core/history.ts';
import { unifiedDiff } from '../../core/unified-diff.ts';
import type { RecordFile } from '../record-file.ts';
import type { PathChange } from './change-index.ts';
import { fieldChanges } from './difference.ts';
import type { PastRecords } from './past-records.ts';

/**
 * The changes with the records that were moved told as one change: those with the same text or the
 * same key at another path.
 */
export function pairMoves(
  changes: readonly PathChange[],
  before: PastRecords,
  after: PastRecords,
): Change[] {
  const removed = new Set(
    changes.filter(({ change }) => change === 'removed').map(({ path }) => path),
  );
  return changes
    .map(({ path, change }): Change => {
      if (change !== 'added') return { path, change };
      const from = sourceOf(path, removed, before, after);
      if (from === undefined) return { path, change };
      removed.delete(from);
      const same = before.oid(from) === after.oid(path);
      return { path, change: same ? 'moved' : 'changed', from };
    })
    .filter(({ path, change }) => change !== 'removed' || removed.has(path));
}

/** Which of the removed records one that was added is. */
export function sourceOf(
  path: string,
  removed: Iterable<string>,
  before: PastRecords,
  after: PastRecords,
): string | undefined {
  const type = after.view.typeOf(path);
  const candidates = [...removed].filter((one) => before.view.typeOf(one) === type).sort();
  if (candidates.length === 0) return undefined;
  const oid = after.oid(path);
  const same = candidates.find((one) => before.oid(one) === oid);
  if (same !== undefined) return same;
  const key = after.view.look(path)?.key;
  return key === undefined
    ? undefined
    : candidates.find((one) => before.view.look(one)?.key === key);
}

/** A change, and what it means. */
export function describeChange(
  change: Change,
  before: PastRecords,
  after: PastRecords,
): RecordChange[] {
  const { path, from = path } = change;
  const old = change.change === 'added' ? undefined : before.view.look(from);
  const now = change.change === 'removed' ? undefined : after.view.look(path);
  const record = now ?? old;
  if (!record) return [];
  const fields = change.change === 'changed' ? changedFields(from, path, before, after) : [];
  const { type, key } = record;
  return [{ ...change, type, key, title: titleOf(record), fields }];
}

/** How the fields of a record differ, or how its text does where one state cannot be read. */
export function changedFields(
  from: string,
  path: string,
  before: PastRecords,
  after: PastRecords,
): FieldChange[] {
  const [old, now] = [before.view.look(from), after.view.look(path)];
  if (old?.value && now?.value) {
    const changes = fieldChanges(old.value, now.value);
    // Comments and the order of keys are in the text only.
    if (changes.length > 0) return changes;
  }
  return [{ field: 'text', diff: unifiedDiff(textOf(before, from), textOf(after, path)) }];
}

/** What a record is called in a list. */
export function titleOf({ type, value }: Pick<RecordFile, 'type' | 'value'>): string | undefined {
  return value && type.search(value).title;
}

function textOf(records: PastRecords, path: string): string {
  try {
    return records.text(path) ?? '';
  } catch {
    // What is no text has no lines to compare; that it differs is said all the same.
    return '';
  }
}
