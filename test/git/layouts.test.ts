import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Repo } from '../support/repo.ts';
import { create, passing } from './create.ts';
import { expectClean, open, put } from './repository-at.ts';

/** Clones a repository as a bare one with a linked work tree for its branch. */
function bareWithTree(name: string) {
  const repo = create();
  const folder = passing(new Repo());
  const bare = folder.path(name);
  repo.git('clone', '-q', '--bare', repo.root, bare);
  const inBare = (...args: string[]) => folder.git('-C', bare, ...args);
  inBare('config', 'user.name', 'Ada Lovelace');
  inBare('config', 'user.email', 'ada@example.org');
  inBare('worktree', 'add', '-q', folder.path('main'), 'main');
  return { folder, bare, inBare, tree: new Repo(folder.path('main')) };
}

describe('a bare repository with linked work trees', () => {
  test.each(['x.git', '.bare'])('is committed to from a work tree of %s', async (name) => {
    const { inBare, tree } = bareWithTree(name);
    await put(open(tree.root), { 'm/a.md': '1' });
    expect(inBare('log', '-1', '--format=%s', 'main').trim()).toBe('m');
    expect(tree.status()).toEqual([]);
    expectClean(tree);
  });

  test('is refused with a way out in the folder that only points to it, as git refuses', async () => {
    const { folder } = bareWithTree('.bare');
    writeFileSync(folder.path('.git'), 'gitdir: ./.bare\n');
    expect(() => folder.git('status')).toThrow(/must be run in a work tree/);
    await expect(put(open(folder.root), { 'm/a.md': '1' })).rejects.toMatchObject({
      code: 'unsupported',
      text: expect.stringMatching(/\.bare is bare.*not one of its linked work trees.*worktree add/),
    });
    expect(folder.git('worktree', 'list')).toContain(join(folder.root, 'main'));
  });

  test('is refused in a work tree whose own settings make it bare, as git refuses', async () => {
    const { inBare, tree } = bareWithTree('x.git');
    inBare('config', 'extensions.worktreeConfig', 'true');
    expect(() => tree.git('status')).toThrow(/must be run in a work tree/);
    await expect(put(open(tree.root), { 'm/a.md': '1' })).rejects.toMatchObject({
      code: 'unsupported',
    });
    tree.git(
      'config',
      '--file',
      join(tree.git('rev-parse', '--git-dir').trim(), 'config.worktree'),
      'core.bare',
      'false',
    );
    expect(tree.status()).toEqual([]);
    await put(open(tree.root), { 'm/a.md': '1' });
    expectClean(tree);
  });

  test('may check out its default branch in a new work tree', async () => {
    const { bare, inBare, tree } = bareWithTree('x.git');
    inBare('branch', 'other');
    inBare('symbolic-ref', 'HEAD', 'refs/heads/other');
    const top = join(bare, 'memory-bank/trees/other');
    const commit = inBare('rev-parse', 'other').trim();
    await open(tree.root).direct.addWorkTree({ top, ref: 'refs/heads/other', commit });
    expect(new Repo(top).status()).toEqual([]);
    expect(inBare('worktree', 'list')).toContain(`${top}  ${commit.slice(0, 7)} [other]`);
  });
});

test('core.worktree of a repository does not concern its linked work trees', async () => {
  const repo = create();
  const linked = new Repo(repo.path('linked'));
  repo.git('worktree', 'add', '-q', '-b', 'side', linked.root);
  repo.git('config', 'core.worktree', repo.path('elsewhere'));
  expect(linked.status()).toEqual([]);
  await put(open(linked.root), { 'm/a.md': '1' });
  expect(linked.status()).toEqual([]);
});
