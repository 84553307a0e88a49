import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import type { LoadedFile, Stat } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { recordSections } from '../../src/store/records/saved-layout.ts';
import { damagedForms } from '../support/damaged-file.ts';
import { deep, sample } from '../support/depth.ts';
import { letter, type Note, note as plainNote } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { seeded } from '../support/seeded.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** Counts the record files that are read, and the stats of them that are compared. */
class CountedFiles extends NodeFiles {
  reads = 0;
  compared = 0;

  override hasStat(path: string, stat: Stat): boolean {
    if (/\/notes\//.test(path)) this.compared += 1;
    return super.hasStat(path, stat);
  }

  override firstChanged(...args: Parameters<NodeFiles['firstChanged']>): number {
    const [, paths, , start, end] = args;
    const changed = super.firstChanged(...args);
    const seen = paths.slice(start, Math.min(changed + 1, end));
    this.compared += seen.filter((path) => path.startsWith('notes/')).length;
    return changed;
  }

  override read(path: string, limit?: number): Buffer | undefined {
    if (/\/notes\//.test(path)) this.reads += 1;
    return super.read(path, limit);
  }

  override load(path: string, limit: number): LoadedFile | undefined {
    if (/\/notes\//.test(path)) this.reads += 1;
    return super.load(path, limit);
  }
}

/** A note that was created in the year 2000 plus the length of its text. */
const note = {
  ...plainNote,
  created: ({ text }: Note) => `${2000 + text.length}-01-01T00:00:00Z`,
};

const count = 120;
const plants = ['alder', 'birch', 'cedar', 'damson', 'elm', 'fir', 'gorse', 'hazel'];

function plant(i: number): string {
  return plants[i % plants.length] ?? '';
}

/** A project with notes that were last changed a minute ago. */
function project(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  for (let i = 0; i < count; i++)
    writeNote(repo, i, `${plant(i)} number ${i}. ${'text '.repeat(60)}`);
  return repo;
}

function writeNote(repo: Repo, i: number, text: string): void {
  const folder = repo.path(`.memory-bank/notes/f${i % 7}`);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `n${i}.yaml`);
  writeFileSync(path, `key: n${i}\ntags: []\ntext: ${text}\n`);
  const time = Date.now() / 1000 - 60 - i;
  utimesSync(path, time, time);
}

async function serve(repo: Repo, files = new CountedFiles()) {
  const opened = await open(repo.root, [note, letter], { files, leastSaved: 0 });
  cleanUp.push(() => opened.workspace.close());
  return { opened, files };
}

const keysOf = async ({ call }: Opened, query: string) =>
  (await call.store.search({ query, limit: 50 })).hits.map(({ key }) => key);

async function answers(opened: Opened): Promise<unknown> {
  const { store } = opened.call;
  const found = [];
  for (const query of ['birch', 'cedr number 10', 'gor', 'nowhere', '"text ']) {
    found.push(await store.search({ query }));
  }
  return { found, keys: await store.keys(note), list: await store.list(note) };
}

/** Opens the project once, so that there is a file for the next process; returns its answers. */
async function save(repo: Repo): Promise<unknown> {
  const { opened } = await serve(repo);
  const expected = await answers(opened);
  await opened.workspace.close();
  return expected;
}

function fileOf(repo: Repo): string {
  const folder = repo.path('.git/memory-bank');
  const [name = ''] = readdirSync(folder).filter((name) => name.endsWith('.index'));
  return join(folder, name);
}

test('metadata that a person wrote is found, also after a change of the record and by the next process', async () => {
  const repo = project();
  const path = join(repo.path('.memory-bank/notes/f3'), 'n3.yaml');
  const keys = 'owner: Zenobia\nlabels:\n  - kiwifruit\n  - {team: Quartz}\nclaim: hypothesis\n';
  writeFileSync(path, `${readFileSync(path, 'utf8')}${keys}`);
  const words = ['Zenobia', 'kiwifruit', 'Quartz'];
  const { opened } = await serve(repo);
  const [first] = (await opened.call.store.search({ query: 'kiwifruit' })).hits;
  expect(first?.snippet).toContain('number 3');
  expect(JSON.stringify([first?.snippet, first?.reason, first?.value])).not.toContain('kiwi');
  await opened.call.store.change({ subject: 'x' }, (transaction) =>
    transaction.put(note, { key: 'n3', tags: [], text: `number 3 is ${'new '.repeat(60)}` }),
  );
  for (const query of words) expect(await keysOf(opened, query)).toEqual(['n3']);
  expect((await keysOf(opened, 'labels Quartz'))[0]).toBe('n3');
  await opened.workspace.close();

  const { opened: next, files } = await serve(repo);
  for (const query of words) expect(await keysOf(next, query)).toEqual(['n3']);
  // Only what was changed is read again.
  expect(files.reads).toBeLessThan(count / 10);
  writeFileSync(path, readFileSync(path, 'utf8').replace('Zenobia', 'Berengar'));
  expect(await keysOf(next, 'Zenobia')).toEqual([]);
  expect(await keysOf(next, 'Berengar')).toEqual(['n3']);
});

describe('the index of an earlier process', () => {
  test('has the words of a small memory whose records have few words in common', async () => {
    const repo = project();
    for (let i = 0; i < count; i++) {
      const words = Array.from({ length: 20 }, (_, at) => `word${(i * 20 + at).toString(36)}x`);
      writeNote(repo, i, `${plant(i)} ${words.join(' ')}`);
    }
    await save(repo);
    const { opened, files } = await serve(repo);
    expect((await keysOf(opened, `word${(7 * 20).toString(36)}x`))[0]).toBe('n7');
    expect(files.reads).toBeLessThan(count / 2);
  });

  // The texts of hits are read, because they may name code.
  test('answers a search and a list without reading other record files', async () => {
    const repo = project();
    const expected = await save(repo);
    const { opened, files } = await serve(repo);
    expect(await answers(opened)).toEqual(expected);
    expect(files.reads).toBeLessThan(count / 2);
  });

  test('lists the keys, the oldest first, without reading a file', async () => {
    const repo = project();
    writeNote(repo, 3, 'x'.repeat(3000));
    const folder = repo.path('.memory-bank/notes');
    writeFileSync(join(folder, 'n4-again.yaml'), 'key: n4\ntags: []\ntext: a copy\n');
    writeFileSync(join(folder, 'broken.yaml'), 'key: [');
    for (const name of ['n4-again.yaml', 'broken.yaml']) utimesSync(join(folder, name), 1e9, 1e9);
    await save(repo);
    const { opened, files } = await serve(repo);
    const { keys, damaged } = await opened.call.store.keys(note);
    // The damaged file is read again.
    expect(files.reads).toBeLessThanOrEqual(1);
    const list = await opened.call.store.list(note);
    const byAge = list.records.toSorted(
      (a, b) => a.value.text.length - b.value.text.length || (a.key < b.key ? -1 : 1),
    );
    expect(keys).toEqual(byAge.map(({ key }) => key));
    expect(keys.at(-1)).toBe('n3');
    expect(damaged).toEqual(list.damaged);
    expect(damaged.map(({ path }) => path)).toEqual(['notes/broken.yaml', 'notes/n4-again.yaml']);
    // Changed in place, which no folder shows.
    writeNote(repo, 3, 'x');
    expect((await opened.call.store.keys(note)).keys[0]).toBe('n3');
  });

  test('is not needed to read one record, with the reasons against it', async () => {
    const repo = project();
    const path = '.memory-bank/notes/own.yaml';
    repo.write(path, 'key: own\ntags: []\ntext: sorrel\n');
    utimesSync(repo.path(path), 1_700_000_000, 1_700_000_000);
    await save(repo);
    const { opened, files } = await serve(repo);
    const found = await opened.call.store.get(note, 'own');
    expect(await opened.call.store.cautions([found?.path ?? ''])).toEqual(new Map());
    expect(files.compared).toBe(0);
    await answers(opened);
    expect(files.compared).toBeGreaterThanOrEqual(count);
  });

  test('is compared with each file once, also in folders that have to be listed again', async () => {
    const repo = project();
    await save(repo);
    writeNote(repo, count, 'quince');
    const { opened, files } = await serve(repo);
    expect(await keysOf(opened, 'quince')).toEqual([`n${count}`]);
    expect(files.compared).toBe(count);
  });

  test('is updated by reading only what has changed since', async () => {
    const repo = project();
    await save(repo);
    writeNote(repo, 3, 'quince');
    rmSync(repo.path('.memory-bank/notes/f4/n4.yaml'));
    writeNote(repo, count, 'quince');
    const { opened, files } = await serve(repo);
    expect((await keysOf(opened, 'quince')).sort()).toEqual([`n${count}`, 'n3']);
    expect(await keysOf(opened, 'damson')).not.toContain('n3');
    expect((await opened.call.store.list(note)).records).toHaveLength(count);
    expect(files.reads).toBeLessThan(count / 4);
  });

  test('does not hide what was read before its first search', async () => {
    const repo = project();
    const path = '.memory-bank/notes/own.yaml';
    repo.write(path, 'key: own\ntags: []\ntext: sorrel\n');
    utimesSync(repo.path(path), 1_700_000_000, 1_700_000_000);
    await save(repo);
    repo.write(path, 'key: own\ntags: []\ntext: medlar\n');
    utimesSync(repo.path(path), 1_700_000_001, 1_700_000_001);
    const { opened } = await serve(repo);
    expect((await opened.call.store.get(note, 'own'))?.value.text).toBe('medlar');
    expect(await keysOf(opened, 'medlar')).toEqual(['own']);
    expect(await keysOf(opened, 'sorrel')).toEqual([]);
  });

  test('knows which files have the same key, also one that is added later', async () => {
    const repo = project();
    const addTwin = (i: number) => {
      const path = `.memory-bank/notes/g/twin${i}.yaml`;
      repo.write(path, `key: n${i}\ntags: []\ntext: quince\n`);
      utimesSync(repo.path(path), 1_700_000_000, 1_700_000_000);
    };
    addTwin(5);
    const shadowed = async ({ call }: Opened) =>
      (await call.store.list(note, { under: 'g' })).damaged.map(({ path }) => path).sort();
    const expected = await save(repo);
    const { opened } = await serve(repo);
    expect(await shadowed(opened)).toEqual(['notes/g/twin5.yaml']);
    expect(await keysOf(opened, 'quince')).toEqual([]);
    expect(await answers(opened)).toEqual(expected);
    await opened.workspace.close();
    addTwin(6);
    const { opened: next } = await serve(repo);
    expect(await shadowed(next)).toEqual(['notes/g/twin5.yaml', 'notes/g/twin6.yaml']);
    rmSync(repo.path('.memory-bank/notes/f6/n6.yaml'));
    expect(await shadowed(next)).toEqual(['notes/g/twin5.yaml']);
    expect(await keysOf(next, 'quince')).toEqual(['n6']);
  });

  deep('may be deleted and replaced while servers use it', async () => {
    const repo = project();
    const expected = await save(repo);
    const [first, second] = [await serve(repo), await serve(repo)];
    expect(await answers(first.opened)).toEqual(expected);
    rmSync(fileOf(repo));
    expect(await answers(second.opened)).toEqual(expected);
    for (let i = 0; i < count; i++)
      writeNote(repo, i, `${plant(i + 1)} of ${i}. ${'word '.repeat(60)}`);
    const changed = await answers(first.opened);
    await first.opened.workspace.close();
    expect(await answers(second.opened)).toEqual(changed);
    const third = await serve(repo);
    expect(await answers(third.opened)).toEqual(changed);
  });

  test('is not larger than one and a half times the files', async () => {
    const repo = project();
    await save(repo);
    let size = 0;
    for (let i = 0; i < count; i++) {
      const file = statSync(repo.path(`.memory-bank/notes/f${i % 7}/n${i}.yaml`));
      size += file.size;
    }
    expect(statSync(fileOf(repo)).size).toBeLessThanOrEqual(1.5 * size);
  });

  test('has the index of the search also where the records are short', async () => {
    const repo = project();
    for (let i = 0; i < count; i++) writeNote(repo, i, `${plant(i)} number ${i}`);
    const expected = await save(repo);
    const sections = readFileSync(fileOf(repo)).readUInt32LE(24);
    expect(sections).toBeGreaterThan(recordSections);
    expect(statSync(fileOf(repo)).size).toBeLessThanOrEqual(1.5 * 256 * count);
    const { opened, files } = await serve(repo);
    // The values are left out, so only those of the hits are read.
    expect(await keysOf(opened, 'birch')).not.toEqual([]);
    expect(files.reads).toBeGreaterThan(0);
    expect(files.reads).toBeLessThan(count / 2);
    expect(await answers(opened)).toEqual(expected);
  });

  test('has no index of the search where it would be larger than that', async () => {
    const repo = Repo.create();
    cleanUp.push(() => repo.remove());
    const words = Array.from({ length: 10_000 }, (_, at) => (at + 36 * 36).toString(36));
    writeNote(repo, 1, words.join(' '));
    await save(repo);
    const sections = readFileSync(fileOf(repo)).readUInt32LE(24);
    expect(sections).toBe(recordSections);
  });
});

/** Sets the checksums of the header and of one section of a file to what its content needs. */
function sign(file: Buffer, index: number): void {
  const at = 32 + 12 * index;
  const offset = file.readUInt32LE(at);
  const section = file.subarray(offset, offset + file.readUInt32LE(at + 4));
  file.writeUInt32LE(crc32(section), at + 8);
  file.writeUInt32LE(crc32(file.subarray(32, 32 + 12 * file.readUInt32LE(24))), 28);
}

describe('a damaged file', () => {
  async function expectRebuilt(repo: Repo, expected: unknown): Promise<void> {
    const { opened } = await serve(repo);
    expect(await answers(opened)).toEqual(expected);
    await opened.workspace.close();
    cleanUp.pop();
  }

  test('that is cut or has other bytes counts as missing', async () => {
    const repo = project();
    const expected = await save(repo);
    const path = fileOf(repo);
    for (const bad of damagedForms(readFileSync(path))) {
      writeFileSync(path, bad);
      await expectRebuilt(repo, expected);
    }
    const { files, opened } = await serve(repo);
    await answers(opened);
    expect(files.reads).toBeLessThan(count / 2);
  });

  deep('that another version has written counts as missing, and is replaced', async () => {
    const repo = project();
    const expected = await save(repo);
    const path = fileOf(repo);
    const good = readFileSync(path);
    const other = Buffer.from(good);
    // The hash of the format, the build and the record types.
    other.write('another version', 4);
    writeFileSync(path, other);
    await expectRebuilt(repo, expected);
    expect(readFileSync(path).subarray(0, 24)).toEqual(good.subarray(0, 24));
  });

  test('that names a path outside its folder counts as missing', async () => {
    const repo = project();
    const expected = await save(repo);
    const path = fileOf(repo);
    const bad = readFileSync(path);
    for (let at = bad.indexOf('/f1'); at >= 0; at = bad.indexOf('/f1')) bad.write('/..', at);
    for (const section of [0, 1]) sign(bad, section);
    writeFileSync(path, bad);
    repo.write('.memory-bank/n1.yaml', 'key: out\ntags: []\ntext: outside\n');
    await expectRebuilt(repo, expected);
  });

  deep('of any content with right checksums is read within bounds', async () => {
    const repo = project();
    await save(repo);
    const path = fileOf(repo);
    const good = readFileSync(path);
    const next = seeded(11);
    const random = (limit: number) => Math.floor(limit * next());
    const sections = good.readUInt32LE(24);
    const order = Array.from({ length: sections }, (_, at) => sections - 1 - at);
    for (const index of sample(order, 3)) {
      const bad = Buffer.from(good);
      const at = 32 + 12 * index;
      const [offset, length] = [bad.readUInt32LE(at), bad.readUInt32LE(at + 4)];
      const section = bad.subarray(offset, offset + length);
      for (let i = 0; i < section.length; i += 1 + random(16)) section[i] = random(256);
      sign(bad, index);
      writeFileSync(path, bad);
      const { opened } = await serve(repo);
      await answers(opened);
      // A later change is found, whatever the file said.
      await opened.call.store.change({ subject: 's' }, (tx) =>
        tx.put(note, { key: `loquat${index}`, tags: [], text: 'loquat' }),
      );
      expect(await keysOf(opened, `loquat${index}`)).toContain(`loquat${index}`);
      rmSync(repo.path('.memory-bank/notes/f1/n1.yaml'), { force: true });
      await opened.workspace.close();
    }
  });
});
