import { expect, test } from 'vitest';
import { pathFolders, systemFolder } from '../../src/git/repository/system-config.ts';

const usual = 'C:\\Program Files\\Git';
const own = 'D:\\tools\\Git';

type Case = [what: string, env: NodeJS.ProcessEnv, files: string[], top: string];

const cases: Case[] = [
  ['the usual folder', { Path: 'C:\\Windows' }, [`${usual}\\etc\\gitconfig`], usual],
  ['the usual folder, without a PATH', {}, [`${usual}\\etc\\gitconfig`], usual],
  ['no git', { Path: 'C:\\Windows' }, [], usual],
  [
    'a folder of ProgramFiles',
    { PROGRAMFILES: 'E:\\P' },
    ['E:\\P\\Git\\etc\\gitconfig'],
    'E:\\P\\Git',
  ],
  ...['cmd', 'bin', 'mingw64\\bin', 'clangarm64\\bin'].map(
    (folder): Case => [
      `the git on the PATH, in ${folder}`,
      { Path: `C:\\Windows;${own}\\${folder}` },
      [`${own}\\${folder}\\git.exe`, `${own}\\etc\\gitconfig`, `${usual}\\etc\\gitconfig`],
      own,
    ],
  ),
  [
    'the usual folder, for a git that is only a launcher',
    { Path: 'D:\\shims' },
    ['D:\\shims\\git.exe', `${usual}\\etc\\gitconfig`],
    usual,
  ],
  [
    'the usual folder, for a git in the current folder',
    { Path: 'cmd' },
    ['cmd\\git.exe', 'etc\\gitconfig', `${usual}\\etc\\gitconfig`],
    usual,
  ],
];

test.each(cases)('the system files of git for Windows are found: %s', (_, env, files, top) => {
  const isFile = (path: string) => files.some((file) => file === path);
  expect(systemFolder(env, isFile, 'win32')).toBe(`${top}\\etc`);
});

test('other systems have them in /etc', () => {
  expect(systemFolder({ Path: own }, () => true, 'linux')).toBe('/etc');
});

test('the PATH of a copied environment has any case on Windows, and no other system', () => {
  expect(pathFolders({ Path: 'C:\\a;D:\\b' }, 'win32')).toEqual(['C:\\a', 'D:\\b']);
  expect(pathFolders({ PATH: 'C:\\a', Path: 'D:\\b' }, 'win32')).toEqual(['C:\\a']);
  expect(pathFolders({ Path: '/a', PATH: '/b:/c' }, 'linux')).toEqual(['/b', '/c']);
});
