import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const top = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(join(top, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Lists the anchors that GitHub makes for a page's headings. */
function anchors(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each(pages)('every link of %s leads to a file and a heading that exist', (page) => {
  const text = readFileSync(join(top, page), 'utf8').replace(/^```.*?^```$/gms, '');
  const broken: string[] = [];
  for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(link)) continue;
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? join(top, page) : join(top, dirname(page), path);
    if (relative(top, file).startsWith('..') || !existsSync(file)) broken.push(link);
    else if (anchor && file.endsWith('.md') && !anchors(file).includes(anchor)) broken.push(link);
  }
  expect(broken).toEqual([]);
});

it('the README has at most 150 lines', () => {
  const lines = readFileSync(join(top, 'README.md'), 'utf8').split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
});

it('the glossary has at most 25 words', () => {
  const page = readFileSync(join(top, 'docs/architecture.md'), 'utf8');
  const glossary = page.split('\n## Glossary\n')[1]?.split('\n## ')[0] ?? '';
  const words = glossary.match(/^\| (?!word |---)/gm) ?? [];
  expect(words.length).toBeGreaterThan(20);
  expect(words.length).toBeLessThanOrEqual(25);
});
