import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { GitConfig } from '../../src/git/repository/config.ts';
import { gitEnv } from '../support/repo.ts';
import { linked, piped } from '../support/windows.ts';
import { create } from './create.ts';

test.each([
  ['https://git.example.org/office/a.git', 'o@office.example'],
  ['https://git.example.org/home/a.git', 'p@home.example'],
  [undefined, 'p@home.example'],
])('a configuration for the remote %s is included as in git', (url, email) => {
  const repo = create();
  repo.git('config', '--unset', 'user.email');
  if (url) repo.git('remote', 'add', 'origin', url);
  const home = create();
  home.write('office', '[user]\n\temail = o@office.example\n');
  home.write(
    'gitconfig',
    '[user]\n\temail = p@home.example\n' +
      '[includeIf "hasconfig:remote.*.url:https://git.example.org/office/**"]\n\tpath = office\n',
  );
  const env = { ...gitEnv, GIT_CONFIG_GLOBAL: home.path('gitconfig') };
  const gitDir = repo.path('.git');
  const places = { gitDir, commonDir: gitDir, branch: 'main', env };
  expect(GitConfig.read(new NodeFiles(), places).get('user.email')).toBe(email);
  expect(repo.gitWith({ env }, 'config', 'user.email').trim()).toBe(email);
});

linked('an edit of the file that a linked configuration leads to is seen', () => {
  const repo = create();
  const home = create();
  home.write('dotfiles/gitconfig', '[user]\n\temail = old@example.org\n');
  symlinkSync('dotfiles/gitconfig', home.path('gitconfig'));
  const gitDir = repo.path('.git');
  const env = { ...gitEnv, GIT_CONFIG_GLOBAL: home.path('gitconfig') };
  const files = new NodeFiles();
  const config = GitConfig.read(files, { gitDir, commonDir: gitDir, branch: 'main', env });
  expect(config.own('user.email')).toBe('old@example.org');
  expect(config.isCurrent(files)).toBe(true);
  home.write('dotfiles/gitconfig', '[user]\n\temail = newer@example.org\n');
  expect(config.isCurrent(files)).toBe(false);
});

/** Expects that a configuration is read which includes a file that cannot be read. */
function expectSkipped(make: (path: string) => void): void {
  const repo = create();
  make(repo.path('included'));
  repo.write('gitconfig', `[include]\n\tpath = ${repo.path('included')}\n[user]\n\tname = Me\n`);
  const gitDir = repo.path('.git');
  const env = { ...gitEnv, GIT_CONFIG_GLOBAL: repo.path('gitconfig') };
  const places = { gitDir, commonDir: gitDir, branch: 'main', env };
  expect(GitConfig.read(new NodeFiles(), places).own('user.name')).toBe('Me');
}

test('an include of too much is skipped', () => {
  expectSkipped((path) => writeFileSync(path, '# '.padEnd(5 * 1024 * 1024)));
});

piped.each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a link to a device', (path: string) => symlinkSync('/dev/zero', path)],
] as const)('an include of %s is skipped', (_, make) => expectSkipped(make));
