import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foldName } from '../../src/core/names/file-name.ts';
import type { Files, Stat } from '../../src/git/disk/file-layer.ts';
import { Folder } from '../../src/git/disk/folder.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { newFolder } from '../support/process.ts';
import type { Repo } from '../support/repo.ts';
import { slashed } from '../support/slashed.ts';
import { linked } from '../support/windows.ts';
import { create } from './create.ts';
import { expectClean, open, put } from './repository-at.ts';

/** The real disk, which ignores letter case and Unicode normal forms below a folder, as APFS does. */
class FoldingFiles extends NodeFiles {
  readonly #root: string;

  constructor(root: string) {
    super();
    this.#root = root;
  }

  override lstat(path: string): Stat | undefined {
    return super.lstat(this.#onDisk(path));
  }

  override lstatExact(path: string) {
    return super.lstatExact(this.#onDisk(path));
  }

  override realpath(path: string): string | undefined {
    return super.realpath(this.#onDisk(path));
  }

  override read(path: string, limit?: number): Buffer | undefined {
    return super.read(this.#onDisk(path), limit);
  }

  override rename(from: string, to: string): void {
    super.rename(this.#onDisk(from), this.#onDisk(to));
  }

  override unlink(path: string): void {
    super.unlink(this.#onDisk(path));
  }

  #onDisk(path: string): string {
    const root = `${slashed(this.#root)}/`;
    if (!slashed(path).startsWith(root)) return path;
    let found = this.#root;
    for (const name of slashed(path).slice(root.length).split('/')) {
      const names = super.list(found)?.map((entry) => entry.name) ?? [];
      found = join(found, names.find((one) => foldName(one) === foldName(name)) ?? name);
    }
    return found;
  }
}

const composed = 'caf\u00e9.md';
const decomposed = composed.normalize('NFD');

let base: string;
beforeEach(() => {
  base = newFolder();
});
afterEach(() => rmSync(base, { recursive: true }));

function folderWith(name: string, top = base): Folder {
  const root = join(top, 'memory');
  mkdirSync(join(root, 'notes'), { recursive: true });
  writeFileSync(join(root, 'notes', name), 'text');
  expect(readdirSync(join(root, 'notes'))).toEqual([name]);
  return new Folder(new FoldingFiles(root), root, 'darwin');
}

describe('on a disk that ignores differences of names', () => {
  test('a record has one spelling', () => {
    const folder = folderWith('Plan.md');
    expect(folder.stat('notes/Plan.md')?.kind).toBe('file');
    expect(folder.stat('notes/plan.md')).toBeUndefined();
    expect(folder.stat('Notes/Plan.md')).toBeUndefined();
  });

  test('a record whose name the disk has in normal form D is found by its form C', () => {
    const folder = folderWith(decomposed);
    expect(folder.stat(`notes/${composed}`)?.kind).toBe('file');
    expect(folder.stat(`notes/${decomposed}`)?.kind).toBe('file');
  });

  test('a record whose name it has in form C has no second spelling in form D', () => {
    const folder = folderWith(composed);
    expect(folder.stat(`notes/${composed}`)?.kind).toBe('file');
    expect(folder.stat(`notes/${decomposed}`)).toBeUndefined();
  });

  linked('a folder behind a link of the system, such as /var, is the same folder', () => {
    const linked = `${base}-linked`;
    symlinkSync(base, linked);
    try {
      expect(folderWith('plan.md', linked).stat('notes/plan.md')?.kind).toBe('file');
    } finally {
      rmSync(linked);
    }
  });
});

describe('a record that gets another letter case', () => {
  function rename(repo: Repo, files: Files) {
    return open(repo.root, { files }).commit(async () => ({
      message: 'rename\n',
      changes: [
        { path: 'm/plan.md', bytes: undefined, seen: Buffer.from('old\n') },
        { path: 'm/Plan.md', bytes: Buffer.from('new\n'), seen: undefined },
      ],
    }));
  }

  test('has its new name', async () => {
    const repo = create();
    await put(open(repo.root), { 'm/plan.md': 'old\n' });
    await rename(repo, new FoldingFiles(repo.path('m')));
    expect(readdirSync(repo.path('m'))).toEqual(['Plan.md']);
    expectClean(repo);
  });

  test('keeps its name if the change fails', async () => {
    const repo = create();
    await put(open(repo.root), { 'm/plan.md': 'old\n' });
    class Failing extends FoldingFiles {
      override replace(from: string, to: string): void {
        if (/(?:heads.main|tables\.list)$/.test(to))
          throw Object.assign(new Error('EIO'), { code: 'EIO' });
        super.replace(from, to);
      }
    }
    await expect(rename(repo, new Failing(repo.path('m')))).rejects.toThrow();
    expect(repo.read('m/plan.md')).toBe('old\n');
    expect(readdirSync(repo.path('m'))).toEqual(['plan.md']);
    expectClean(repo);
  });
});
