import { afterAll, beforeAll, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { GitConfig } from '../../src/git/repository/config.ts';
import { Conversions } from '../../src/git/repository/conversions.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { gitEnv, Repo } from '../support/repo.ts';

let repo: Repo;
beforeAll(() => {
  repo = Repo.create();
  repo.write('a/b/.keep', '');
});
afterAll(() => repo.remove());

const names = ['filter', 'working-tree-encoding', 'ident'];

/** The converting attribute that is found for a path; undefined for none. */
function ours(path: string, home = gitEnv.HOME): string | undefined {
  const gitDir = repo.path('.git');
  const tree = { top: repo.root, gitDir, commonDir: gitDir };
  const env = { ...gitEnv, HOME: home };
  const config = GitConfig.read(new NodeFiles(), { ...tree, branch: 'main', env });
  try {
    new Conversions(new NodeFiles(), tree, config, env).check([path], () => undefined);
    return undefined;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return String(error.data.attribute);
  }
}

/** The same by native git. */
function native(path: string): string | undefined {
  const said = repo.git('check-attr', '-z', ...names, '--', path).split('\0');
  for (const [i, name] of names.entries()) {
    const state = said[3 * i + 2] ?? '';
    if (['unspecified', 'unset', ''].includes(state)) continue;
    if (name === 'ident') {
      if (state === 'set') return name;
    } else if (state !== 'set' && !(name !== 'filter' && /^utf-?8$/i.test(state))) {
      return `${name}=${state}`;
    }
  }
  return undefined;
}

function write(files: { readonly [name: string]: string }): void {
  for (const name of ['.gitattributes', 'a/.gitattributes', '.git/info/attributes']) {
    repo.write(name, files[name] ?? '');
  }
}

const path = 'a/b/note.md';

const cases: readonly { readonly [name: string]: string }[] = [
  { '.gitattributes': '* filter=crypt' },
  { '.gitattributes': 'a/** filter=git-crypt diff=git-crypt' },
  { '.gitattributes': 'a/* filter=crypt' },
  { '.gitattributes': 'a/ filter=crypt' },
  { '.gitattributes': 'a filter=crypt' },
  { '.gitattributes': '/note.md filter=crypt' },
  { '.gitattributes': '**/note.md filter=crypt' },
  { '.gitattributes': 'a/**/note.md filter=crypt' },
  { '.gitattributes': 'a/***/note.md filter=crypt' },
  { '.gitattributes': 'a/?**/note.md filter=crypt' },
  { '.gitattributes': '*.md filter=crypt\n*.md -filter' },
  { '.gitattributes': '*.md filter=crypt\n*.md !filter' },
  { '.gitattributes': '*.md filter' },
  { '.gitattributes': '*.md filter=' },
  { '.gitattributes': '!*.md filter=crypt' },
  { '.gitattributes': '[attr]secret filter=crypt diff=crypt\n*.md secret' },
  { '.gitattributes': '[attr]secret filter=crypt\n[attr]deep secret ident\n*.md deep -secret' },
  { '.gitattributes': '[attr]secret filter=crypt\n*.md -secret' },
  { 'a/.gitattributes': '[attr]secret filter=crypt', '.gitattributes': '*.md secret' },
  { '.gitattributes': '*.md filter=crypt', 'a/.gitattributes': '* -filter' },
  { '.gitattributes': '*.md -filter', '.git/info/attributes': 'a/b/*.md filter=crypt' },
  { '.gitattributes': '*.md filter=crypt', '.git/info/attributes': 'a/** -filter' },
  { 'a/.gitattributes': 'b/note.md working-tree-encoding=UTF-16' },
  { 'a/.gitattributes': 'b/note.md working-tree-encoding=utf-8' },
  { '.gitattributes': '*.md ident' },
  { '.gitattributes': '*.md -ident' },
  { '.gitattributes': '"a/b/n\\157te.md" filter=crypt' },
  { '.gitattributes': '"a/b/note.md" filter=crypt' },
  { '.gitattributes': 'a/[a-c]/n[!x]te.m? filter=crypt' },
  { '.gitattributes': 'a/[[:alpha:]]/n[[:digit:]o]te.md filter=crypt' },
  { '.gitattributes': 'a[/]b/note.md filter=crypt' },
  { '.gitattributes': 'a/[]b]/note.md filter=crypt' },
  { '.gitattributes': 'a/[b/note.md filter=crypt' },
  { '.gitattributes': `${'x'.repeat(2049)}\n  \t*.md\tfilter=crypt\r\n# *.md -filter` },
  { '.gitattributes': '\ufeff*.md filter=crypt' },
];

test.each(cases)('attributes are those of git: %j', (files) => {
  write(files);
  expect(ours(path)).toBe(native(path));
});

test('two stars after a letter stay within a name, as in the newest git', () => {
  for (const pattern of ['/a**', 'a**/note.md', 'a/b**']) {
    write({ '.gitattributes': `${pattern} filter=crypt\n` });
    expect(ours(path)).toBeUndefined();
  }
});

deep('random patterns match as in git', () => {
  const part = fc.constantFrom(
    'a',
    'b',
    '*',
    '**',
    '?',
    '/',
    'note',
    '.md',
    '[a-z]',
    '[!b]',
    '\\a',
  );
  const pattern = fc.array(part, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, (given) => {
      // These match more in older versions of git, for which a pattern began at its first wildcard.
      fc.pre(!/^[^*?[\\]*[^/*?[\\]\*\*/.test(given));
      write({ '.gitattributes': `${given} filter=crypt\n` });
      expect(ours(path)).toBe(native(path));
    }),
    { numRuns: runs(500) },
  );
});

test("the user's own file of attributes counts, and a hostile pattern takes no time", () => {
  write({});
  const home = Repo.in(`${repo.root}-home`);
  try {
    home.write('.config/git/attributes', '*.md filter=crypt\n');
    expect(ours(path, home.root)).toBe('filter=crypt');
    home.write('own', `${'*a'.repeat(900)} filter=crypt\n`);
    repo.git('config', 'core.attributesFile', home.path('own'));
    expect(ours(path.replace('note', 'a'.repeat(200)), home.root)).toBeUndefined();
  } finally {
    repo.git('config', '--unset', 'core.attributesFile');
    home.remove();
  }
});
