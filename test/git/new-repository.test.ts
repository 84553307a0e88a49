import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Repository } from '../../src/git/commit/repository.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { bury, litter } from '../faults/place.ts';
import { deep } from '../support/depth.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { gitEnv, knowsTables, Repo } from '../support/repo.ts';
import { skipOnWindows } from '../support/windows.ts';
import { passing } from './create.ts';
import { put } from './repository-at.ts';

skipOnWindows('the git of these tests is a script of a shell');

/** A repository that is not made yet, with the settings of a person, on a machine with some version of git. */
function unmade(version: string, settings: string, more: NodeJS.ProcessEnv = {}) {
  const repo = passing(new Repo());
  const programs = passing(new Repo(mkdtempSync(join(tmpdir(), 'memory-bank-git-'))));
  writeFileSync(programs.path('git'), `#!/bin/sh\necho 'git version ${version}'\n`);
  chmodSync(programs.path('git'), 0o755);
  writeFileSync(programs.path('config'), `[user]\n\tname = A\n\temail = a@b\n[init]\n${settings}`);
  const git = { GIT_CONFIG_GLOBAL: programs.path('config'), PATH: programs.root };
  const formats = { GIT_DEFAULT_HASH: undefined, GIT_DEFAULT_REF_FORMAT: undefined };
  const gitDir = repo.path('.git');
  const open = (files: Files) =>
    new Repository(
      new Disk(files, 'full'),
      { top: repo.root, gitDir, commonDir: gitDir },
      {
        env: { ...gitEnv, ...formats, ...git, ...more },
        now: () => new Date(Date.UTC(2026, 0, 2, 3, 4, 5)),
        lockTimeout: 300,
        calm: 0,
        warn: (message) => {
          throw new Error(message);
        },
      },
    );
  return { repo, open, repository: open(new NodeFiles()) };
}

test('is made by the next process where one died while it wrote the list of its tables', async () => {
  const { repo, open, repository } = unmade('2.55.0', '\tdefaultRefFormat = reftable\n');
  const files = new FaultFiles();
  files.plan = () =>
    /^write .*\/tables\.list$/.test(files.log.at(-1) ?? '') ? { kind: 'torn' } : undefined;
  await expect(open(files).initialize()).rejects.toThrow();
  expect(files.dead).toBe(true);
  bury(repo.root);
  await repository.initialize();
  const made = await put(repository, { 'm/a.md': 'a' });
  expect(repository.head()).toEqual({ ref: 'refs/heads/main', oid: made?.oid });
  expect(litter(repo.root)).toEqual([]);
});

const both =
  '\tdefaultBranch = trunk\n\tdefaultObjectFormat = sha256\n\tdefaultRefFormat = reftable\n';

deep.each([
  ['settings', '2.46.0', both, {}, 'sha256', true],
  [
    'variables',
    '2.45.1',
    '',
    { GIT_DEFAULT_HASH: 'sha256', GIT_DEFAULT_REF_FORMAT: 'reftable' },
    'sha256',
    true,
  ],
  [
    'variables over settings',
    '2.55.0',
    both,
    { GIT_DEFAULT_HASH: 'sha1', GIT_DEFAULT_REF_FORMAT: 'files' },
    'sha1',
    false,
  ],
  ['a git that cannot read tables', '2.39.5 (of a vendor)', both, {}, 'sha256', false],
  ['a git that knows neither', '2.20.1', both, {}, 'sha1', false],
  [
    'formats that git only warns of',
    '2.55.0',
    '\tdefaultObjectFormat = md5\n\tdefaultRefFormat = rows\n',
    {},
    'sha1',
    false,
  ],
  ['no git', '', both, { PATH: '/nonexistent' }, 'sha256', true],
] as const)(
  'a new repository has the formats that git would choose: %s',
  async (_, version, settings, env, objects, tables) => {
    const { repo, repository } = unmade(version, settings, env);
    expect(await repository.initialize()).toBe(true);
    const made = await put(repository, { 'm/a.md': 'a' });
    expect(made?.oid).toHaveLength(objects === 'sha256' ? 64 : 40);
    expect(existsSync(repo.path('.git/reftable/tables.list'))).toBe(tables);
    if (tables && !knowsTables()) return;
    expect(repo.git('rev-parse', 'HEAD', '--show-object-format')).toBe(
      `${made?.oid}\n${objects}\n`,
    );
    expect(repo.git('symbolic-ref', 'HEAD').trim()).toBe(`refs/heads/${made?.branch}`);
    expect(repo.git('reflog').trim().split('\n')).toHaveLength(1);
    expect(repo.fsck()).toBe('');
  },
);

test.each([
  ['GIT_DEFAULT_HASH', 'md5', /md5\. Set it to sha1 or sha256/],
  ['GIT_DEFAULT_REF_FORMAT', 'rows', /rows\. Set it to files or reftable/],
])('an unknown format in %s is refused, as by git', async (name, value, text) => {
  const { repo, repository } = unmade('2.55.0', '', { [name]: value });
  await expect(repository.initialize()).rejects.toMatchObject({
    text: expect.stringMatching(text),
  });
  expect(existsSync(repo.path('.git/config'))).toBe(false);
});

test('a new repository that was left half made is made again in another format', async () => {
  const env = { GIT_DEFAULT_REF_FORMAT: 'reftable' };
  const { repo, repository } = unmade('2.55.0', '', env);
  await repository.initialize();
  const files = new NodeFiles();
  files.unlink(repo.path('.git/HEAD'));
  const again = new Repository(new Disk(files, 'full'), repository.tree, {
    env: { ...gitEnv, GIT_DEFAULT_REF_FORMAT: 'files' },
    now: () => new Date(),
    lockTimeout: 300,
    calm: 0,
    warn: () => {},
  });
  expect(await again.initialize()).toBe(true);
  expect(existsSync(repo.path('.git/reftable'))).toBe(false);
  expect(repo.git('symbolic-ref', 'HEAD')).toMatch(/^refs\/heads\//);
});

test('tables with refs are not made anew where HEAD is lost', async () => {
  const { repo, repository } = unmade('2.55.0', '', { GIT_DEFAULT_REF_FORMAT: 'reftable' });
  await repository.initialize();
  await put(repository, { 'm/a.md': 'a' });
  const files = new NodeFiles();
  for (const name of ['HEAD', 'index']) files.unlink(repo.path(`.git/${name}`));
  await expect(repository.initialize()).rejects.toMatchObject({ code: 'unsupported' });
});
