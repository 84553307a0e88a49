import type { Issue } from './error.ts';
import { isObject, type JsonObject, type JsonValue } from './json.ts';

/** Describes the lists and objects among the arguments that have an issue; empty for none. */
export function shapesOf(schema: JsonObject, issues: readonly Issue[]): string {
  const { properties } = schema;
  const shapes = issues.flatMap(({ kind, path: [name = '', ...rest] }) => {
    const argument = isObject(properties) ? properties[name] : undefined;
    if (kind === 'value' || kind === 'size' || !isObject(argument)) return [];
    const item = isObject(argument.items) ? argument.items : {};
    const isWhole = rest.length === 0 && (argument.type === 'array' || argument.properties);
    const isItem = rest.length === 1 && item.properties;
    return isWhole || isItem ? `The form of ${name} is ${shapeOf(argument)}.` : [];
  });
  return [...new Set(shapes)].join(' ');
}

/** Returns the form that a schema asks for: `[{text: string, status?: "pending"|"completed"}, …]`. */
function shapeOf(schema: JsonValue | undefined): string {
  if (!isObject(schema)) return 'any value';
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => JSON.stringify(value)).join('|');
  }
  if (schema.type === 'array') return `[${shapeOf(schema.items)}, …]`;
  const { properties, required } = schema;
  if (!isObject(properties)) return String(schema.type ?? 'any value');
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${isRequired(name) ? '' : '?'}: ${shapeOf(field)}`,
  );
  return `{${fields.join(', ')}}`;
}
