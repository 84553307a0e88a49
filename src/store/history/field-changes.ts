import { unifiedDiff } from '../../core/diff/unified-diff.ts';
import { markdownDiff } from '../../core/markdown/empty-sections.ts';
import type { FieldChange } from '../../core/memory/commit-log.ts';
import { isSameJson, type JsonValue } from '../../core/values/json.ts';

/** Length from which a text is compared line by line, in characters. */
const longText = 200;

/** Compares two texts line by line. */
type Compare = typeof unifiedDiff;

/** A state of a record; without a value if it cannot be decoded. */
export interface FieldsAndText {
  readonly text: string;
  readonly value?: object | undefined;
}

/** Compares the fields of a record, or its text if one of the versions cannot be decoded. */
export function changedFields(
  path: string,
  old: FieldsAndText | undefined,
  now: FieldsAndText | undefined,
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
    return isSameJson(a, b) ? [] : [{ field, ...valueChange(a, b, compare) }];
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
