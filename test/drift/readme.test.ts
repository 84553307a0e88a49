import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { toolsets } from '../../src/toolsets/index.ts';

it('README.md lists every toolset', async () => {
  const file = resolve(import.meta.dirname, '../../README.md');
  const rows = toolsets.map(
    ({ name, title, tools }) =>
      `| [\`${name}\`](docs/tools.md#${name}) | ${tools.filter((tool) => tool.listed !== false).length} | ${title} |`,
  );
  const table = ['| toolset | tools | |', '| --- | --- | --- |', ...rows].join('\n');
  const text = readFileSync(file, 'utf8').replace(
    /(<!-- toolsets: .*? -->\n)[\s\S]*?(<!-- end of toolsets -->)/,
    (_, begin: string, end: string) => `${begin}${table}\n${end}`,
  );
  await expect(text).toMatchFileSnapshot(file);
});
