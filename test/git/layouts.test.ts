import {
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bury } from '../faults/place.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { Repo } from '../support/repo.ts';
import { linked } from '../support/windows.ts';
import { create, passing } from './create.ts';
import { expectClean, open, put } from './repository-at.ts';

/** The tops of the work trees that git lists. */
function workTrees(repo: Repo): string[] {
  const lines = repo.git('worktree', 'list', '--porcelain').split('\n');
  return lines.flatMap((line) => (line.startsWith('worktree ') ? [resolve(line.slice(9))] : []));
}

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
    expect(workTrees(folder)).toContain(join(folder.root, 'main'));
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
    expect(workTrees(new Repo(bare))).toContain(top);
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

/** Moves parts of a git directory elsewhere and leaves links to them, as the program "repo" does. */
function linkParts(repo: Repo, ...names: string[]): void {
  const store = passing(new Repo());
  for (const name of names) {
    mkdirSync(dirname(store.path(name)), { recursive: true });
    renameSync(repo.path(`.git/${name}`), store.path(name));
    symlinkSync(store.path(name), repo.path(`.git/${name}`));
  }
}

describe('a git directory with links', () => {
  linked.each([
    [['objects', 'refs', 'logs', 'config', 'hooks', 'info', 'description']],
    [['refs/heads', 'objects/pack']],
    [['index', 'packed-refs']],
  ])('in place of %j is committed to, and keeps them', async (names) => {
    const repo = create();
    repo.git('pack-refs', '--all');
    linkParts(repo, ...names);
    const repository = open(repo.root);
    await put(repository, { 'm/a.md': '1' });
    repo.write('b', '1');
    repo.git('add', 'b');
    await put(repository, { 'm/b/c.md': '2' });
    repo.git('pack-refs', '--all');
    await put(repository, { 'm/b/d.md': '3' });
    expect(repo.status()).toEqual(['A  b']);
    expect(repo.git('log', '--format=%s', 'main').trim().split('\n')).toHaveLength(4);
    expect(repository.refs.list('refs/heads/')).toHaveLength(1);
    for (const name of names) {
      expect(lstatSync(repo.path(`.git/${name}`)).isSymbolicLink()).toBe(true);
    }
    expectClean(repo);
  });

  linked('that lead in circles below refs lists each branch', async () => {
    const repo = create();
    repo.git('branch', 'a/b');
    symlinkSync('.', repo.path('.git/refs/heads/self'));
    symlinkSync('../a', repo.path('.git/refs/heads/a/up'));
    const names = open(repo.root).refs.list('refs/heads/');
    expect(names.map(({ ref }) => ref)).toEqual(['refs/heads/a/b', 'refs/heads/main']);
  });

  const unborn = () => passing(new Repo());
  linked.each([
    ['HEAD moves the branch, as git does', create],
    ['the HEAD of an unborn branch begins the branch', unborn],
  ] as const)('in place of %s', async (_, make) => {
    const repo = make();
    if (make === unborn) repo.git('init', '-q', '-b', 'main');
    rmSync(repo.path('.git/HEAD'));
    symlinkSync('refs/heads/main', repo.path('.git/HEAD'));
    expect(repo.git('symbolic-ref', 'HEAD').trim()).toBe('refs/heads/main');
    const made = await put(open(repo.root), { 'm/a.md': '1' });
    expect(made?.ref).toBe('refs/heads/main');
    expect(repo.git('rev-parse', 'main').trim()).toBe(made?.oid);
    expect(readlinkSync(repo.path('.git/HEAD'))).toBe('refs/heads/main');
    expectClean(repo);
  });

  linked('to objects finds the alternates relative to their own folder', async () => {
    const other = create();
    const repo = passing(new Repo());
    repo.git('clone', '-q', '--shared', other.root, '.');
    linkParts(repo, 'objects');
    const objects = realpathSync(repo.path('.git/objects'));
    const path = relative(objects, other.path('.git/objects'));
    writeFileSync(join(objects, 'info/alternates'), `${path}\n`);
    expect(repo.git('log', '--format=%s').trim()).toBe('Begin');
    await put(open(repo.root), { 'm/a.md': '1' });
    expectClean(repo);
  });

  linked('is cleaned after a dead server also below a link', async () => {
    const repo = create();
    linkParts(repo, 'refs/heads', 'index');
    const files = new FaultFiles((_, operation) =>
      operation === 'rename' && /heads\/main$/.test(files.log.at(-1) ?? '')
        ? { kind: 'kill' }
        : undefined,
    );
    await expect(put(open(repo.root, { files }), { 'm/a.md': '1' })).rejects.toThrow();
    expect(existsSync(repo.path('.git/refs/heads/main.lock'))).toBe(true);
    bury(repo.root);
    await put(open(repo.root), { 'm/b.md': '2' });
    expect(repo.status()).toEqual([]);
    expectClean(repo);
  });
});

describe('files among the refs that are not refs', () => {
  const strays = {
    'refs/heads/.DS_Store': '\0\0',
    'refs/heads/desktop.ini': '[.ShellClassInfo]\n',
    'refs/heads/main 2': '',
    'refs/heads/empty': '',
    'refs/tags/junk': 'junk\n',
    'refs/remotes/origin/x': '',
    'refs/memory-bank/claims/desktop.ini': 'junk\n',
    'worktrees/.DS_Store': '\0',
    'worktrees/half/HEAD': '',
  };

  test('are left alone, as git does', async () => {
    const repo = create();
    repo.git('branch', 'side');
    for (const [path, text] of Object.entries(strays)) repo.write(`.git/${path}`, text);
    const repository = open(repo.root);
    await put(repository, { 'm/a.md': '1' });
    const oid = repo.git('rev-parse', 'side').trim();
    expect(repository.refs.list('refs/')).toEqual([
      { ref: 'refs/heads/main', oid: repo.git('rev-parse', 'main').trim() },
      { ref: 'refs/heads/side', oid },
    ]);
    expect(repository.refs.others()).toEqual([{ name: 'side', oid }]);
    expect(repo.git('branch', '--format=%(refname:short)').trim().split('\n')).toEqual([
      'main',
      'side',
    ]);
    for (const path of Object.keys(strays))
      expect(existsSync(repo.path(`.git/${path}`))).toBe(true);
  });

  test('in packed-refs are left alone', async () => {
    const repo = create();
    const oid = repo.git('rev-parse', 'main').trim();
    repo.write('.git/packed-refs', `${oid} refs/heads/bad name\n${oid} refs/heads/packed\n`);
    const names = open(repo.root)
      .refs.list('refs/')
      .map(({ ref }) => ref);
    expect(names).toEqual(['refs/heads/main', 'refs/heads/packed']);
    expect(repo.git('for-each-ref', '--format=%(refname)').trim().split('\n')).toEqual(names);
  });

  test('are refused by advice that works if one of them is the branch of HEAD', async () => {
    const repo = create();
    const oid = repo.git('rev-parse', 'main').trim();
    repo.write('.git/refs/heads/main', '');
    const error = await put(open(repo.root), { 'm/a.md': '1' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'damaged', text: expect.stringContaining('Delete that') });
    expect(() => repo.git('update-ref', 'refs/heads/main', oid)).toThrow();
    rmSync(error.data.path);
    repo.git('update-ref', 'refs/heads/main', oid);
    await put(open(repo.root), { 'm/a.md': '1' });
    expectClean(repo);
  });
});
