import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import type { Tool } from '../../src/core/declarations/tool.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { inputSchema } from '../../src/core/values/input.ts';
import { isObject, type JsonValue } from '../../src/core/values/json.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { table } from '../support/page.ts';

it('docs/tools.md describes every tool', async () => {
  const file = resolve(import.meta.dirname, '../../docs/tools.md');
  await expect(reference(toolsets)).toMatchFileSnapshot(file);
});

function reference(all: readonly Toolset[]): string {
  const tools = all.flatMap((toolset) => toolset.tools);
  return [
    '# Tools',
    '<!-- Generated from the declarations by `npm run generate`; a test compares. -->',
    `${tools.length} tools in ${all.length} toolsets; ${tools.filter(isListed).length} of them are in the answer to \`tools/list\`. "Effect" is what a call can do: \`read\` changes nothing, \`write\` adds or changes, \`destroy\` can remove. Every call that changes the memory is one commit. \`--toolsets\` takes the names of the toolsets.`,
    index(all),
    ...all.flatMap((toolset) => [
      `## ${toolset.name}`,
      `${toolset.title}.`.replace(/\.\.$/, '.'),
      ...toolset.tools.map(section),
    ]),
    '',
  ].join('\n\n');
}

function isListed(tool: Tool): boolean {
  return tool.listed !== false;
}

function index(all: readonly Toolset[]): string {
  return table(
    ['toolset', 'tools'],
    all.map(({ name, tools }) => [
      `[\`${name}\`](#${name})`,
      tools.map((tool) => `[\`${tool.name}\`](#${tool.name.toLowerCase()})`).join(', '),
    ]),
  );
}

function section(tool: Tool): string {
  const { properties, required } = inputSchema(tool);
  const inputs = Object.entries(isObject(properties) ? properties : {});
  const needed = Array.isArray(required) ? required : [];
  return [
    `### ${tool.name}`,
    `${tool.title}. Effect: \`${tool.effect}\`.${isListed(tool) ? '' : ' Not listed: for REST and the command line.'}`,
    tool.description,
    inputs.length === 0
      ? 'No arguments.'
      : table(
          ['argument', 'type', 'required', 'meaning'],
          inputs.map(([name, schema]) => [
            `\`${name}\``,
            typeOf(schema),
            needed.includes(name) ? 'yes' : defaultOf(schema),
            isObject(schema) && typeof schema.description === 'string' ? schema.description : '',
          ]),
        ),
  ].join('\n\n');
}

/** Describes a type in words: `integer, 1 to 1000`, `list of at most 20 of: string, 1 to 100 characters`. */
function typeOf(schema: JsonValue | undefined): string {
  if (!isObject(schema)) return 'any';
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(' or ');
  switch (schema.type) {
    case 'integer':
    case 'number':
      return bounded(schema.type, schema.minimum, schema.maximum, '');
    case 'string': {
      const format = typeof schema.format === 'string' ? ` (${schema.format})` : '';
      return bounded(`string${format}`, schema.minLength, schema.maxLength, ' characters');
    }
    case 'array':
      return `${bounded('list', schema.minItems, schema.maxItems, ' items')}: ${typeOf(schema.items)}`;
    case 'object': {
      const names = Object.keys(isObject(schema.properties) ? schema.properties : {});
      const needed = Array.isArray(schema.required) ? schema.required : [];
      const keys = names.map((name) => `\`${name}\`${needed.includes(name) ? '' : '?'}`);
      return keys.length === 0 ? 'object' : `object with ${keys.join(', ')}`;
    }
    default:
      return String(schema.type ?? 'any');
  }
}

function bounded(
  word: string,
  least: JsonValue | undefined,
  most: JsonValue | undefined,
  unit: string,
): string {
  if (least !== undefined && most !== undefined) return `${word}, ${least} to ${most}${unit}`;
  if (most !== undefined) return `${word}, at most ${most}${unit}`;
  return least === undefined ? word : `${word}, at least ${least}${unit}`;
}

function defaultOf(schema: JsonValue | undefined): string {
  return isObject(schema) && schema.default !== undefined
    ? `no; default \`${JSON.stringify(schema.default)}\``
    : 'no';
}
