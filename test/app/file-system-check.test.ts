import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkFileSystem } from '../../src/app/health/file-system-check.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { InodeOfPath, refusing } from '../support/odd-disk.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let before: string[];
beforeEach(() => {
  repo = Repo.create();
  before = readdirSync(repo.path('.git'));
});
afterEach(() => {
  expect(readdirSync(repo.path('.git'))).toEqual(before);
  repo.remove();
});

const gitDir = () => repo.path('.git');

test('a file system that has everything is not mentioned', async () => {
  expect(await checkFileSystem(new NodeFiles(), gitDir())).toEqual([]);
});

test.each([
  ['link', /lacks hard links that show the inode of their file\. /],
  ['chmod', /lacks permissions of files\. /],
  ['utimes', /lacks times of files that can be set\. /],
  ['fsync of a folder', /lacks folders that can be flushed\. /],
] as const)('the lack of %s is reported', async (operation, text) => {
  const found = await checkFileSystem(refusing([operation], 'EOPNOTSUPP'), gitDir());
  expect(found).toEqual([
    { what: 'File system', state: 'note', text: expect.stringMatching(text) },
  ]);
});

test('links with inodes of their own count as none', async () => {
  const [found] = await checkFileSystem(new InodeOfPath(), gitDir());
  expect(found).toMatchObject({ state: 'note', text: expect.stringContaining('hard links') });
});

test('an operation that cannot be done without is named with the file', async () => {
  const [found] = await checkFileSystem(refusing(['rename'], 'EPERM'), gitDir());
  expect(found?.state).toBe('bad');
  expect(found?.text).toMatch(/probe-\S+ cannot be renamed \(EPERM\)/);
  const [made] = await checkFileSystem(refusing(['create'], 'EINVAL'), gitDir());
  expect(made?.text).toMatch(/^Cannot try the file system: .*\/probe-/);
});
