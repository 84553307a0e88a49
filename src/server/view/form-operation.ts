import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { describeIssue, MemoryError } from '../../core/values/error.ts';
import { toIssue } from '../../core/values/input.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { type Control, formShape } from '../page/edit-answers.ts';
import { path } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';
import { readRecord } from './record-answer.ts';

/** Fields that the program sets. */
const ownFields: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);

/** The fields of a form, as the person has changed them; null removes a field. */
export const changedFields = z.record(z.string().max(200), z.unknown());

/** Gives the form of a record: a control for each field that its schema has. */
export const form = defineMemoryOperation({
  method: 'get',
  path: '/memory/form/{path}',
  id: 'get_form',
  summary: 'Returns the fields of a record with the values that its schema allows, for a form.',
  input: z.object({ path }),
  answer: formShape,
  async run(context, { path }, { types }) {
    const { type, value, text } = await readRecord(context, types, path, undefined);
    return { text, controls: value ? controlsOf(type, value) : [] };
  },
});

/**
 * Returns the text of a record after some of its fields were changed.
 *
 * @param before the text that the person began with.
 * @throws MemoryError `invalid_input` that names the field which the schema does not allow.
 */
export function textWith(
  type: AnyRecordType,
  path: string,
  before: string,
  changed: JsonObject,
  { now }: Pick<Context, 'now'>,
): string {
  const value: unknown = type.codec.decode(before, path);
  const known = propertiesOf(type);
  const wrong = Object.keys(changed).find((name) => ownFields.has(name) || !known[name]);
  if (wrong !== undefined) {
    throw new MemoryError('invalid_input', `A ${type.name} has no field "${wrong}" to edit.`);
  }
  const fields = {
    ...(isObject(value) ? value : {}),
    ...changed,
    ...(known.updated_at && { updated_at: now().toISOString() }),
  };
  const next = Object.fromEntries(
    Object.entries(fields).filter(([, field]) => field !== null && field !== undefined),
  );
  const result = type.schema.safeParse(next);
  if (result.success) return type.codec.encode(result.data, before);
  const issues = result.error.issues.slice(0, 5).map((issue) => toIssue(issue, next));
  throw new MemoryError('invalid_input', issues.map(describeIssue).join('; '), { issues });
}

function controlsOf(type: AnyRecordType, value: object): Control[] {
  const key = type.key(value);
  const values = isObject(value) ? value : {};
  const { required } = schemaOf(type);
  return Object.entries(propertiesOf(type)).flatMap(([name, property]): Control[] => {
    // An edit keeps the key.
    if (ownFields.has(name) || keyOf(type, { ...value, [name]: 'another' }) !== key) return [];
    const field = values[name];
    const { description } = property;
    return [
      {
        name,
        ...kindOf(property, field, name === type.codec.body),
        ...(field !== undefined && { value: field }),
        required: Array.isArray(required) && required.includes(name),
        ...(typeof description === 'string' && { about: description }),
      },
    ];
  });
}

function keyOf(type: AnyRecordType, value: object): string | undefined {
  try {
    return type.key(value);
  } catch {
    return undefined;
  }
}

/** @param isBody whether it is the text of a markdown file, of which a line end is a part. */
function kindOf(
  property: JsonObject,
  value: unknown,
  isBody: boolean,
): Pick<Control, 'kind' | 'choices'> {
  const { type, enum: choices, items } = property;
  if (Array.isArray(choices)) return { kind: 'choice', choices: choices.map(String) };
  if (type === 'boolean') return { kind: 'choice', choices: ['true', 'false'] };
  if (type === 'integer' || type === 'number') return { kind: 'number' };
  if (type === 'array' && isObject(items) && items.type === 'string') return { kind: 'list' };
  if (type !== 'string') return { kind: 'json' };
  const isLong =
    isBody || (typeof value === 'string' && (value.includes('\n') || value.length > 80));
  return { kind: isLong ? 'text' : 'line' };
}

function propertiesOf(type: AnyRecordType): Readonly<Record<string, JsonObject>> {
  const { properties } = schemaOf(type);
  const all = isObject(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(
    all.flatMap(([name, one]) => (isObject(one) ? [[name, one] as const] : [])),
  );
}

function schemaOf(type: AnyRecordType): JsonObject {
  return z.toJSONSchema(type.schema, { io: 'input', unrepresentable: 'any' }) as JsonObject;
}
