import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const top = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
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
