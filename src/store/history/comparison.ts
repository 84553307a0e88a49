import { Sections } from '../../core/markdown/section-statements.ts';
import type { Change, RecordChange } from '../../core/memory/commit-log.ts';
import { changedSections } from '../merge/section-choice.ts';
import type { PathChange } from './change-index.ts';
import { changedFields } from './field-changes.ts';
import type { Versions } from './versions.ts';

/** A change, and the blobs of the record before and after it. */
export interface Move extends Omit<PathChange, 'path'> {
  readonly change: Change;
}

/**
 * Joins the addition and the removal of a moved record into one change.
 *
 * A record has moved if another path has the same text or the same key.
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

/** Describes a change with its record and the fields that differ; empty without a record. */
export function describeChange(
  { change, before, after }: Move,
  versions: Versions,
): RecordChange[] {
  const { path, from = path } = change;
  const [old, now] = [versions.read(from, before), versions.read(path, after)];
  const record = now ?? old;
  if (!record) return [];
  const { type, key, value } = record;
  const fields = change.change === 'changed' ? changedFields(path, old, now) : [];
  return [{ ...change, type, key, title: value && type.search(value).title, fields }];
}

/** The addresses of the sections that differ in a changed markdown record; empty for any other change. */
export function sectionChanges({ change, before, after }: Move, versions: Versions): string[] {
  const { path, from = path } = change;
  if (change.change !== 'changed' || !path.endsWith('.md')) return [];
  const [old, now] = [
    versions.read(from, before)?.text ?? '',
    versions.read(path, after)?.text ?? '',
  ];
  const names = { old: new Sections(path, old), now: new Sections(path, now) };
  return changedSections(old, now).flatMap(({ section, isRemoved }) => {
    const all = isRemoved ? names.old : names.now;
    const found = all.all.find(({ start }) => start === section.start);
    const address = found && all.addressOf(found);
    return address === undefined || address === path ? [] : [address];
  });
}
