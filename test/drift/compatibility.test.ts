import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { toolsets } from '../../src/toolsets/index.ts';

const text = readFileSync(resolve(import.meta.dirname, '../../docs/compatibility.md'), 'utf8');

it.each(toolsets.filter(({ records }) => records.length > 0))(
  'docs/compatibility.md names every tool and place of $name',
  ({ name, tools, records }) => {
    const [section = ''] = text.split(/^## /m).filter((part) => part.includes(`(\`${name}\`)\n`));
    const folders = records.map(({ folder }) => folder).filter((folder) => folder !== '');
    const missing = [...tools.map((tool) => `\`${tool.name}\``), ...folders.map((at) => `${at}/`)];
    expect(missing.filter((wanted) => !section.includes(wanted))).toEqual([]);
  },
);
