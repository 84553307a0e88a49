import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const top = resolve(import.meta.dirname, '../..');

/** Numbers of things that the program declares: a page gets them from `npm run generate`, or does without. */
const typed =
  /\b(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen|[a-z]+ty(?:-[a-z]+)?) (?:tools|toolsets|skills|commands|prompts|record types|kinds of (?:credentials|secrets))\b/gi;
const pages = [
  ...['README.md', 'SECURITY.md', 'package.json', 'plugins/manifests.js'],
  ...filesIn('docs'),
  ...filesIn('plugins/skills'),
];

function filesIn(folder: string): string[] {
  return readdirSync(join(top, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

/** Returns a page without the parts that a script writes. */
function writtenByHand(text: string): string {
  if (/^<!-- Generated /m.test(text)) return '';
  return text
    .replaceAll(/<!-- (\w+): generated [\s\S]*?<!-- end of \1 -->/g, '')
    .replaceAll(/<!-- (\w+) -->[\s\S]*?<!-- \/\1 -->/g, '');
}

it.each(pages)('%s has no typed number of what the program declares', (page) => {
  const text = writtenByHand(readFileSync(join(top, page), 'utf8'));
  expect([...text.matchAll(typed)].map(([phrase]) => phrase)).toEqual([]);
});

it('a typed number is found', () => {
  expect('with its 85 tools and nine toolsets'.match(typed)).toEqual(['85 tools', 'nine toolsets']);
  expect('a tool, tools, the commands of git, two git commands'.match(typed)).toBeNull();
});
