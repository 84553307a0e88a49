import { isDeepStrictEqual } from 'node:util';
import { unifiedDiff } from '../../core/diff/unified-diff.ts';
import { markdownDiff } from '../../core/markdown/empty-sections.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import type { Change, FieldChange, RecordChange } from '../../core/memory/commit-log.ts';
import type { JsonValue } from '../../core/values/json.ts';
import { changedSections } from '../merge/section-choice.ts';
import type { PathChange } from './change-index.ts';
import type { RecordVersion, Versions } from './versions.ts';

/** Length from which a text is compared line by line, in characters. */
const longText = 200;

/** Compares two texts line by line. */
type Compare = typeof unifiedDiff;

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

/** Compares the fields of a record, or its text if one of the versions cannot be decoded. */
export function changedFields(
  path: string,
  old: RecordVersion | undefined,
  now: RecordVersion | undefined,
): FieldChange[] {
  const compare = path.endsWith('.md') ? markdownDiff : unifiedDiff;
  if (old?.value && now?.value) {
    const changes = fieldChanges(old.value, now.value, compare);
    // Comments and the order of keys show only in the text.
    if (changes.length > 0) return changes;
  }
  return [{ field: 'text', diff: compare(old?.text ?? '', now?.text ?? '') }];
}

/** Lists the differences of a record's fields, in the order of the fields. */
function fieldChanges(before: object, after: object, compare: Compare): FieldChange[] {
  const old = new Map<string, JsonValue | undefined>(Object.entries(before));
  const now = new Map<string, JsonValue | undefined>(Object.entries(after));
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((field) => {
    const [a, b] = [old.get(field), now.get(field)];
    return isDeepStrictEqual(a, b) ? [] : [{ field, ...valueChange(a, b, compare) }];
  });
}

function valueChange(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  compare: Compare,
): Omit<FieldChange, 'field'> {
  if (Array.isArray(before) && Array.isArray(after)) {
    const removed = without(before, after);
    const added = without(after, before);
    if (removed.length + added.length > 0) return { removed, added };
  }
  if (typeof before === 'string' && typeof after === 'string') {
    if (isLong(before) || isLong(after)) return { diff: compare(before, after) };
  }
  return { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

/** The items of a list that another list does not have, or has fewer times. */
function without(items: readonly JsonValue[], others: readonly JsonValue[]): JsonValue[] {
  const left = new Map<string, number>();
  for (const other of others) {
    const text = JSON.stringify(other);
    left.set(text, (left.get(text) ?? 0) + 1);
  }
  return items.filter((item) => {
    const text = JSON.stringify(item);
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

function isLong(text: string): boolean {
  return text.length > longText || text.includes('\n');
}
