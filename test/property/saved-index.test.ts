import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { statSize } from '../../src/git/disk/file-layer.ts';
import {
  bytesOf,
  jsonBytes,
  SectionFile,
  sectionFile,
} from '../../src/store/derived/section-file.ts';
import { recordSections, savedSections } from '../../src/store/records/saved-layout.ts';
import { allAtOnce } from '../../src/store/records/slices.ts';
import { toStoredText } from '../../src/store/search/encoded-text.ts';
import { SearchIndex } from '../../src/store/search/index.ts';
import { RecordVectors } from '../../src/store/search/meaning/record-vectors.ts';
import { type CurrentTexts, StoredIndex } from '../../src/store/search/stored-index.ts';
import { SavedSearch } from '../../src/store/search/terms/saved-search.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { smallTable } from '../support/small-table.ts';

/** A process with the index of an earlier one has to answer like a process without it. */

const words = [
  'cache',
  'caching',
  'cached',
  'userId',
  'user',
  'utf8',
  'the',
  'session',
  'jwt',
  'login',
  'cat',
  '数据',
  'é',
];
const text = fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((list) => list.join(' '));
const fields = fc.record({ title: text, body: text, notes: text });
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ id, fields }),
  id.map((removed) => ({ id: removed, fields: undefined })),
);
const query = fc.oneof(
  text,
  fc.constantFrom(
    'authentication',
    'cahce',
    'sess',
    'userid',
    'user id',
    'ach',
    '数据',
    'sesion',
    'usr',
    'sessoin',
  ),
);

type Fields = { readonly title: string; readonly body: string; readonly notes: string };

function apply(index: SearchIndex, model: Map<string, Fields>, steps: readonly Step[]): void {
  for (const { id, fields } of steps) {
    if (fields) model.set(id, fields);
    else model.delete(id);
    if (fields) index.upsert({ id, fields });
    else index.remove(id);
  }
}
type Step = { readonly id: string; readonly fields: Fields | undefined };

const table = smallTable();

/** Returns an index with the content of another one, as it comes back from a file. */
function restored(
  index: SearchIndex,
  model: ReadonlyMap<string, Fields>,
  onRead?: (id: string) => void,
): SearchIndex {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const stateOf = (id: string) => (model.has(id) ? { labels: {} } : undefined);
  const sections = allAtOnce(index.saving(ids, stateOf, table));
  const file = SectionFile.open(Buffer.concat(sectionFile('mark', sections)), 'mark');
  const saved = file && SavedSearch.read(file, 0, ids.length, true);
  if (!saved) throw new Error('the file cannot be read');
  const then = new Map(model);
  const read = new SearchIndex();
  read.adopt(saved, ids, (id) => {
    onRead?.(id);
    return then.get(id);
  });
  return read;
}

test('a search in vain reads the texts only if they can contain the query', () => {
  const model = new Map<string, Fields>();
  const index = new SearchIndex();
  apply(index, model, [
    { id: 'a', fields: { title: 'The cache', body: 'It has lines.', notes: '' } },
  ]);
  const found = (query: string) => {
    const read: string[] = [];
    const { total } = restored(index, model, (id) => read.push(id)).search(query);
    return [total, read.length > 0];
  };
  expect(found('plugh xyzzy qux')).toEqual([0, false]);
  expect(found('xyzzy 2048 plugh')).toEqual([0, false]);
  expect(found('xyzzy plugh')).toEqual([0, true]);
  expect(found('xyzzy.plugh.qux')).toEqual([0, true]);
  expect(found(' xyzzy ')).toEqual([0, false]);
  expect(found('xyzzy the plugh')).toEqual([0, true]);
  expect(found('ach')).toEqual([1, true]);
});

test('vectors that an older version has made in another way are made again', () => {
  const index = new SearchIndex();
  const texts = { a: 'a mutex for each queue', b: 'the cat' };
  for (const [id, body] of Object.entries(texts)) index.upsert({ id, fields: { title: id, body } });
  const ids = Object.keys(texts);
  const sections = allAtOnce(index.saving(ids, () => ({ labels: {} }), table));
  const found = (made: string) => {
    const [facts = new Uint8Array(), ...others] = sections;
    const vectors = others.pop() ?? new Uint8Array();
    const old = { ...JSON.parse(Buffer.from(facts).toString()), made };
    const content = [jsonBytes(old), ...others, vectors.map(() => 0)];
    const file = SectionFile.open(Buffer.concat(sectionFile('mark', content)), 'mark');
    const saved = file && SavedSearch.read(file, 0, ids.length, true);
    if (!saved) throw new Error('the file cannot be read');
    const read = new SearchIndex();
    read.adopt(saved, ids, (id) => index.fieldsOf(id));
    return read.search('semaphore', { table }).hits.map(({ id }) => id);
  };
  expect(found(RecordVectors.id(table))).toEqual([]);
  expect(found(table.id)).toEqual(['a']);
  expect(found(`1 ${table.id}`)).toEqual(['a']);
});

deep('an index that was saved answers like a new one, also after changes', () => {
  const steps = fc.array(step, { maxLength: 12 });
  fc.assert(
    fc.property(steps, steps, steps, fc.array(query), (first, second, third, queries) => {
      const model = new Map<string, Fields>();
      let index = new SearchIndex();
      for (const some of [first, second, third]) {
        apply(index, model, some);
        index = restored(index, model);
        apply(index, model, some.slice(0, 3));
        const fresh = new SearchIndex();
        for (const [id, fields] of model) fresh.upsert({ id, fields });
        expect([index.size, index.words, index.tokens]).toEqual([
          fresh.size,
          fresh.words,
          fresh.tokens,
        ]);
        for (const query of [...queries, ...words]) {
          expect(index.search(query)).toEqual(fresh.search(query));
          expect(index.search(query, { table })).toEqual(fresh.search(query, { table }));
          const literal = { fuzzy: false, fields: ['title', 'notes'] as const };
          expect(index.search(query, literal)).toEqual(fresh.search(query, literal));
          const titles = { fields: ['title'] as const };
          expect(index.search(query, titles)).toEqual(fresh.search(query, titles));
        }
      }
    }),
    { numRuns: runs(100) },
  );
});

const paragraph = fc.record({ heading: text, text, level: fc.constantFrom('', '#', '##', '###') });
const markdown = fc
  .array(paragraph, { maxLength: 6 })
  .map((all) =>
    all.map(({ heading, text, level }) => `${level} ${heading}\n\n${text}.\n`).join('\n'),
  );
const document = fc.record({ title: text, body: markdown, notes: text, markdown: fc.boolean() });

const documents = fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1 }), fields: document }), {
  selector: ({ id }) => id,
  maxLength: 12,
});

/** Encodes an index in a file of saved records; the stat of a record shows its text. */
function savedFile(index: SearchIndex, ids: readonly string[], stats: Float64Array): Uint8Array {
  const records: Uint8Array[] = Array.from({ length: recordSections }, () => new Uint8Array());
  records[savedSections.paths] = jsonBytes(ids);
  records[savedSections.stats] = bytesOf(stats);
  const encoded = allAtOnce(index.saving(ids, () => ({ labels: {} })));
  return Buffer.concat(sectionFile('mark', [...records, ...encoded]));
}

test('an index that is read in parts answers like a new one, also after changes', () => {
  const changes = fc.array(fc.record({ at: fc.nat(20), fields: fc.option(document) }));
  fc.assert(
    fc.property(documents, changes, fc.array(query), (given, changed, queries) => {
      const index = new SearchIndex();
      const stats = new Float64Array(statSize * given.length);
      const before = given.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      for (const [at, one] of before.entries()) {
        index.upsert(one);
        stats.fill(at + 1, statSize * at, statSize * (at + 1));
      }
      const ids = before.map(({ id }) => id);
      const bytes = savedFile(index, ids, stats);
      const now = new Map(before.map((one, at) => [one.id, { ...one, time: at + 1 }]));
      for (const [number, { at, fields }] of changed.entries()) {
        const id = ids[at] ?? `new ${at}`;
        if (fields) now.set(id, { id, fields, time: 100 + number });
        else now.delete(id);
        if (fields) index.upsert({ id, fields });
        else index.remove(id);
      }
      const present = [...now.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      const current: CurrentTexts = {
        paths: present.map(({ id }) => id),
        stats: Float64Array.from(present.flatMap(({ time }) => Array(statSize).fill(time))),
        isSearched: () => true,
        textAt: (at) => {
          const one = present[at];
          return one && JSON.parse(JSON.stringify(toStoredText(one.fields)));
        },
      };
      const read = (from: number, length: number) =>
        Buffer.from(bytes.subarray(from, from + length));
      const file = SectionFile.open({ length: bytes.length, read }, 'mark');
      const stored = file && StoredIndex.read(file, current);
      for (const query of [...queries, ...words]) {
        const { hits } = index.search(query, { sure: 1 });
        expect([...(stored?.search(query) ?? [])]).toEqual(hits);
      }
    }),
    { numRuns: runs(100) },
  );
});

const place = fc.record({
  path: fc.constantFrom('a', 'b', 'x/a', 'x/y/b', 'z/c'),
  word: fc.constantFrom(...words, 'database', 'databases'),
});
const change = fc.oneof(
  ...(
    ['write', 'write letter', 'write both', 'damage', 'put', 'remove', 'remove folder'] as const
  ).map((kind) => place.map((at) => ({ kind, ...at }))),
  ...(['branch', 'commit', 'restart', 'restart', 'search', 'get'] as const).map((kind) =>
    place.map((at) => ({ kind, ...at })),
  ),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const types = [note, letter];

deep(
  'a process with a saved index answers like one without, whatever happened in between',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 14 }), async (changes) => {
        const repo = Repo.create();
        let opened = await open(repo.root, types, { leastSaved: 0 });
        // Another server of the same project, which writes the same file.
        const other = await open(repo.root, types, { leastSaved: 0 });
        try {
          for (const one of changes) {
            if (one.kind === 'restart') {
              await opened.workspace.close();
              opened = await open(repo.root, types, { leastSaved: 0 });
            } else await perform(repo, opened, one);
            await expectSame(repo.root, [opened, other]);
          }
        } finally {
          await opened.workspace.close();
          await other.workspace.close();
          repo.remove();
        }
      }),
      { numRuns: runs(40) },
    );
  },
);

async function perform(repo: Repo, opened: Opened, { kind, path, word }: Change): Promise<void> {
  const at = (name: string) => join(repo.root, '.memory-bank', name);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repo.root, env: gitEnv, stdio: 'pipe' });
  const write = (name: string, content: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  };
  const noteText = `key: ${path}\ntags: []\ntext: ${word} text\n`;
  const letterText = `---\nid: ${path}\ntitle: ${word}\n---\n${word} ${path}\n`;
  const { store } = opened.call;
  if (kind === 'write' || kind === 'write both') write(`notes/${path}.yaml`, noteText);
  if (kind === 'write both') write(`notes/again/${path}.yaml`, noteText);
  if (kind === 'write letter' || kind === 'write both') write(`letters/${path}.md`, letterText);
  if (kind === 'damage') write(`notes/${path}.yaml`, 'key: [');
  if (kind === 'put') {
    const value = { id: `by-${word}`, title: word, body: `${path}\n` };
    await store.change({ subject: 's' }, (tx) => tx.put(letter, value));
  }
  if (kind === 'remove') rmSync(at(`notes/${path}.yaml`), { force: true });
  if (kind === 'remove folder') rmSync(at('notes/x'), { recursive: true, force: true });
  if (kind === 'search') await store.search({ query: word });
  if (kind === 'get') await store.get(note, path).catch(() => undefined);
  if (kind === 'commit' || kind === 'branch') {
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'By hand');
  }
  if (kind === 'branch') {
    const isMain = git('branch', '--show-current').toString().trim() === 'main';
    const branch = isMain ? 'side' : 'main';
    const isKnown = git('branch', '--list', branch).length > 0;
    git('checkout', '-q', ...(isKnown ? [] : ['-b']), branch);
  }
}

async function expectSame(root: string, processes: readonly Opened[]): Promise<void> {
  const fresh = await open(root, types, { leastSaved: Number.POSITIVE_INFINITY });
  try {
    const expected = await answers(fresh);
    for (const one of processes) expect(await answers(one)).toEqual(expected);
  } finally {
    await fresh.workspace.close();
  }
}

async function answers({ call: { store, history } }: Opened): Promise<unknown> {
  const damaged = (list: readonly { readonly path: string }[]) => list.map(({ path }) => path);
  const found = [];
  for (const query of ['cache text', 'databse', 'user', 'sess', '数据']) {
    const result = await store.search({ query });
    found.push({ ...result, damaged: damaged(result.damaged) });
  }
  const past = await (await history.at('HEAD')).search({ query: 'text' });
  const notes = await store.list(note);
  const letters = await store.list(letter);
  return {
    found,
    past: { ...past, damaged: damaged(past.damaged) },
    notes: [notes.records, damaged(notes.damaged)],
    letters: [letters.records, damaged(letters.damaged)],
    named: (await store.list(note, { keys: ['a', 'x/a'] })).records,
  };
}
