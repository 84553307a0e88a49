import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serveConfig } from '../../src/server/http/rest/config-file.ts';
import { memoryConfig } from '../../src/store/records/memory-config.ts';
import { toolsets } from '../../src/toolsets/index.ts';

const folder = resolve(import.meta.dirname, '../../schemas');
const types = [
  { name: 'config', schema: memoryConfig },
  { name: 'serve', schema: serveConfig },
  ...toolsets.flatMap((toolset) => toolset.records),
];

/** The JSON Schema of a hand-written file, in which keys with a default may be absent. */
function jsonSchema(name: string, schema: z.ZodType): string {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return `${JSON.stringify({ $schema, title: name, ...rest }, undefined, 2)}\n`;
}

describe('schemas/', () => {
  it.each(types)('has the schema of $name', async ({ name, schema }) => {
    await expect(jsonSchema(name, schema)).toMatchFileSnapshot(resolve(folder, `${name}.json`));
  });

  it('has nothing else', () => {
    const known = types.map(({ name }) => `${name}.json`);
    const files = existsSync(folder) ? readdirSync(folder) : [];
    expect(files.filter((file) => !known.includes(file))).toEqual([]);
  });
});
