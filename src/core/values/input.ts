import * as z from 'zod';
import { isCutText } from './cut-text.ts';
import { describeIssue, type Issue, MemoryError } from './error.ts';
import { shapesOf } from './input-shape.ts';
import { illFormedTexts, isObject, type JsonObject, textsWhere } from './json.ts';

/** Maximum number of issues that the error about one call reports. */
const maxIssues = 10;

/** A limit of a number that agents do not reach. */
const manyItems = 100_000;

/** Makes the JSON Schema of a tool's arguments, as `tools/list` publishes it. */
export function inputSchema(tool: { readonly input: z.ZodObject }): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, {
    io: 'input',
    override({ jsonSchema }) {
      const { additionalProperties: others } = jsonSchema;
      // Other keys are allowed by default, and some clients cannot read an empty schema here.
      if (isObject(others) && Object.keys(others).length === 0) {
        delete jsonSchema.additionalProperties;
      }
      // Agents rarely reach these limits, and an error names them. In every prompt they cost tokens.
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      delete jsonSchema.maxItems;
      delete jsonSchema.pattern;
      if (Number(jsonSchema.maximum) >= manyItems) delete jsonSchema.maximum;
      if (jsonSchema.minimum === 0) delete jsonSchema.minimum;
      // Some clients refuse a whole list of tools because of a format that they do not know.
      delete jsonSchema.format;
    },
  });
  return schema as JsonObject;
}

/**
 * Validates the arguments of a call.
 *
 * Unknown keys are dropped. Absent arguments count as `{}`.
 *
 * A text with half of a surrogate pair is refused: clients cut texts in the middle of an emoji, and a
 * model's service that gets such a text back refuses every further request of the conversation.
 *
 * @throws MemoryError `invalid_input` whose `issues` name the invalid arguments.
 */
export function parseInput<I extends z.ZodObject>(schema: I, args: unknown): z.output<I> {
  const given = args === undefined ? {} : args;
  const result = schema.safeParse(given);
  const found: Issue[] = result.success
    ? textIssues(result.data)
    : result.error.issues.map((issue) => toIssue(issue, given));
  const issues = found.slice(0, maxIssues);
  if (result.success && issues.length === 0) return result.data;
  const hint = shapesOf(inputSchema({ input: schema }), issues);
  throw new MemoryError('invalid_input', issues.map(describeIssue).join('; '), {
    issues,
    ...(hint !== '' && { hint }),
  });
}

/** Finds the texts that must not be stored. */
function textIssues(data: unknown): Issue[] {
  const issue = (message: string) => (path: Issue['path']) => ({
    path,
    kind: 'value' as const,
    message,
  });
  return [
    ...[...illFormedTexts(data)].map(issue(halfPair)),
    ...[...textsWhere(data, isCutText)].map(issue(cutAnswer)),
  ];
}

const cutAnswer =
  'contains the last line of an answer that was cut, so the rest would be lost; read the rest first, or edit the file';
const halfPair =
  'must not contain half of a surrogate pair; send whole characters, or cut the text elsewhere';

/** Translates zod's issue about an argument or field into the program's own words. */
export function toIssue(issue: z.core.$ZodIssue, args: unknown): Issue {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = valueAt(args, path);
  if (found === undefined && path.length > 0) {
    return { path, kind: 'missing', message: 'is required' };
  }
  if (found === null) return { path, kind: 'null', message: 'must not be null' };
  switch (issue.code) {
    case 'invalid_type':
      return {
        path,
        kind: 'type',
        message: `expected ${issue.expected}, received ${typeName(found)}`,
      };
    case 'too_big':
      return { path, kind: 'size', message: limit(issue, 'at most', issue.maximum) };
    case 'too_small':
      return { path, kind: 'size', message: limit(issue, 'at least', issue.minimum) };
    case 'invalid_value': {
      const options = issue.values.map((value) => JSON.stringify(value)).join(', ');
      const kind = typeof found === typeof issue.values[0] ? 'value' : 'type';
      return { path, kind, message: `must be one of ${options}` };
    }
    default:
      return { path, kind: 'value', message: issue.message };
  }
}

function limit(
  issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall,
  bound: string,
  value: number | bigint,
): string {
  const unit = issue.origin === 'string' ? ' characters' : issue.origin === 'array' ? ' items' : '';
  if (issue.code === 'too_small' && Number(value) === 1 && unit !== '') return 'must not be empty';
  return `must ${unit === '' ? 'be' : 'have'} ${bound} ${value}${unit}`;
}

/** Returns the value at a path in JSON; undefined if there is none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value;
  for (const part of path) {
    if (Array.isArray(current)) current = current[Number(part)];
    else if (isObject(current)) current = Object.hasOwn(current, part) ? current[part] : undefined;
    else return undefined;
  }
  return current;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value;
}
