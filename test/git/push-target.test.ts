import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { hubOf, upstreamOf } from '../../src/git/remote/remote.ts';
import { GitConfig } from '../../src/git/repository/config.ts';
import { deep } from '../support/depth.ts';
import { gitEnv, Repo } from '../support/repo.ts';

let here: Repo;
let bare: Repo;
beforeEach(() => {
  here = Repo.create();
  bare = Repo.in(`${here.root}-remotes`);
  for (const name of ['origin', 'fork']) {
    bare.git('init', '-q', '--bare', '-b', 'main', name);
    here.git('remote', 'add', name, bare.path(name));
  }
  here.git('push', '-q', '-u', 'origin', 'main');
  here.git('push', '-q', 'fork', 'main');
  here.write('new.txt', 'new');
  here.git('add', '.');
  here.git('commit', '-q', '-m', 'Something to push');
});
afterEach(() => {
  here.remove();
  bare.remove();
});

const config = () => {
  const gitDir = here.path('.git');
  const places = { gitDir, commonDir: gitDir, branch: 'main', env: gitEnv };
  return GitConfig.read(new NodeFiles(), places);
};

/** The repository to which a plain `git push` of git itself goes; undefined if it refuses. */
function native(): string | undefined {
  try {
    const said = here.git('push', '--dry-run', '--porcelain');
    const [, path] = /^To (.+)$/m.exec(said) ?? [];
    return path && resolve(path);
  } catch {
    return undefined;
  }
}

function hub(): string | undefined {
  try {
    const url = hubOf(config(), 'refs/heads/main', here.root)?.url;
    return url && resolve(url);
  } catch {
    return undefined;
  }
}

const cases: readonly (readonly (readonly [key: string, value: string])[])[] = [
  [],
  [['branch.main.pushRemote', 'fork']],
  [['branch.main.pushRemote', 'no_push']],
  [['remote.pushDefault', 'fork']],
  [['remote.pushDefault', 'no_push']],
  [
    ['remote.pushDefault', 'fork'],
    ['branch.main.pushRemote', 'origin'],
  ],
  [['push.default', 'nothing']],
  [['push.default', 'current']],
  [
    ['push.default', 'nothing'],
    ['remote.origin.push', 'refs/heads/main:refs/heads/main'],
  ],
  [['branch.other.pushRemote', 'fork']],
];

test('claims go where git pushes', () => {
  const plain = here.read('.git/config');
  for (const settings of cases) {
    here.write('.git/config', plain);
    for (const [key, value] of settings) here.git('config', key, value);
    expect(hub(), JSON.stringify(settings)).toBe(native());
  }
});

test('a push remote can be an address', () => {
  here.git('config', 'branch.main.pushRemote', '../fork');
  expect(hub()).toBe(new Repo(here.path('../fork')).root);
});

const sync = () => upstreamOf(config(), 'refs/heads/main', here.root);

test('a branch that is pushed elsewhere is not synced, with advice that works', () => {
  expect(sync().remote).toBe('origin');
  here.git('config', 'remote.pushDefault', 'fork');
  expect(sync).toThrow(expect.objectContaining({ code: 'unsupported' }));
  expect(sync).toThrow('pushed to fork (remote.pushDefault)');
  expect(() => sync()).toThrow(
    expect.objectContaining({
      hint: expect.stringMatching(
        /"git config branch\.main\.pushRemote origin".*"git push -u fork main"/,
      ),
    }),
  );
  here.git('config', 'branch.main.pushRemote', 'origin');
  expect(sync().remote).toBe('origin');
  here.git('config', '--unset', 'branch.main.pushRemote');
  here.git('push', '-q', '-u', 'fork', 'main');
  expect(sync().remote).toBe('fork');
});

deep('nothing is synced where the user has closed the way', () => {
  here.git('config', 'branch.main.pushRemote', 'no_push');
  expect(sync).toThrow('branch.main.pushRemote is "no_push", which is not a remote');
  here.git('config', '--unset', 'branch.main.pushRemote');
  here.git('config', 'push.default', 'nothing');
  expect(sync).toThrow('push.default is "nothing"');
});
