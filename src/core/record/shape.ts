import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { describeIssue, MemoryError } from '../values/error.ts';
import { toIssue } from '../values/input.ts';
import { isObject, type JsonObject, type JsonValue, own } from '../values/json.ts';
import { maxYamlDepth } from '../yaml/reader.ts';

/**
 * Parses the content of a file with the schema of its record.
 *
 * @throws MemoryError `damaged` that names the invalid fields.
 */
export function conform<T>(schema: z.ZodType<T>, data: unknown): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new MemoryError('damaged', describe(result.error, data));
}

function describe(error: z.ZodError, data: unknown): string {
  const issues = error.issues.slice(0, 3).map((issue) => describeIssue(toIssue(issue, data)));
  return issues.map((issue) => `field ${issue}`).join('; ');
}

/**
 * Returns a record with its keys in the order in which they are written.
 *
 * The keys of an object are in the order of its schema, followed by other keys, sorted; undefined values
 * are left out.
 *
 * @throws MemoryError `too_large` beyond `maxYamlDepth` levels.
 */
export function arrange<T extends object>(schema: z.ZodType<T>, record: T): JsonObject {
  const result = schema.safeParse(record);
  // A record that cannot be read back would be lost. An invalid one is a bug of the caller.
  if (!result.success) throw new TypeError(describe(result.error, record));
  return arrangeObject(schema, record, 0);
}

function arrangeObject(schema: z.core.$ZodType, value: object, depth: number): JsonObject {
  const { keys, rest } = shapeOf(schema, value);
  const given = new Map(Object.entries(value).filter(([, item]) => item !== undefined));
  const known = Object.keys(keys).filter((key) => given.has(key));
  const others = [...given.keys()].filter((key) => !Object.hasOwn(keys, key)).sort();
  // Unlike an assignment, this also sets a key `__proto__`.
  return Object.fromEntries(
    [...known, ...others].map((key) => {
      return [key, arrangeValue(own(keys, key) ?? rest, given.get(key), depth + 1)];
    }),
  );
}

function arrangeValue(schema: z.core.$ZodType, value: unknown, depth: number): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw new TypeError(`A record cannot contain ${String(value)}.`);
  if (depth >= maxYamlDepth) {
    throw new MemoryError('too_large', `The data is nested deeper than ${maxYamlDepth} levels.`);
  }
  if (!Array.isArray(value)) return arrangeObject(schema, value, depth);
  const { rest } = shapeOf(schema, value);
  return value.map((item) => arrangeValue(rest, item, depth + 1));
}

/**
 * Adds to an arranged value the keys of its file that the schema does not know, at their old positions.
 *
 * A person or a later version of this program added them to the record or to an object in it.
 */
export function keepUnknown(
  schema: z.core.$ZodType,
  value: JsonObject,
  old: JsonObject,
): JsonObject {
  const { keys } = shapeOf(schema, value);
  // An object without a schema has no unknown keys: a missing key was removed.
  if (Object.keys(keys).length === 0) return value;
  const kept = Object.entries(value).map(([key, item]): [string, JsonValue | undefined] => {
    const part = own(keys, key);
    return [key, part && item !== undefined ? keep(part, item, own(old, key)) : item];
  });
  let place = 0;
  for (const entry of Object.entries(old)) {
    if (Object.hasOwn(keys, entry[0])) {
      const at = kept.findIndex(([key]) => key === entry[0]);
      if (at >= 0) place = at + 1;
    } else kept.splice(place++, 0, entry);
  }
  return Object.fromEntries(kept);
}

/** Returns the keys of the file of a record that its schema does not know. */
export function unknownKeys(schema: z.core.$ZodType, data: JsonObject): JsonObject {
  const { keys } = shapeOf(schema, data);
  const unknown = Object.keys(data).filter((key) => !Object.hasOwn(keys, key));
  return Object.fromEntries(unknown.map((key) => [key, data[key]]));
}

function keep(schema: z.core.$ZodType, value: JsonValue, old: JsonValue | undefined): JsonValue {
  if (Array.isArray(value) && Array.isArray(old)) {
    const { rest } = shapeOf(schema, value);
    return value.map((item) => old.find((other) => represents(rest, other, item)) ?? item);
  }
  return isObject(value) && isObject(old) ? keepUnknown(schema, value, old) : value;
}

/** Whether an item of a list on disk represents a value. */
function represents(schema: z.core.$ZodType, old: JsonValue, value: JsonValue): boolean {
  const read = z.safeParse(schema, old);
  return read.success && isDeepStrictEqual(arrangeValue(schema, read.data, 0), value);
}

/** The schemas of the keys of an object, and of its other keys or the items of a list. */
interface Shape {
  readonly keys: { readonly [key: string]: z.core.$ZodType };
  readonly rest: z.core.$ZodType;
}

const anything = z.unknown();

function shapeOf(schema: z.core.$ZodType, value: unknown): Shape {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  ) {
    return shapeOf(schema.unwrap(), value);
  }
  if (schema instanceof z.ZodUnion) {
    const option = schema.options.find((candidate) => z.safeParse(candidate, value).success);
    return shapeOf(option ?? anything, value);
  }
  if (schema instanceof z.ZodObject) return { keys: schema.shape, rest: anything };
  if (schema instanceof z.ZodRecord) return { keys: {}, rest: schema.valueType };
  if (schema instanceof z.ZodArray) return { keys: {}, rest: schema.element };
  return { keys: {}, rest: anything };
}
