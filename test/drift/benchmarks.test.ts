import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, it } from 'vitest';
import { kinds } from '../../src/store/secrets/kinds.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { benches } from '../bench/benches.js';
import { count } from '../bench/figures.ts';
import { table, withPart } from '../support/page.ts';
import { toolList } from '../support/tool-list.ts';

const docs = resolve(import.meta.dirname, '../../docs');
const file = join(docs, 'benchmarks.md');
const page = readFileSync(file, 'utf8');

it('docs/benchmarks.md lists the benches, and the size of the list of tools', async () => {
  const complete = withPart(withPart(page, 'benches', benchTable()), 'lists', listTable());
  await expect(complete).toMatchFileSnapshot(file);
});

it('docs/benchmarks.md counts the kinds of credentials', () => {
  const [, counted] = /The check knows (\d+) kinds of credentials/.exec(page) ?? [];
  expect(Number(counted), 'run "npm run bench -- secrets"').toBe(kinds.length);
});

function benchTable(): string {
  const rows = [...benches].map(([name, about]) => [
    `[\`npm run bench -- ${name}\`](${sectionOf(name)})`,
    about,
  ]);
  return table(['command', 'measures'], rows);
}

/** The link to the section that a bench rewrites. */
function sectionOf(bench: string): string {
  for (const name of ['benchmarks.md', 'scale.md']) {
    const text = readFileSync(join(docs, name), 'utf8');
    const [, title] = new RegExp(`<!-- ${bench} -->\n\n## (.*)\n`).exec(text) ?? [];
    const anchor = title
      ?.toLowerCase()
      .replaceAll(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-');
    if (anchor !== undefined) return `${name === 'benchmarks.md' ? '' : name}#${anchor}`;
  }
  throw new Error(`No page has a section of the bench "${bench}".`);
}

function listTable(): string {
  const row = (title: string, tools: ReturnType<typeof toolList>) => {
    const text = JSON.stringify(tools);
    const bytes = Buffer.byteLength(text);
    return [title, ...[tools.length, bytes, countTokens(text), Math.round(bytes / 4)].map(count)];
  };
  const rows = toolsets.map((toolset) => row(`\`${toolset.name}\``, toolList([toolset])));
  const head = ['toolset', 'tools', 'bytes', 'tokens', 'bytes ÷ 4'];
  return table(head, [...rows, row('all', toolList(toolsets))]);
}
