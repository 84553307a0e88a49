import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkRepository } from '../../src/app/health/repository-check.ts';
import { create } from '../git/create.ts';
import { inFiles } from '../support/in-files.ts';
import { main } from '../support/process.ts';
import { gitEnv, type Repo } from '../support/repo.ts';

/** The findings about a repository, each as `what state text`. */
async function check(repo: Repo, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const found = await checkRepository(repo.root, { ...gitEnv, ...env }, ['memory-bank']);
  return found.map(({ what, state, text }) => `${what} ${state} ${text}`);
}

inFiles('doctor names the files among the refs that are not refs, and what to do', async () => {
  const repo = create();
  repo.git('branch', 'lost');
  for (const name of ['heads/.DS_Store', 'heads/main 2', 'heads/lost', 'tags/desktop.ini']) {
    repo.write(`.git/refs/${name}`, '');
  }
  repo.write('.git/packed-refs', '# pack-refs with: peeled \njunk\n');
  const heads = repo.path('.git/refs/heads');
  expect((await check(repo)).filter((one) => one.startsWith('Refs'))).toEqual([
    expect.stringContaining(`${heads}/.DS_Store is not a ref. Git ignores it. Delete it.`),
    expect.stringMatching(/heads\/lost has the name .* Delete it.*update-ref refs\/heads\/lost/),
    expect.stringMatching(/heads\/main 2 is not a ref.*Delete it\.$/),
    expect.stringMatching(/tags\/desktop\.ini has the name of a ref.*Delete it\.$/),
    expect.stringMatching(/^Refs note Line 2 of .*packed-refs is not a ref\..*delete the line/),
  ]);
  repo.write('.git/packed-refs', '');
  for (const name of ['heads/.DS_Store', 'heads/main 2', 'heads/lost', 'tags/desktop.ini']) {
    rmSync(repo.path(`.git/refs/${name}`));
  }
  repo.git('update-ref', 'refs/heads/lost', 'HEAD');
  expect((await check(repo)).filter((one) => one.startsWith('Refs'))).toEqual([]);
});

test('doctor knows the name that the environment gives to git', async () => {
  const repo = create();
  repo.git('config', '--unset', 'user.name');
  const nameless = expect.stringMatching(/^Identity note git knows no user\.name/);
  expect(await check(repo)).toContainEqual(nameless);
  expect(await check(repo, { GIT_COMMITTER_NAME: 'Bob' })).toContainEqual(nameless);
  expect(await check(repo, { GIT_AUTHOR_NAME: 'Ada' })).not.toContainEqual(nameless);
  const set = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Ada' };
  expect(await check(repo, set)).not.toContainEqual(nameless);
  expect(await check(repo, { GIT_AUTHOR_NAME: '' })).toContainEqual(
    expect.stringMatching(/^Repository bad .*GIT_AUTHOR_NAME is empty/),
  );
});

test.skipIf(process.getuid?.() !== 0)('doctor names what cannot be written', async () => {
  const repo = create();
  repo.write('.memory-bank/a.md', '1');
  const permissions = async () => (await check(repo)).filter((one) => /^Permissions/.test(one));
  expect(await permissions()).toEqual([]);
  chownSync(repo.path('.git/index'), 65_534, 65_534);
  expect(await permissions()).toEqual([expect.stringMatching(/note .*\.git\/index do not belong/)]);
  chownSync(repo.path('.git/index'), 0, 0);
  for (const path of ['', '.git']) chownSync(repo.path(path), 65_534, 65_534);
  chmodSync(repo.root, 0o755);
  const { stdout } = spawnSync(process.execPath, [main, 'doctor', '--root', repo.root], {
    ...{ uid: 65_534, gid: 65_534, env: gitEnv, encoding: 'utf8' },
  });
  expect(stdout).toMatch(/WRONG\s+Permissions\s+.*refs\/heads cannot be written/);
});
