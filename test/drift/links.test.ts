import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const top = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'test/bench/notes.md',
  ...readdirSync(join(top, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Returns the text of a page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(join(top, page), 'utf8').replace(/^```.*?^```$/gms, '');
}

/** Lists the anchors that GitHub makes for a page's headings: a second one of a text gets a number. */
function anchors(page: string): string[] {
  const counts = new Map<string, number>();
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => {
    const name = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
}

it.each(pages)('every link of %s leads to a file and a heading that exist', (page) => {
  const broken: string[] = [];
  for (const [, link = ''] of proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^https?:/.test(link)) continue;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (target.startsWith('..') || !existsSync(join(top, target))) broken.push(link);
    else if (anchor !== undefined && !(target.endsWith('.md') && anchors(target).includes(anchor)))
      broken.push(link);
  }
  expect(broken).toEqual([]);
});

it('the package contains what the README links to', () => {
  const text = readFileSync(join(top, 'README.md'), 'utf8');
  const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link);
  const packed = ['LICENSE', ...packageJson.files];
  const { origin, pathname } = new URL(packageJson.homepage);
  const missing = links.filter((link) =>
    /^\w+:/.test(link)
      ? !link.startsWith(`${origin}${pathname}`)
      : !packed.some((file) => link === file || link.startsWith(`${file}/`)),
  );
  expect(links.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

it('package.json names one repository', () => {
  const [, account, name] = /^io\.github\.([^/]+)\/(.+)$/.exec(packageJson.mcpName) ?? [];
  const url = `https://github.com/${account}/${name}`;
  expect(packageJson).toMatchObject({
    homepage: `${url}#readme`,
    repository: { type: 'git', url: `git+${url}.git` },
    bugs: `${url}/issues`,
  });
});

it('CHANGELOG.md has the version of the package, or unreleased changes', () => {
  const text = readFileSync(join(top, 'CHANGELOG.md'), 'utf8');
  const headings = [...text.matchAll(/^## \[(.+?)\]/gm)].map(([, heading = '']) => heading);
  expect(headings.some((name) => [packageJson.version, 'Unreleased'].includes(name))).toBe(true);
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
