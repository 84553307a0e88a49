import { chmodSync, chownSync, existsSync, lchownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { findWorkTree } from '../../src/git/repository/discover.ts';
import { checkOwner } from '../../src/git/repository/owner.ts';
import { deep, sample } from '../support/depth.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { create, passing } from './create.ts';
import { open, put } from './repository-at.ts';

const other = 65_534;
const refusal = { code: 'unsupported', text: expect.stringMatching(/another user \(uid 65534\)/) };

/** Gives everything in a folder to another user. */
function give(folder: string): void {
  lchownSync(folder, other, other);
  for (const { parentPath, name } of readdirSync(folder, {
    recursive: true,
    withFileTypes: true,
  })) {
    lchownSync(join(parentPath, name), other, other);
  }
}

function safe(...values: string[]): NodeJS.ProcessEnv {
  const settings = values.map((value) => `'safe.directory'='${value}'`);
  return { GIT_CONFIG_PARAMETERS: settings.join(' ') };
}

/** Whether git, and whether we, work in a repository. */
function accepted(repo: Repo, env: NodeJS.ProcessEnv): [git: boolean, ours: boolean] {
  const works = (action: () => unknown) => {
    try {
      action();
      return true;
    } catch {
      return false;
    }
  };
  return [works(() => repo.gitWith({ env }, 'status')), works(() => open(repo.root, { env }))];
}

/** Only root may give files away. */
describe.skipIf(process.getuid?.() !== 0)('a repository of another user', () => {
  test('is refused for reading and writing, and nothing is written', async () => {
    const repo = create();
    give(repo.root);
    expect(() => open(repo.root)).toThrow(expect.objectContaining(refusal));
    expect(() => repo.git('status')).toThrow(/dubious ownership/);
    expect(existsSync(repo.path('.git/memory-bank'))).toBe(false);
  });

  test('is not begun in a folder of another user', async () => {
    const repo = passing(new Repo());
    chownSync(repo.root, other, other);
    const files = new NodeFiles();
    expect(() => checkOwner(files, repo.root, undefined, gitEnv)).toThrow(/another user/);
  });

  test.each(sample(['', '.git', '.git/HEAD', '.git/objects', 'README.md'], 3))(
    'is one whose folder or git directory is theirs, as for git: "%s"',
    (path) => {
      const repo = create();
      chownSync(repo.path(path), other, other);
      const [git, ours] = accepted(repo, {});
      expect(ours).toBe(git);
      expect(git).toBe(!['', '.git'].includes(path));
    },
  );

  test('is a linked work tree whose file .git is theirs', () => {
    const repo = create();
    const linked = new Repo(repo.path('linked'));
    repo.git('worktree', 'add', '-q', '-b', 'side', linked.root);
    expect(accepted(linked, {})).toEqual([true, true]);
    chownSync(linked.path('.git'), other, other);
    expect(accepted(linked, {})).toEqual([false, false]);
  });

  deep.each<[string, boolean, (top: string) => NodeJS.ProcessEnv]>([
    ['its path', true, (top) => safe(top)],
    ['any', true, () => safe('*')],
    ['another one', false, (top) => safe(`${top}x`)],
    ['the folder around it', false, (top) => safe(join(top, '..'))],
    ['none, after any', false, () => safe('*', '')],
    ['its path, after none', true, (top) => safe('', top)],
    ['a relative path', false, () => safe('relative')],
    ['the caller of sudo', true, () => ({ SUDO_UID: `${other}` })],
    ['another caller of sudo', false, () => ({ SUDO_UID: '1' })],
    ['a caller of sudo that is not a number', false, () => ({ SUDO_UID: 'x' })],
  ])('is allowed by %s: %s, as for git', (_, allowed, env) => {
    const repo = create();
    repo.git('config', 'safe.directory', '*');
    give(repo.root);
    expect(accepted(repo, env(repo.root))).toEqual([allowed, allowed]);
  });

  test.each<[string, boolean, (top: string) => string]>([
    ['a slash at the end', true, (top) => `${top}/`],
    ['all folders below one', true, (top) => join(top, '../*')],
    ['all folders below itself', false, (top) => `${top}/*`],
  ])('is allowed by %s: %s, as for git since 2.46', (_, allowed, value) => {
    const repo = create();
    give(repo.root);
    expect(accepted(repo, safe(value(repo.root)))[1]).toBe(allowed);
  });

  test('is also one of root, for another user', () => {
    const repo = create();
    chmodSync(repo.root, 0o755);
    process.seteuid?.(other);
    try {
      expect(() => findWorkTree(new NodeFiles(), repo.root, gitEnv)).toThrow(/uid 0\).*uid 65534/);
    } finally {
      process.seteuid?.(0);
    }
  });

  test('is written to once it is allowed', async () => {
    const repo = create();
    give(repo.root);
    await put(open(repo.root, { env: safe('*') }), { 'm/a.md': '1' });
    expect(repo.gitWith({ env: safe('*') }, 'log', '-1', '--format=%s').trim()).toBe('m');
  });
});
