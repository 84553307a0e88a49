import { isDeepStrictEqual } from 'node:util';
import { unifiedDiff } from '../../core/diff/unified-diff.ts';
import type { FieldChange } from '../../core/memory/history.ts';
import type { JsonValue } from '../../core/values/json.ts';

/** Length from which a text is compared line by line, in characters. */
const longText = 200;

/** Lists the differences of a record's fields, in the order of the fields. */
export function fieldChanges(before: object, after: object): FieldChange[] {
  const old = new Map<string, JsonValue | undefined>(Object.entries(before));
  const now = new Map<string, JsonValue | undefined>(Object.entries(after));
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((field) => {
    const [a, b] = [old.get(field), now.get(field)];
    return isDeepStrictEqual(a, b) ? [] : [{ field, ...valueChange(a, b) }];
  });
}

function valueChange(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): Omit<FieldChange, 'field'> {
  if (Array.isArray(before) && Array.isArray(after)) {
    const removed = without(before, after);
    const added = without(after, before);
    if (removed.length + added.length > 0) return { removed, added };
  }
  if (typeof before === 'string' && typeof after === 'string') {
    if (isLong(before) || isLong(after)) return { diff: unifiedDiff(before, after) };
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
