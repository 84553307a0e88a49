import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { toolsets } from '../../src/toolsets/index.ts';
import { table, withPart } from '../support/page.ts';

it('README.md lists every toolset', async () => {
  const file = resolve(import.meta.dirname, '../../README.md');
  const rows = toolsets.map(({ name, title, tools }) => [
    `[\`${name}\`](docs/tools.md#${name})`,
    `${tools.filter((tool) => tool.listed !== false).length}`,
    title,
  ]);
  const listed = table(['toolset', 'tools', ''], rows);
  const text = withPart(readFileSync(file, 'utf8'), 'toolsets', listed);
  await expect(text).toMatchFileSnapshot(file);
});
