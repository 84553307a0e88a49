import { unifiedDiff } from '../../core/diff/unified-diff.ts';
import type { Change, FieldChange, RecordChange } from '../../core/history.ts';
import type { PathChange } from './change-index.ts';
import { fieldChanges } from './difference.ts';
import type { RecordVersion, Versions } from './versions.ts';

/** A change, and the blobs of the record before and after it. */
export interface Move extends Omit<PathChange, 'path'> {
  readonly change: Change;
}

/**
 * Reports each moved record as one change: those with the same text or the
 * same key at another path.
 */
export function pairMoves(changes: readonly PathChange[], versions: Versions): Move[] {
  const removed = new Set(changes.filter(({ after }) => after === undefined));
  const sources = new Map<PathChange, PathChange>();
  for (const added of changes.filter(({ before }) => before === undefined)) {
    const source = versions.sourceOf(added, [...removed]);
    if (!source) continue;
    removed.delete(source);
    sources.set(added, source);
  }
  return changes
    .filter((change) => change.after !== undefined || removed.has(change))
    .map((change) => {
      const { path, before, after } = change;
      const source = sources.get(change);
      if (!source) return { change: { path, change: kindOf(change) }, before, after };
      const moved = source.before === after ? 'moved' : 'changed';
      return { change: { path, from: source.path, change: moved }, before: source.before, after };
    });
}

function kindOf({ before, after }: PathChange): Change['change'] {
  return before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
}

/** A change, and what it means. */
export function describeChange(
  { change, before, after }: Move,
  versions: Versions,
): RecordChange[] {
  const { path, from = path } = change;
  const [old, now] = [versions.read(from, before), versions.read(path, after)];
  const record = now ?? old;
  if (!record) return [];
  const { type, key, value } = record;
  const fields = change.change === 'changed' ? changedFields(old, now) : [];
  return [{ ...change, type, key, title: value && type.search(value).title, fields }];
}

/** How the fields of a record differ, or how its text does where one state cannot be read. */
export function changedFields(
  old: RecordVersion | undefined,
  now: RecordVersion | undefined,
): FieldChange[] {
  if (old?.value && now?.value) {
    const changes = fieldChanges(old.value, now.value);
    // Comments and the order of keys are in the text only.
    if (changes.length > 0) return changes;
  }
  return [{ field: 'text', diff: unifiedDiff(old?.text ?? '', now?.text ?? '') }];
}
