import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { MemoryPin } from '../../src/core/memory/pinned-memories.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { damagedForms } from '../support/damaged-file.ts';
import { deep } from '../support/depth.ts';
import { letter, note as plainNote } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** The number of decoded records: each one that is indexed is decoded first. */
let decoded = 0;
const note = {
  ...plainNote,
  codec: {
    ...plainNote.codec,
    decode(text: string, path: string) {
      decoded += 1;
      return plainNote.codec.decode(text, path);
    },
  },
};

const count = 40;
const plants = ['alder', 'birch', 'cedar', 'damson', 'elm', 'fir', 'gorse', 'hazel'];

/** A repository whose commits have notes; the first one has a text that the second one lacks. */
function project(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  for (let i = 0; i < count; i++) {
    const text = `${plants[i % plants.length]} number ${i}. ${'text '.repeat(60)}`;
    repo.write(`.memory-bank/notes/f${i % 3}/n${i}.yaml`, `key: n${i}\ntags: []\ntext: ${text}\n`);
  }
  repo.write('.memory-bank/letters/one.md', '---\nid: one\ntitle: Birch\n---\nA birch.\n');
  repo.write('.memory-bank/notes/bad.yaml', 'key: [');
  repo.write('.memory-bank/notes/own.yaml', 'key: own\ntags: []\ntext: medlar\n');
  commit(repo);
  repo.write('.memory-bank/notes/own.yaml', 'key: own\ntags: []\ntext: quince\n');
  commit(repo);
  return repo;
}

function commit(repo: Repo): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'By hand');
}

async function serve(repo: Repo, files = new NodeFiles()): Promise<Opened> {
  const opened = await open(repo.root, [note, letter], { files, leastSaved: 0 });
  cleanUp.push(() => opened.workspace.close());
  return opened;
}

const queries = ['birch', 'cedr number 10', 'gor', 'nowhere', '"text ', 'quince', 'medlar'];

/** Searches a commit, and lists what cannot be read. */
async function search({ call }: Opened, revision = 'HEAD'): Promise<unknown> {
  const snapshot = await call.history.at(revision);
  const found = [];
  for (const query of queries) {
    const { hits, total, damaged } = await snapshot.search({ query });
    found.push({ hits, total, damaged: damaged.map(({ path }) => path) });
  }
  return found;
}

/** Searches in one process, which saves the index at its end; returns the answers. */
async function save(repo: Repo, revision?: string): Promise<unknown> {
  const opened = await serve(repo);
  const found = await search(opened, revision);
  await opened.workspace.close();
  return found;
}

function savedFiles(repo: Repo): string[] {
  const folder = repo.path('.git/memory-bank');
  const names = readdirSync(folder).filter((name) => name.startsWith('records-tree-'));
  return names.sort().map((name) => join(folder, name));
}

function savedFile(repo: Repo): string {
  const [path, ...others] = savedFiles(repo);
  expect(others).toEqual([]);
  return path ?? '';
}

describe('a search of a commit', () => {
  test('is answered from what an earlier process has indexed', async () => {
    const repo = project();
    const expected = await save(repo);
    const opened = await serve(repo);
    decoded = 0;
    expect(await search(opened)).toEqual(expected);
    // The damaged one is read again.
    expect(decoded).toBeLessThanOrEqual(1);
    const tree = repo.git('rev-parse', 'HEAD:.memory-bank').trim();
    expect(savedFile(repo)).toContain(`records-tree-${tree}.index`);
    // The index of one commit says nothing about another one.
    decoded = 0;
    const past = await search(opened, 'HEAD~1');
    expect(past).not.toEqual(expected);
    expect(decoded).toBeGreaterThan(count);
    await opened.workspace.close();
    expect(savedFiles(repo)).toHaveLength(2);
    expect(await search(await serve(repo), 'HEAD~1')).toEqual(past);
  });

  deep('is saved once, soon after it, and not again by the next process', async () => {
    const repo = project();
    const opened = await serve(repo);
    const expected = await search(opened);
    await expect
      .poll(() => existsSync(repo.path('.git/memory-bank')) && savedFiles(repo))
      .toHaveLength(1);
    const { ino } = statSync(savedFile(repo));
    const others = [await serve(repo), await serve(repo)];
    for (const other of others) expect(await search(other)).toEqual(expected);
    for (const one of [opened, ...others]) await one.workspace.close();
    expect(statSync(savedFile(repo)).ino).toBe(ino);
  });

  test('by two processes at once saves one file that both could use', async () => {
    const repo = project();
    const both = [await serve(repo), await serve(repo)];
    const [one, other] = await Promise.all(both.map((opened) => search(opened)));
    expect(one).toEqual(other);
    await Promise.all(both.map(({ workspace }) => workspace.close()));
    decoded = 0;
    expect(await search(await serve(repo))).toEqual(one);
    expect(decoded).toBeLessThanOrEqual(1);
  });
});

test('a pinned memory is searched with what an earlier process has indexed', async () => {
  const others = project();
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  const first = await serve(repo);
  await first.call.store.change({ subject: 'put own' }, (draft) =>
    draft.put(note, { key: 'own', tags: [], text: 'ours' }),
  );
  const wanted: MemoryPin = { name: 'team', path: others.root, commit: '' };
  const { before, pin } = await first.call.memories.preview(wanted);
  await first.call.memories.pin('team', before, pin);
  const find = async ({ call }: Opened) => {
    const found = [];
    // The settings are read with the first look at the disk.
    await call.store.search({ query: 'ours' });
    for (const query of queries) found.push(await call.memories.search({ query }));
    return found;
  };
  const expected = await find(first);
  expect(expected[0]?.map(({ path }) => path)).toContain('team:letters/one.md');
  await first.workspace.close();
  expect(savedFile(repo)).toContain(others.git('rev-parse', 'HEAD:.memory-bank').trim());
  const second = await serve(repo);
  decoded = 0;
  expect(await find(second)).toEqual(expected);
  expect(decoded).toBeLessThanOrEqual(1);
});

describe('the saved index of a commit costs speed, and never an answer, if it', () => {
  async function expectSame(repo: Repo, expected: unknown, files?: NodeFiles): Promise<void> {
    const opened = await serve(repo, files);
    expect(await search(opened)).toEqual(expected);
    await opened.workspace.close();
    cleanUp.pop();
  }

  deep('is cut or has other bytes, and is then replaced', async () => {
    const repo = project();
    const expected = await save(repo);
    const path = savedFile(repo);
    for (const bad of damagedForms(readFileSync(path))) {
      writeFileSync(path, bad);
      await expectSame(repo, expected);
    }
    decoded = 0;
    await expectSame(repo, expected);
    expect(decoded).toBeLessThanOrEqual(1);
  });

  deep('is that of another version, or of another tree', async () => {
    const repo = project();
    const expected = await save(repo);
    const path = savedFile(repo);
    const other = readFileSync(path);
    other.write('another version', 4);
    writeFileSync(path, other);
    await expectSame(repo, expected);
    rmSync(path);
    await save(repo, 'HEAD~1');
    renameSync(savedFile(repo), path);
    await expectSame(repo, expected);
  });

  deep('is a folder, or cannot be written', async () => {
    const repo = project();
    const expected = await save(repo);
    const path = savedFile(repo);
    rmSync(path);
    mkdirSync(path);
    await expectSame(repo, expected);
    rmSync(path, { recursive: true });
    for (const code of ['ENOSPC', 'EROFS', 'EACCES']) {
      await expectSame(repo, expected, new RefusingFiles(code));
      expect(savedFiles(repo)).toEqual([]);
    }
    await expectSame(repo, expected);
    // The last use is not noted, either.
    await expectSame(repo, expected, new RefusingFiles('EROFS'));
    expect(savedFiles(repo)).toEqual([path]);
  });
});

/** A disk that lets no file of a tree be written. */
class RefusingFiles extends NodeFiles {
  readonly #code: string;

  constructor(code: string) {
    super();
    this.#code = code;
  }

  override open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number {
    if (flags !== 'r' && path.includes('records-tree-')) {
      throw Object.assign(new Error(`${this.#code}: ${path}`), { code: this.#code, path });
    }
    return super.open(path, flags, mode);
  }
}

describe('files of trees are removed', () => {
  const day = 24 * 60 * 60;
  /** Makes a file as that of another tree, which was used some days ago. */
  function addFile(repo: Repo, digit: string, days: number, megabytes: number, more = ''): string {
    const path = repo.path(`.git/memory-bank/records-tree-${digit.repeat(40)}.index${more}`);
    writeFileSync(path, '');
    truncateSync(path, megabytes * 1024 * 1024);
    const time = Date.now() / 1000 - days * day;
    utimesSync(path, time, time);
    return path;
  }

  test('beyond the limit of all of them, those that were used longest ago first', async () => {
    const repo = project();
    await save(repo);
    const own = savedFile(repo);
    const [oldest, old] = [addFile(repo, 'a', 3, 20), addFile(repo, 'b', 2, 30)];
    const [recent, abandoned] = [addFile(repo, 'c', 1, 30), addFile(repo, 'd', 31, 1)];
    const [left, fresh] = [
      addFile(repo, 'e', 1, 1, '.x1.tmp'),
      addFile(repo, 'f', 0, 1, '.x2.tmp'),
    ];
    // It was saved long ago, and is used now.
    utimesSync(own, 1_700_000_000, 1_700_000_000);
    const opened = await serve(repo);
    await search(opened);
    expect(statSync(own).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
    await search(opened, 'HEAD~1');
    await opened.workspace.close();
    expect([own, recent, old, fresh].filter((path) => !existsSync(path))).toEqual([]);
    expect([oldest, abandoned, left].filter((path) => existsSync(path))).toEqual([]);
  });
});
