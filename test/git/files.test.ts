import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { mkdirSync, symlinkSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Stat } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { openPlain } from '../../src/git/disk/open-plain.ts';
import type { Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';
import { linked, piped } from '../support/windows.ts';
import { create } from './create.ts';

test.each(['lstat', 'lstatExact', 'read', 'load', 'list', 'realpath'] as const)(
  'what lies below a file is absent: %s',
  (look) => {
    const repo = create();
    const files = new NodeFiles();
    expect(files[look](repo.path('README.md/a'), 100)).toBeUndefined();
    expect(files[look](repo.path('README.md/a/b'), 100)).toBeUndefined();
  },
);

describe('a file whose stat and content are read with one open', () => {
  const files = new NodeFiles();
  let repo: Repo;
  beforeEach(() => {
    repo = create();
    repo.write('a.md', 'é\n');
  });

  test('has its stat and its bytes', () => {
    const path = repo.path('a.md');
    expect(files.load(path, 3)).toEqual({
      stat: files.lstat(path),
      bytes: Buffer.from([0xc3, 0xa9, 0x0a]),
    });
  });

  test('has no bytes if it is over the limit', () => {
    const path = repo.path('a.md');
    expect(files.load(path, 2)).toEqual({ stat: files.lstat(path) });
  });

  test('exists if it is empty', () => {
    repo.write('a.md', '');
    expect(files.load(repo.path('a.md'), 3)?.bytes).toEqual(Buffer.alloc(0));
  });

  test('is undefined if it does not exist', () => {
    expect(files.load(repo.path('b.md'), 3)).toBeUndefined();
  });

  function expectUnread(kind: Stat['kind']): void {
    const path = repo.path('b.md');
    expect(files.load(path, 100)).toEqual({ stat: files.lstat(path) });
    expect(files.lstat(path)?.kind).toBe(kind);
  }

  test('is not read if it is a folder', () => {
    mkdirSync(repo.path('b.md'));
    expectUnread('directory');
  });

  piped('is not read if it is a pipe', () => {
    execFileSync('mkfifo', [repo.path('b.md')]);
    expectUnread('other');
  });

  linked.each([
    ['a file', 'a.md'],
    ['itself', 'b.md'],
    ['nothing', 'c.md'],
  ])('is not read if it is a link to %s', (_, target) => {
    symlinkSync(target, repo.path('b.md'));
    expectUnread('link');
  });
});

describe('where the system cannot refuse a link, a file', () => {
  let repo: Repo;
  const open = (path: string, system?: Parameters<typeof openPlain>[2]) => {
    const fd = openPlain(repo.path(path), 0, system);
    if (fd === undefined) return undefined;
    const text = fs.readFileSync(fd, 'utf8');
    fs.closeSync(fd);
    return text;
  };
  beforeEach(() => {
    repo = create();
    repo.write('a.md', 'one');
    repo.write('secret', 'secret');
  });

  test('is opened, unless it is a folder or absent', () => {
    mkdirSync(repo.path('folder'));
    expect(open('a.md')).toBe('one');
    expect(open('folder')).toBeUndefined();
    expect(() => open('b.md')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  linked('is not opened if it is a link, or becomes one while it is opened', () => {
    symlinkSync('a.md', repo.path('link'));
    expect(open('link')).toBeUndefined();
    const openSync: typeof fs.openSync = (path, flags) => {
      fs.rmSync(path);
      symlinkSync('secret', path);
      return fs.openSync(path, flags);
    };
    expect(open('a.md', { ...fs, openSync })).toBeUndefined();
  });

  test('is opened again if another file replaces it meanwhile, within a bound', () => {
    let left = 1;
    const openSync: typeof fs.openSync = (path, flags) => {
      if (left-- > 0) {
        repo.write('new', 'two');
        fs.renameSync(repo.path('new'), path);
      }
      return fs.openSync(path, flags);
    };
    expect(open('a.md', { ...fs, openSync })).toBe('two');
    left = Number.POSITIVE_INFINITY;
    expect(() => open('a.md', { ...fs, openSync })).toThrow(/^EBUSY/);
  });
});

describe('a file that is read by path', () => {
  const files = new NodeFiles();

  linked('may be a link to a regular file', () => {
    const repo = create();
    repo.write('a.md', 'text');
    symlinkSync('a.md', repo.path('b.md'));
    expect(files.read(repo.path('b.md'), 4)?.toString()).toBe('text');
    expect(() => files.read(repo.path('b.md'), 3)).toThrow(
      expect.objectContaining({ code: 'EFBIG' }),
    );
  });

  function expectRefused(path: string, code: string): void {
    expect(() => files.read(path)).toThrow(expect.objectContaining({ code }));
  }

  test('is no folder', () => {
    const path = create().path('b.md');
    mkdirSync(path);
    expectRefused(path, 'EISDIR');
  });

  piped('is no pipe', () => {
    const path = create().path('b.md');
    execFileSync('mkfifo', [path]);
    expectRefused(path, 'EFTYPE');
  });

  linked('is no link to a device', () => {
    const path = create().path('b.md');
    symlinkSync('/dev/zero', path);
    expectRefused(path, 'EFTYPE');
  });
});

describe('a file where the memory folder should be', () => {
  test.each([
    ['activate_project', {}, { error: 'cannot_create_project_dir' }],
    [
      'write_memory_bank_file',
      { filename: 'a.md', content: 'a' },
      { error: { code: 'server_error' } },
    ],
    ['create_features', { features: [{ slug: 'a', name: 'A' }] }, { error: { type: 'db_error' } }],
  ])('is named by %s, and is kept', async (tool, args, body) => {
    const repo = create();
    repo.write('.memory-bank', 'mine');
    const served = new Served(repo);
    onTestFinished(() => served.close());
    const reply = await served.try(tool, args);
    expect(reply).toMatchObject({ error: 'cannot_create', body });
    expect(reply.text).toMatch(/\.memory-bank is a file where a folder should be.*out of the way/);
    expect(repo.read('.memory-bank')).toBe('mine');
    expect(repo.status()).toEqual(['?? .memory-bank']);
  });
});
