import { isDeepStrictEqual } from 'node:util';
import type { FieldMerge } from '../../core/record/record-type.ts';
import { type JsonObject, type JsonValue, own } from '../../core/values/json.ts';
import type { Sides } from './diff3.ts';
import { FieldConflicts } from './field-conflicts.ts';
import { mergeText, type SidedResult, settled } from './line-merge.ts';
import { mergeSections } from './section-merge.ts';

type Value = JsonValue | undefined;
type Rules = { readonly [field: string]: FieldMerge | undefined };

/**
 * Merges the values of a record, each field by its rule.
 *
 * @param conflicts decides the fields that both sides changed in different ways.
 */
export function mergeFields(
  { base, ours, theirs }: Sides<JsonObject>,
  rules: Rules,
  conflicts = new FieldConflicts(),
): SidedResult<JsonObject> {
  const merged = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].map((name) => {
    const sides = { base: own(base, name), ours: own(ours, name), theirs: own(theirs, name) };
    return { name, ...mergeField(name, sides, own(rules, name) ?? 'value', conflicts) };
  });
  // Unlike assignment, this makes `__proto__` a key like any other.
  return {
    ours: Object.fromEntries(merged.map(({ name, ours }) => [name, ours])),
    theirs: Object.fromEntries(merged.map(({ name, theirs }) => [name, theirs])),
  };
}

function mergeField(
  name: string,
  sides: Sides<Value>,
  rule: FieldMerge,
  conflicts: FieldConflicts,
): SidedResult<Value> {
  const { base, ours, theirs } = sides;
  if (isDeepStrictEqual(ours, theirs) || isDeepStrictEqual(base, theirs)) return settled(ours);
  if (isDeepStrictEqual(base, ours)) return settled(theirs);
  switch (rule) {
    case 'set':
      return settled(mergeItems(sides)?.sort((a, b) => compareTexts(a, b)));
    case 'list':
      return settled(mergeItems(sides));
    case 'latest':
    case 'first':
    case 'max': {
      if (ours === undefined || theirs === undefined) return settled(ours ?? theirs);
      const order =
        rule === 'max'
          ? Number(ours) - Number(theirs)
          : compareTimes(ours, theirs) || compareTexts(ours, theirs);
      return settled((rule === 'first' ? order <= 0 : order >= 0) ? ours : theirs);
    }
    case 'text':
    case 'sections':
      return mergeTexts(name, sides, rule, conflicts);
    case 'value':
      return conflicts.value(name, base, { ours, theirs });
  }
}

function mergeTexts(
  name: string,
  { base = '', ours, theirs }: Sides<Value>,
  rule: 'text' | 'sections',
  conflicts: FieldConflicts,
): SidedResult<Value> {
  if (typeof base !== 'string' || typeof ours !== 'string' || typeof theirs !== 'string') {
    return conflicts.value(name, base, { ours, theirs });
  }
  const sides = { base, ours, theirs };
  if (rule === 'text') return conflicts.value(name, base, mergeText(sides));
  const merged = mergeText(sides, (lines) => mergeSections(lines));
  if (merged.ours === merged.theirs) return merged;
  // A renamed heading is a new section; merged line by line, it may not be a conflict.
  const lines = mergeText(sides);
  if (lines.ours === lines.theirs) return lines;
  return mergeText(sides, (lines) =>
    mergeSections(lines, (path, ...rest) => conflicts.lines(path || name, ...rest)),
  );
}

/** Merges lists. A missing list counts as empty; an empty result is missing if a side's list is. */
function mergeItems(sides: Sides<Value>): JsonValue[] | undefined {
  const items = (value: Value) =>
    new Map((Array.isArray(value) ? value : []).map((item) => [JSON.stringify(item), item]));
  const base = items(sides.base);
  const ours = items(sides.ours);
  const theirs = items(sides.theirs);
  const kept = [...new Map([...ours, ...theirs])]
    .filter(([key]) => !base.has(key) || (ours.has(key) && theirs.has(key)))
    .map(([, item]) => item);
  const isGone = kept.length === 0 && (sides.ours === undefined || sides.theirs === undefined);
  return isGone ? undefined : kept;
}

/** 0 if one of the two is not an ISO timestamp. */
function compareTimes(a: Value, b: Value): number {
  return timeOf(a) - timeOf(b) || 0;
}

function timeOf(value: Value): number {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  return isTime ? Date.parse(value) : Number.NaN;
}

function compareTexts(a: Value, b: Value): number {
  const text = (value: Value) =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text(a) === text(b) ? 0 : text(a) < text(b) ? -1 : 1;
}
