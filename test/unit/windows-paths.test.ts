import { Dirent } from 'node:fs';
import { expect, test } from 'vitest';
import type { Stat } from '../../src/git/disk/file-layer.ts';
import { entryKind } from '../../src/git/disk/node-files.ts';
import { isBelow } from '../../src/git/repository/config-condition.ts';
import { contains } from '../../src/git/repository/enclosure.ts';
import { placeInside } from '../../src/store/evidence/citation.ts';

const gitDir = 'C:\\Users\\ada\\code\\shop\\.git';

test.each([
  ['C:/Users/ada/code/', '', true],
  ['C:\\Users\\ada\\code\\', '', true],
  ['code/', '', true],
  ['./code/', '', true],
  ['**/shop/.git', '', true],
  ['c:/users/ada/CODE/', 'i', true],
  ['C:/Users/ada/play/', '', false],
  ['D:/Users/ada/code/', '', false],
])('the condition gitdir:%s of a configuration on Windows (%s)', (pattern, flags, met) => {
  const from = 'C:\\Users\\ada\\.gitconfig';
  expect(isBelow(pattern, from, gitDir, flags, 'win32')).toBe(met);
});

test.each([
  ['src/a.ts:4-9', 'src/a.ts:4-9'],
  ['src\\a.ts:4-9', 'src/a.ts:4-9'],
  ['C:\\code\\shop\\src\\a.ts#name', 'src/a.ts#name'],
  ['c:/code/shop/src/a.ts', 'src/a.ts'],
  ['C:\\code\\shopping\\a.ts', 'C:/code/shopping/a.ts'],
])('a place in the code that is given on Windows: %s', (given, place) => {
  expect(placeInside(given, 'C:\\code\\shop', 'win32')).toBe(place);
});

test.each([
  ['\\\\server\\share\\shop\\src\\a.ts:4-9', 'src/a.ts:4-9'],
  ['//SERVER/share/shop/src/a.ts', 'src/a.ts'],
  ['\\\\server\\other\\shop\\a.ts', '//server/other/shop/a.ts'],
])('a place in the code of a shared folder: %s', (given, place) => {
  expect(placeInside(given, '\\\\server\\share\\shop', 'win32')).toBe(place);
});

test.each([
  ['C:\\code\\shop', 'c:\\Code\\shop\\src', true],
  ['C:\\code\\shop', 'C:\\code\\shop\\..notes', true],
  ['C:\\code\\shop', 'C:\\code\\shopping', false],
  ['C:\\code\\shop', 'D:\\code\\shop\\src', false],
  ['C:\\code\\shop', '\\\\server\\share\\shop', false],
  ['\\\\server\\share\\shop', '\\\\SERVER\\Share\\shop\\src', true],
  ['\\\\server\\share\\', '\\\\server\\share\\shop', true],
  ['\\\\server\\share\\shop', '\\\\server\\other\\shop\\src', false],
  ['\\\\wsl$\\Ubuntu\\home\\ada', '\\\\wsl$\\Debian\\home\\ada', false],
  ['\\\\wsl$\\Ubuntu\\home\\ada', '\\\\wsl$\\Ubuntu\\home\\ada\\shop', true],
])('the folder %s on Windows contains %s: %s', (folder, path, inside) => {
  expect(contains(folder, path, 'win32')).toBe(inside);
});

test.each([
  ['//server/share/code/', true],
  ['//server/share/**/shop/.git', true],
  ['//server/other/', false],
])('the condition gitdir:%s of a repository in a shared folder: %s', (pattern, met) => {
  const shared = '\\\\server\\share\\code\\shop\\.git';
  expect(isBelow(pattern, 'C:\\Users\\ada\\.gitconfig', shared, '', 'win32')).toBe(met);
});

test('a backslash stays where it is a part of a name', () => {
  expect(placeInside('/w/src/a\\b.ts', '/w', 'linux')).toBe('src/a\\b.ts');
});

test('an entry that only Windows lists as a link has the kind of its file', () => {
  const entry = Object.assign(new Dirent(), { isSymbolicLink: () => true, isFile: () => false });
  Object.assign(entry, { isDirectory: () => false });
  const look = (kind: Stat['kind']) => (): Stat => {
    return { kind, size: 1, mtimeMs: 1, ctimeMs: 1, ino: 1, mode: 0o100666, links: 1 };
  };
  expect(entryKind(entry, look('file'), 'win32')).toBe('file');
  expect(entryKind(entry, look('directory'), 'win32')).toBe('directory');
  // A junction, or a link.
  expect(entryKind(entry, look('link'), 'win32')).toBe('link');
  expect(entryKind(entry, look('file'), 'linux')).toBe('link');
});
