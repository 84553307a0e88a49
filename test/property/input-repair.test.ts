import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { repairInput } from '../../src/core/values/input-repair.ts';
import { isObject } from '../../src/core/values/json.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const tools = toolsets
  .flatMap((toolset) => toolset.tools)
  .map((tool) => [tool.name, tool] as const);

/** Texts that look like other values of JSON, next to ordinary ones. */
const texts = fc.oneof(
  fc.constantFrom('3', 'true', 'null', '[]', '["a"]', '{"a":1}', '', 'False', 'a plain text'),
  fc.string({ maxLength: 20 }),
);

/** Values that a schema describes; its other rules may still refuse them. */
function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  if (!isObject(schema)) return fc.jsonValue();
  const { enum: choices, pattern, items, properties, required } = schema;
  if (Array.isArray(choices)) return fc.constantFrom(...choices);
  switch (schema.type) {
    case 'string':
      return typeof pattern === 'string' ? fc.stringMatching(new RegExp(pattern)) : texts;
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Number(schema.minimum ?? 0), max: Number(schema.maximum ?? 9) });
    case 'number':
      return fc.double({ min: 0, max: 1, noNaN: true });
    case 'array':
      return fc.array(valuesOf(items), { minLength: 1, maxLength: 3 });
    default: {
      if (!isObject(properties)) return fc.dictionary(fc.string({ maxLength: 3 }), texts);
      const fields = Object.entries(properties).map(([name, field]) => [name, valuesOf(field)]);
      const requiredKeys = Array.isArray(required) ? required.map(String) : [];
      return fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys });
    }
  }
}

/** The arguments as a careless client sends them: everything as text. */
function asTexts(args: object): object {
  const entries = Object.entries(args).map(([name, value]) => {
    if (name === 'confirm' || typeof value === 'string') return [name, value];
    return [name, JSON.stringify(value)];
  });
  return Object.fromEntries(entries);
}

describe.each(tools)('%s', (_, { input }) => {
  const published = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const valid = valuesOf(published).filter((args) => input.safeParse(args).success);
  const check = (holds: (args: object) => void) => {
    fc.assert(
      fc.property(valid, (args) => {
        holds(Object(args));
      }),
      { numRuns: runs(100) },
    );
  };

  test('takes valid arguments as they are', () => {
    check((args) => expect(repairInput(input, args)).toEqual({ args, repairs: [] }));
  });

  deep('reads what a client sends as text, as null or as an empty text', () => {
    check((args) => {
      const { confirm: _, ...optional } = input.shape;
      const absent = Object.keys(optional).filter(
        (name) => !(name in args) && !input.safeParse({ ...args, [name]: null }).success,
      );
      const nulls = Object.fromEntries(absent.map((name) => [name, null]));
      const sent = { ...asTexts(args), ...nulls };
      const repaired = repairInput(input, sent);
      expect(input.parse(repaired.args)).toEqual(input.parse(args));
      const again = repairInput(input, JSON.stringify(args));
      expect(input.parse(again.args)).toEqual(input.parse(args));
    });
  });

  test('never takes a text for a confirmation', () => {
    for (const confirm of ['true', 'True', '1', 'yes', '[true]', '']) {
      const { args } = repairInput(input, { confirm });
      expect(Object(args).confirm).not.toBe(true);
    }
  });
});

const schema = z.object({
  tasks: z.array(z.object({ text: z.string(), rank: z.int().optional() })).optional(),
  slug: z.string().min(1).optional(),
  note: z.string().optional(),
  limit: z.int().max(10).optional(),
  on: z.boolean().optional(),
});

test.each([
  [{ tasks: '[{"text":"a"}]' }, { tasks: [{ text: 'a' }] }, ['tasks: text, read as a list']],
  [{ tasks: ['{"text":"3","rank":"2"}'] }, { tasks: [{ text: '3', rank: 2 }] }, 2],
  [{ tasks: [{ text: 'a', rank: null }] }, { tasks: [{ text: 'a' }] }, 1],
  [{ slug: '', note: '' }, { note: '' }, ['slug: an empty text, which counts as absent']],
  [{ limit: ' 3 ', on: 'False' }, { limit: 3, on: false }, 2],
  [null, {}, 1],
  // Two readings, or none.
  [{ tasks: 'a plain text' }, { tasks: 'a plain text' }, 0],
  [{ tasks: '{"text":"a"}' }, { tasks: '{"text":"a"}' }, 0],
  [{ tasks: [{ text: null }] }, { tasks: [{ text: null }] }, 0],
  [{ limit: '30', on: '1' }, { limit: '30', on: '1' }, 0],
  [{ note: 3 }, { note: 3 }, 0],
  [['a'], ['a'], 0],
])('%j is read as %j', (given, args, repairs) => {
  const found = repairInput(schema, given);
  expect(found.args).toEqual(args);
  if (typeof repairs === 'number') expect(found.repairs).toHaveLength(repairs);
  else expect(found.repairs).toEqual(repairs);
});
