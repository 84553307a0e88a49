import { expect, it } from 'vitest';
import { fileNameProblem } from '../../src/core/names/file-name.ts';
import fc from '../support/fc.ts';

it.each([
  'a.md',
  'activeContext.md',
  'doc/adr/0001 größe.md',
  'решения/2025-10.md',
  '日本語/メモ.md',
  '.github/CONTRIBUTING.md',
  'git.md',
  '.gitignore.md',
  'a..b.md',
  '100%.md',
  'community/console.md',
  '👩‍💻.md',
])('takes %j', (name) => {
  expect(fileNameProblem(name)).toBeUndefined();
});

it.each([
  ['', 'relative'],
  ['a', '".md"'],
  ['a.MD', '".md"'],
  ['cache.json', '".md"'],
  ['a.md/', 'relative'],
  ['/etc/a.md', 'relative'],
  ['C:/a.md', 'any of'],
  ['../a.md', 'relative'],
  ['a/../../b.md', 'relative'],
  ['./a.md', 'relative'],
  ['a//b.md', 'relative'],
  ['a\\b.md', 'any of'],
  ['a\0.md', 'control'],
  ['a\n.md', 'control'],
  ['\ud800.md', 'control'],
  ['%2e%2e/a.md', 'encoded'],
  ['..%2Fa.md', 'encoded'],
  ['%252e%252e/a.md', 'encoded'],
  ['．．/a.md', 'relative'],
  ['..／a.md', 'relative'],
  ['‥/a.md', 'relative'],
  ['a\u202e.md', 'invisible'],
  ['a\u200b.md', 'invisible'],
  ['.git/a.md', '".git"'],
  ['.gitmodules/a.md', '".git"'],
  ['GI7EBA~1/a.md', '".git"'],
  ['.GIT/a.md', '".git"'],
  ['.g\u200cit/a.md', '".git"'],
  ['.ｇit/a.md', '".git"'],
  ['git~1/a.md', '".git"'],
  ['.git /a.md', 'ends with'],
  ['.git./a.md', 'ends with'],
  ['.git::$INDEX_ALLOCATION/a.md', 'any of'],
  ['aux.md', 'device'],
  ['con/a.md', 'device'],
  ['COM1.x.md', 'device'],
  ['lpt²/a.md', 'device'],
  ['a /b.md', 'ends with'],
  ['e\u0301.md', 'form C'],
  [`${'x'.repeat(198)}.md`, 'bytes'],
  [`${'a/'.repeat(11)}b.md`, 'folders'],
])('refuses %j', (name, problem) => {
  expect(fileNameProblem(name)).toContain(problem);
});

it('lets no name out of its folder', () => {
  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '%2e',
    'a',
    '.md',
    '．',
    ' ',
    '\0',
    '.git',
    ':',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const name = pieces.join('');
      if (fileNameProblem(name) !== undefined) return;
      const { pathname } = new URL(name, 'file:///bank/');
      expect(pathname.startsWith('/bank/')).toBe(true);
      expect(name.split('/').some((segment) => /^\.git$/i.test(segment))).toBe(false);
    }),
  );
});
