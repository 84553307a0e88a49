import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorCodes, MemoryError } from '../../../src/core/values/error.ts';
import { isObject } from '../../../src/core/values/json.ts';
import { graph } from '../../../src/toolsets/graph/toolset.ts';

const schemas = graph.tools.map(({ name, input }) => ({
  name,
  schema: z.toJSONSchema(input, { io: 'input' }),
}));

test('there are 41 tools and six kinds of record, each with a name of its own', () => {
  expect(new Set(graph.tools.map(({ name }) => name)).size).toBe(41);
  expect(new Set(graph.records.map(({ name, folder }) => name + folder)).size).toBe(6);
});

test('the input schemas use only what every client understands', () => {
  const forbidden = ['oneOf', 'anyOf', 'allOf', 'not', '$ref', 'const', 'prefixItems'];
  const check = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(check);
    if (!isObject(value)) return;
    for (const key of forbidden) expect(value).not.toHaveProperty([key]);
    expect(Array.isArray(value.type)).toBe(false);
    Object.values(value).forEach(check);
  };
  for (const { name, schema } of schemas) {
    check(schema);
    expect(schema, name).toMatchObject({ type: 'object' });
  }
});

test('the list of the tools is short', () => {
  const listed = graph.tools.map(({ name, title, description }, index) => {
    const { $schema, ...inputSchema } = schemas[index]?.schema ?? {};
    return { name, title, description, inputSchema };
  });
  expect(JSON.stringify(listed).length / 4 / listed.length).toBeLessThan(110);
});

test('every error is one of the four types of the seed, with what to do about it', () => {
  const [tool] = graph.tools;
  if (!tool) throw new Error('no tools');
  for (const code of errorCodes) {
    const { body } = graph.failure(tool, new MemoryError(code, 'It failed.', { hint: 'Retry.' }));
    expect(body).toEqual({
      success: false,
      error: {
        type: expect.stringMatching(/^(validation_error|not_found|constraint_violation|db_error)$/),
        message: 'It failed. Retry.',
      },
    });
  }
});
