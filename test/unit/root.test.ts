import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  findRoot,
  type RootInput,
  type RootProbe,
  rootAt,
  startDirectory,
} from '../../src/app/session/root.ts';
import { linked } from '../support/windows.ts';

/** A file system of directories, some of which are the top of a work tree. */
function probe(directories: readonly string[], tops: readonly string[] = []): RootProbe {
  return {
    // As on Linux, also where an absolute path begins with a drive.
    directory: async (path) => directories.find((one) => resolve(one) === resolve(path)),
    workTree: async (path) =>
      [...tops]
        .sort((a, b) => b.length - a.length)
        .find((top) => path === top || path.startsWith(`${top}/`)),
  };
}

/** As on Linux, also where an absolute path begins with a drive. */
const uri = (path: string) => pathToFileURL(resolve(path)).href;

function input(given: Partial<RootInput> & { roots?: string[] } = {}): RootInput {
  const { roots = [], ...rest } = given;
  const base = { flag: undefined, env: {}, cwd: '/w/cwd', home: '/home/me' };
  return { ...base, clientRoots: async () => roots, ...rest };
}

const flat = probe([
  '/',
  '/w',
  '/w/cwd',
  '/w/flag',
  '/w/env',
  '/w/claude',
  '/w/client',
  '/home/me',
]);

describe('the order', () => {
  const all = {
    flag: '/w/flag',
    env: { MEMORY_BANK_ROOT: '/w/env', CLAUDE_PROJECT_DIR: '/w/claude' },
    roots: [uri('/w/client')],
  };

  test.each([
    ['--root', '/w/flag', all],
    ['MEMORY_BANK_ROOT', '/w/env', { ...all, flag: undefined }],
    [
      'CLAUDE_PROJECT_DIR',
      '/w/claude',
      { env: { CLAUDE_PROJECT_DIR: '/w/claude' }, roots: all.roots },
    ],
    ['client', '/w/client', { roots: all.roots }],
    ['cwd', '/w/cwd', {}],
  ])('%s', async (source, path, given) => {
    expect(await findRoot(input(given), flat)).toEqual({ source, path });
  });

  test('the client is not asked when something before it is set', async () => {
    const clientRoots = () => Promise.reject(new Error('asked'));
    const found = await findRoot({ ...input({ flag: '/w/flag' }), clientRoots }, flat);
    expect(found.path).toBe('/w/flag');
  });

  test.each(['', '  ', '${' + 'workspaceFolder}', '${' + 'env:PROJECT}/x'])(
    '%j counts as unset',
    async (value) => {
      const env = { MEMORY_BANK_ROOT: value, CLAUDE_PROJECT_DIR: value };
      expect((await findRoot(input({ flag: value, env }), flat)).source).toBe('cwd');
    },
  );

  test('relative paths start where the program was started', async () => {
    expect((await findRoot(input({ flag: '../flag' }), flat)).path).toBe('/w/flag');
    expect((await findRoot(input({ env: { MEMORY_BANK_ROOT: '.' } }), flat)).path).toBe('/w/cwd');
  });

  test('of several roots of the client, the current one is served, with the others named', async () => {
    const roots = [uri('/w/client'), uri('/w/env')];
    expect(await findRoot(input({ roots, cwd: '/w/env' }), flat)).toEqual({
      source: 'cwd',
      path: '/w/env',
      others: ['/w/client'],
    });
    const elsewhere = findRoot(input({ roots, tool: 'choose_folder' }), flat);
    await expect(elsewhere).rejects.toMatchObject({
      code: 'no_project',
      message: 'The client has several projects open: /w/client, /w/env.',
      hint: expect.stringMatching(/^Call choose_folder with the path .* --root/),
    });
    const gone = [uri('/w/gone'), uri('/w/gone2')];
    expect((await findRoot(input({ roots: gone }), flat)).source).toBe('cwd');
  });

  test('roots that are not folders leave it to the current one', async () => {
    expect((await findRoot(input({ roots: ['https://example.com/w'] }), flat)).source).toBe('cwd');
    const mixed = ['https://example.com/w', uri('/w/client')];
    expect((await findRoot(input({ roots: mixed }), flat)).source).toBe('client');
  });
});

test.each([
  ['file:///c%3A/code/my%20shop', 'c:\\code\\my shop'],
  ['file:///D:/code/shop', 'D:\\code\\shop'],
  ['file://server/share/shop', '\\\\server\\share\\shop'],
  ['file://wsl%24/Ubuntu/home/ada/shop', '\\\\wsl$\\Ubuntu\\home\\ada\\shop'],
  ['file://wsl.localhost/Ubuntu/shop', '\\\\wsl.localhost\\Ubuntu\\shop'],
])('a client of Windows gives %s', async (given, path) => {
  const asked = input({ roots: [given], platform: 'win32', home: 'C:\\Users\\ada' });
  expect(await findRoot(asked, probe([path]))).toEqual({ source: 'client', path });
});

describe('the search upwards', () => {
  const tree = probe(
    [
      '/w',
      '/w/.memory-bank',
      '/w/repo',
      '/w/repo/a',
      '/w/repo/a/.memory-bank',
      '/w/repo/a/b',
      '/w/repo/c',
    ],
    ['/w/repo'],
  );

  test('finds the nearest bank inside the work tree', async () => {
    expect((await findRoot(input({ cwd: '/w/repo/a/b' }), tree)).path).toBe('/w/repo/a');
    expect((await findRoot(input({ roots: [uri('/w/repo/a')] }), tree)).path).toBe('/w/repo/a');
  });

  test('stops at the top of the work tree', async () => {
    expect((await findRoot(input({ cwd: '/w/repo/c' }), tree)).path).toBe('/w/repo');
  });

  test('of several folders of one work tree finds its one memory', async () => {
    const roots = [uri('/w/repo/a'), uri('/w/repo/a/b')];
    expect(await findRoot(input({ roots, cwd: '/' }), tree)).toEqual({
      source: 'client',
      path: '/w/repo/a',
    });
  });

  test('does not begin outside any work tree', async () => {
    const plain = probe(['/w', '/w/.memory-bank', '/w/cwd']);
    expect((await findRoot(input(), plain)).path).toBe('/w/cwd');
  });

  test('does not begin from a root that was given', async () => {
    expect((await findRoot(input({ flag: '/w/repo/c' }), tree)).path).toBe('/w/repo/c');
    const env = { MEMORY_BANK_ROOT: '/w/repo/a/b' };
    expect((await findRoot(input({ env }), tree)).path).toBe('/w/repo/a/b');
  });

  test('a given root may be the bank itself', async () => {
    expect((await findRoot(input({ flag: '/w/repo/a/.memory-bank' }), tree)).path).toBe(
      '/w/repo/a',
    );
  });
});

describe('what is refused', () => {
  test.each([
    ['/', { cwd: '/' }],
    ['the home directory', { cwd: '/home/me' }],
    ['the home directory that was given', { flag: '/home/me' }],
    ['the root that the client gave', { roots: [uri('/')] }],
    ['a folder that is not there', { flag: '/nowhere' }],
  ])('%s', async (_, given) => {
    await expect(findRoot(input(given), flat)).rejects.toMatchObject({
      code: 'no_project',
      hint: expect.stringContaining('--root'),
    });
  });

  test.each([
    ['of Windows itself', '/windows'],
    ['in which clients of Windows start programs', '/windows/system32'],
  ])('the folder %s, also if it is named', async (_, path) => {
    const disk = probe(['/windows', '/windows/system32', '/windows-tools']);
    const given = { env: { SYSTEMROOT: '/windows' }, platform: 'win32' } as const;
    for (const choice of [{ cwd: path }, { flag: path }]) {
      await expect(findRoot(input({ ...given, ...choice }), disk)).rejects.toMatchObject({
        code: 'no_project',
        message: expect.stringContaining('the folder of Windows'),
        hint: expect.stringMatching(/cmd\.exe.*--root/),
      });
    }
    const other = { ...given, cwd: '/windows-tools' };
    expect((await findRoot(input(other), disk)).path).toBe('/windows-tools');
    const elsewhere = { cwd: path, env: given.env, platform: 'linux' } as const;
    expect((await findRoot(input(elsewhere), disk)).path).toBe(path);
  });

  test('the home directory as the top of a work tree', async () => {
    const dotfiles = probe(['/home/me', '/home/me/notes'], ['/home/me']);
    await expect(findRoot(input({ cwd: '/home/me/notes' }), dotfiles)).rejects.toMatchObject({
      code: 'no_project',
    });
  });
});

describe('on disk', () => {
  linked('links are followed, spaces and escapes in a URI decoded, a file is no root', async () => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), 'root-')));
    const folder = join(top, 'a b%20c');
    for (const part of ['objects', 'refs'])
      mkdirSync(join(folder, '.git', part), { recursive: true });
    writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    mkdirSync(join(folder, 'deep', 'er'), { recursive: true });
    symlinkSync(folder, join(top, 'link'));
    writeFileSync(join(top, 'file'), '');
    const roots = [pathToFileURL(join(folder, 'deep', 'er')).href];
    expect(roots[0]).toContain('a%20b%2520c');
    expect((await findRoot(input({ roots }))).path).toBe(folder);
    expect((await findRoot(input({ flag: join(top, 'link') }))).path).toBe(folder);
    await expect(findRoot(input({ flag: join(top, 'file') }))).rejects.toMatchObject({
      code: 'no_project',
    });
  });
});

describe('where a caller may point', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'reach-')));
  const project = join(top, 'project');
  mkdirSync(join(project, '.git', 'hooks'), { recursive: true });
  mkdirSync(join(project, '.memory-bank', 'graph'), { recursive: true });
  mkdirSync(join(top, 'project-2'));
  symlinkSync(join(top, 'project-2'), join(project, 'link'));
  symlinkSync(project, join(top, 'alias'));
  writeFileSync(join(project, 'file'), '');
  const at = (path: string, within?: string[], create = false) =>
    rootAt(join(top, path), { home: '/home/me', within }, create);

  test('anywhere without a limit, and what is not there can be made', async () => {
    expect(await at('project-2')).toBe(join(top, 'project-2'));
    expect(await at('project/new/deep', undefined, true)).toBe(join(project, 'new/deep'));
    await expect(at('nowhere')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(at('project/file')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(at('project/file/x', undefined, true)).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test.each(['project/.git', 'project/.git/hooks', 'project/.GIT/x', 'project/.memory-bank/graph'])(
    'not inside of %s',
    async (path) => {
      await expect(at(path, undefined, true)).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );

  linked('within a limit only there, whatever a link says', async () => {
    expect(await at('alias/new/deep', undefined, true)).toBe(join(project, 'new/deep'));
    const within = [join(top, 'alias')];
    expect(await at('project', within)).toBe(project);
    expect(await at('project/.memory-bank', within)).toBe(project);
    expect(await at('project/a/b', within, true)).toBe(join(project, 'a/b'));
    for (const path of ['.', 'project-2', 'project/link', 'project/link/new', 'nowhere/x']) {
      await expect(at(path, within, true), path).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(existsSync(join(top, 'nowhere'))).toBe(false);
    expect(await at('project-2', ['/'])).toBe(join(top, 'project-2'));
    await expect(at('project', [])).rejects.toMatchObject({ code: 'forbidden' });
  });
});

test('npm start serves the folder in which npm was called, a stale INIT_CWD serves nothing', () => {
  const env = { INIT_CWD: '/w/called', npm_package_json: join('/opt/memory-bank/package.json') };
  expect(startDirectory(env, '/opt/memory-bank', '/opt/memory-bank')).toBe('/w/called');
  expect(startDirectory(env, '/w/cwd', '/opt/memory-bank')).toBe('/w/cwd');
  expect(startDirectory(env, '/opt/other', '/opt/other')).toBe('/opt/other');
  const bare = { INIT_CWD: '/w/called' };
  expect(startDirectory(bare, '/opt/memory-bank', '/opt/memory-bank')).toBe('/opt/memory-bank');
});
