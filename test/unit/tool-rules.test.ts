import { describe, expect, it } from 'vitest';
import { commandName } from '../../src/cli/line/tool-arguments.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { inputSchema } from '../../src/core/values/input.ts';
import { isObject, type JsonValue } from '../../src/core/values/json.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { listings, profileTools, toolList } from '../support/tool-list.ts';

/** What some client or other cannot read in the schema of a tool's arguments. */
const forbidden = [
  ...['$schema', '$ref', '$defs', '$id', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'const'],
  ...['prefixItems', 'patternProperties', 'dependentSchemas', 'propertyNames', 'format'],
];

const tools = toolsets.flatMap((toolset) => toolset.tools);

/** Token budget of each toolset: what its tools take today, with room for further arguments. */
const budgets = {
  'memory-bank': 1_830,
  graph: 4_050,
  documents: 690,
  knowledge: 1_000,
  banks: 980,
  search: 250,
  brief: 150,
  history: 1_000,
  truth: 360,
  team: 330,
};
const totalBudget = 11_000;

/** Limits of the profile that `init` writes, in every project. */
const profileBudget = 4_500;
const maxProfileTools = 40;

/** Every part of a schema that is a schema itself, with the path that leads to it. */
function* parts(schema: JsonValue | undefined, path: string): Generator<[string, object]> {
  if (!isObject(schema)) return;
  yield [path, schema];
  yield* parts(schema.items, `${path}[]`);
  yield* parts(schema.additionalProperties, `${path}.*`);
  if (!isObject(schema.properties)) return;
  for (const [name, part] of Object.entries(schema.properties))
    yield* parts(part, `${path}.${name}`);
}

function complaints(path: string, part: object): string[] {
  const schema = { type: undefined, additionalProperties: undefined, enum: undefined, ...part };
  const wrong = forbidden.filter((word) => word in schema).map((word) => `has ${word}`);
  if (Array.isArray(schema.type)) wrong.push('has several types');
  if (schema.type === undefined && !schema.enum) wrong.push('has no type');
  if (schema.additionalProperties === false) wrong.push('refuses unknown keys');
  if (schema.type === 'integer') {
    const { minimum, maximum } = { minimum: 0, maximum: 0, ...part };
    const fits = minimum > Number.MIN_SAFE_INTEGER && maximum < Number.MAX_SAFE_INTEGER;
    if (!fits) wrong.push('has bounds that are not of 32 bits');
  }
  return wrong.map((complaint) => `${path} ${complaint}`);
}

describe('the tools', () => {
  it('have names that every client takes, and none twice', () => {
    const names = tools.map((tool) => tool.name);
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,40}$/.test(name))).toEqual([]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it('have short names that no other command has', () => {
    const short = tools.flatMap(({ command }) => command?.name ?? []);
    expect(short.length).toBeGreaterThan(5);
    const all = [...short, ...tools.map(({ name }) => commandName(name))];
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
  });

  it('say what they are for', () => {
    const silent = tools.filter(
      ({ title, description }) => title.trim() === '' || !/^\S.*[.?!)]$/s.test(description),
    );
    expect(silent.map((tool) => tool.name)).toEqual([]);
  });

  it('publish schemas that every client reads', () => {
    const wrong = tools.flatMap((tool) => {
      const schema = inputSchema(tool);
      const root = schema.type === 'object' ? [] : [`${tool.name} is no object`];
      return [
        ...root,
        ...[...parts(schema, tool.name)].flatMap(([path, part]) => complaints(path, part)),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('fit into the token budget of their toolset, and of all of them', () => {
    const tokens = new Map(toolsets.map((toolset) => [toolset.name, tokensOf(toolset)]));
    expect([...tokens.keys()].sort()).toEqual(Object.keys(budgets).sort());
    const over = Object.entries(budgets).filter(([name, budget]) => sum(tokens, [name]) > budget);
    expect(over).toEqual([]);
    expect(sum(tokens, Object.keys(budgets))).toBeLessThanOrEqual(totalBudget);
  });

  it.each([
    [{}, 'forget_memory', 'create_tasks'],
    [{ usesGraph: true }, 'create_tasks', 'sync_memory'],
    [{ hasRemote: true }, 'sync_memory', 'create_tasks'],
    [{ usesGraph: true, hasRemote: true }, 'claim_task', 'create_features'],
  ])('are few enough in the profile of agents: %j', (use, offered, other) => {
    const shown = profileTools(use);
    expect(shown.length).toBeLessThanOrEqual(maxProfileTools);
    const tokens = Buffer.byteLength(JSON.stringify({ tools: listings(shown) })) / 4;
    expect(tokens).toBeLessThanOrEqual(profileBudget);
    const names = shown.map(({ name }) => name);
    expect(names).toContain(offered);
    expect(names).not.toContain(other);
  });

  it('have budgets that add up', () => {
    const all = new Map(Object.entries(budgets));
    expect(sum(all, Object.keys(budgets))).toBeLessThanOrEqual(totalBudget);
  });
});

/** Tokens of the tool list of a toolset, estimated as a fourth of its bytes. */
function tokensOf(toolset: Toolset): number {
  return Buffer.byteLength(JSON.stringify({ tools: toolList([toolset]) })) / 4;
}

function sum(amounts: ReadonlyMap<string, number>, names: readonly string[]): number {
  return names.reduce((total, name) => total + (amounts.get(name) ?? Number.NaN), 0);
}

describe('the record types', () => {
  it('have names and folders of their own', () => {
    const types = toolsets.flatMap((toolset) =>
      toolset.records.map((type) => ({ type, toolset: toolset.name })),
    );
    const names = types.map(({ type }) => type.name);
    expect(names.filter((name) => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(types.filter(({ type, toolset }) => type.toolset !== toolset)).toEqual([]);
    const folders = types.map(({ type }) => type.folder);
    const nested = folders.filter((folder, i) =>
      folders.some((other, j) => i !== j && `${other}/`.startsWith(`${folder}/`)),
    );
    expect(nested).toEqual([]);
  });
});
