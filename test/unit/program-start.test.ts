import { expect, test } from 'vitest';
import { browserStart } from '../../src/cli/commands/open-view.ts';
import { findProgram, programToStart } from '../../src/git/repository/program-start.ts';

const env = { Path: 'C:\\Tools;.;bin;C:\\Git\\cmd' };

/** Windows with some files, and a project as the current folder. */
function windows(...files: string[]) {
  return { platform: 'win32', isFile: (path: string) => files.includes(path) } as const;
}

test.each([
  ['on the PATH', 'git', ['C:\\Git\\cmd\\git.exe'], 'C:\\Git\\cmd\\git.exe'],
  [
    'first on the PATH',
    'git',
    ['C:\\Git\\cmd\\git.exe', 'C:\\Tools\\git.com'],
    'C:\\Tools\\git.com',
  ],
  ['with its ending', 'gpg2.exe', ['C:\\Tools\\gpg2.exe'], 'C:\\Tools\\gpg2.exe'],
  ['with a dot in its name', 'gpg2.4', ['C:\\Tools\\gpg2.4.exe'], 'C:\\Tools\\gpg2.4.exe'],
  ['by its path', 'D:\\G\\gpg', ['D:\\G\\gpg.exe'], 'D:\\G\\gpg.exe'],
  ['only in the project', 'git', ['git.exe', '.\\git.exe', 'bin\\git.exe'], undefined],
  ['only as a script of another shell', 'git', ['C:\\Tools\\git'], undefined],
])('a program of Windows that is %s', (_, name, files, found) => {
  expect(programToStart(name, env, windows(...files))).toBe(found);
});

test('other systems find the program themselves', () => {
  const system = { platform: 'linux', isFile: (path: string) => path === '/b/gpg' } as const;
  expect(programToStart('gpg', { PATH: '/a:/b' }, system)).toBe('gpg');
  expect(findProgram('gpg', { PATH: '/a:/b' }, system)).toBe('/b/gpg');
  expect(findProgram('gpg', { PATH: '/a' }, system)).toBeUndefined();
});

test('the browser is opened by a program of the system, never by one of the project', () => {
  const link = 'http://127.0.0.1:1/view?token=a';
  expect(browserStart(link, 'win32', { SYSTEMROOT: 'D:\\Windows' })).toEqual({
    command: 'D:\\Windows\\System32\\rundll32.exe',
    args: ['url.dll,FileProtocolHandler', link],
  });
  expect(browserStart(link, 'darwin', {})).toEqual({ command: 'open', args: [link] });
  expect(browserStart(link, 'linux', {})).toEqual({ command: 'xdg-open', args: [link] });
});
