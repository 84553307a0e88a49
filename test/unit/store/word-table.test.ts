import { describe, expect, test, vi } from 'vitest';
import { NodeFiles } from '../../../src/git/disk/node-files.ts';
import { SearchIndex } from '../../../src/store/search/index.ts';
import {
  addPacked,
  PackedComparison,
  packVector,
  tableDimensions,
} from '../../../src/store/search/meaning/packed-vector.ts';
import { shippedTable } from '../../../src/store/search/meaning/shipped-table.ts';
import { WordTable, wordTableFile } from '../../../src/store/search/meaning/word-table.ts';
import { vectorBytes } from '../../../src/store/search/terms/document-vectors.ts';
import { seeded } from '../../support/seeded.ts';
import {
  type Hostile,
  hostileTable,
  smallTable,
  smallTableBytes,
} from '../../support/small-table.ts';

describe('a packed vector', () => {
  const random = seeded(3);
  const vector = () => Float64Array.from({ length: tableDimensions }, () => 2 * random() - 1);
  const length = (of: Float64Array) => Math.hypot(...of);

  test('is nearly the vector that was packed, and is compared as it is added', () => {
    for (let time = 0; time < 20; time++) {
      const [one, other] = [vector(), vector()];
      const bytes = new Uint8Array(2 * vectorBytes);
      packVector(one, bytes, 1, (step) => step);
      const factors = new Float32Array(bytes.buffer);
      const read = new Float64Array(tableDimensions);
      addPacked(read, bytes, factors, 1, 1);
      expect(length(read.map((value, at) => value - (one[at] ?? 0)))).toBeLessThan(
        0.1 * length(one),
      );
      const product = read.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
      const packed = new Uint32Array(bytes.buffer);
      expect(new PackedComparison(other).with(packed, factors, 1)).toBeCloseTo(product, 3);
    }
  });

  test('may be zero', () => {
    const bytes = new Uint8Array(vectorBytes);
    packVector(new Float64Array(tableDimensions), bytes, 0, (step) => step);
    const sum = new Float64Array(tableDimensions);
    addPacked(sum, bytes, new Float32Array(bytes.buffer), 0, 1);
    expect(length(sum)).toBe(0);
  });
});

describe('the table of words', () => {
  test('that ships with the program has words of software in their senses there', () => {
    const table = shippedTable(new NodeFiles());
    if (!table) throw new Error('There is no table.');
    expect(table.size).toBeGreaterThan(20_000);
    const nearest = (word: string) => {
      const vector = new Float64Array(tableDimensions);
      table.addTo(vector, table.placeOf(word), 1);
      return table.nearest(vector, 30);
    };
    expect(nearest('jwt')).toContain('oauth');
    expect(nearest('postgresql')).toContain('mysql');
    expect(nearest('kubernet')).toContain('terraform');
  });

  test.each([
    ['cut', (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => new Uint8Array()],
    ['of another version', (bytes: Uint8Array) => bytes.with(4, (bytes[4] ?? 0) ^ 1)],
    ['changed in one bit', (bytes: Uint8Array) => bytes.with(bytes.length - 3, 0)],
    ['without numbers', () => hostileTable({ usual: Number.NaN })],
    ['another file', () => Buffer.from('{"words": 3}'.repeat(1000))],
  ])('is not used if it is %s', (_, change) => {
    expect(WordTable.read(smallTableBytes())?.size).toBeGreaterThan(3);
    expect(WordTable.read(change(smallTableBytes()))).toBeUndefined();
  });

  test.each<[string, (bytes: Buffer | undefined) => Buffer | undefined]>([
    ['missing', () => undefined],
    ['cut', (bytes) => bytes?.subarray(0, 1_000_000)],
    ['of another version', (bytes) => bytes && Buffer.from(bytes.with(4, 0))],
    [
      'not readable',
      () => {
        throw new Error('EACCES');
      },
    ],
  ])('of the package that is %s is no table', async (_, change) => {
    class OtherFiles extends NodeFiles {
      override read(...args: Parameters<NodeFiles['read']>) {
        return change(super.read(...args));
      }
    }
    vi.resetModules();
    const fresh = await import('../../../src/store/search/meaning/shipped-table.ts');
    expect(fresh.shippedTable(new NodeFiles())?.size).toBeGreaterThan(20_000);
    vi.resetModules();
    const other = await import('../../../src/store/search/meaning/shipped-table.ts');
    expect(other.shippedTable(new OtherFiles())).toBeUndefined();
  });

  test('has every word that it was made of', () => {
    const words = [
      ...new Set(['a', 'ab', 'abc', 'b', 'é', '数据', 'zebra', '😀', 'x'.repeat(200)]),
    ];
    for (let at = 0; at < 300; at++) words.push(`word${at}`);
    words.sort();
    const shares = words.map(() => 0.001);
    const bytes = Buffer.concat(wordTableFile(words, shares, () => new Float64Array(72).fill(1)));
    const table = WordTable.read(bytes);
    expect(words.map((word) => table?.placeOf(word))).toEqual(words.map((_, at) => at));
    for (const other of ['', 'abcd', 'ac', '数', 'word', 'word3000', 'É', '\ud83d']) {
      expect(table?.placeOf(other)).toBe(-1);
    }
  });

  test('costs no answer if its content is hostile', () => {
    const hostile: readonly Hostile[] = [
      { ends: [9, 1, 4_000_000_000, 0] },
      { slots: [7, 8, 9, 65_535] },
      { slots: [1, 1, 1, 1] },
      { factor: Number.NaN },
      { factor: Number.POSITIVE_INFINITY },
      { factor: 3e38 },
    ];
    for (const content of hostile) {
      const table = WordTable.read(hostileTable(content));
      if (!table) throw new Error('The table cannot be read.');
      const made = new SearchIndex();
      made.upsert({ id: 'a', fields: { title: 'Login', body: 'a jwt for each session' } });
      made.upsert({ id: 'b', fields: { title: 'Other', body: 'a cat in the garden' } });
      for (const query of ['login jwt', 'authentication', 'the cat sleeps', 'login database']) {
        const words = made.search(query).hits;
        const { hits } = made.search(query, { table, explain: true });
        expect(hits.map(({ id }) => id)).toEqual(expect.arrayContaining(words.map(({ id }) => id)));
        for (const { score } of hits) expect(score).toBeLessThanOrEqual(1);
        for (const { score } of hits) expect(score).toBeGreaterThanOrEqual(0);
      }
    }
  });
});

describe('a search with the table', () => {
  const index = new SearchIndex();
  const texts: { readonly [id: string]: readonly [title: string, body: string] } = {
    auth: ['Tokens', 'We sign a jwt for each session.'],
    store: ['Storage', 'Rows are kept in postgresql.'],
    lock: ['Locks', 'A mutex guards the queue.'],
    style: ['Style', 'Pages use tailwind.'],
    misc: ['Other', 'The cat sleeps in the garden.'],
  };
  for (const [id, [title, body]] of Object.entries(texts))
    index.upsert({ id, fields: { title, body } });
  const table = smallTable();
  const ids = (query: string) => index.search(query, { table }).hits.map(({ id }) => id);

  test('finds a record that has none of the words', () => {
    expect(index.search('authentication').hits).toEqual([]);
    expect(ids('authentication')[0]).toBe('auth');
    expect(ids('which database?')[0]).toBe('store');
  });

  test('says which words made it find the record, and the parts add up to the score', () => {
    const [hit] = index.search('authentication', { table, explain: true }).hits;
    const { words = [], signals = {}, similar } = hit?.explanation ?? {};
    expect(words).toEqual([]);
    expect(similar).toEqual([{ asked: 'authentication', found: ['jwt', 'session'] }]);
    expect(signals.meaning).toBeCloseTo(hit?.score ?? 0, 3);
    expect(hit?.score).toBeLessThan(0.84);
  });

  test('finds a well-known thing, or another name, of the kind that is asked for, and says so', () => {
    const made = new SearchIndex();
    made.upsert({ id: 'jobs', fields: { title: 'Jobs', body: 'BullMQ runs the imports.' } });
    made.upsert({ id: 'tests', fields: { title: 'Checks', body: 'vitest runs on each push.' } });
    made.upsert({ id: 'cat', fields: { title: 'Other', body: 'The cat sleeps.' } });
    made.upsert({ id: 'lint', fields: { title: 'Text', body: 'A formatter runs before a push.' } });
    made.upsert({ id: 'rights', fields: { title: 'Rights', body: 'Each role is a list.' } });
    const shipped = shippedTable(new NodeFiles());
    for (const [query, id, asked, word] of [
      ['which message queue?', 'jobs', 'message queue', 'bullmq'],
      ['the test runner', 'tests', 'test runner', 'vitest'],
      ['how is access control done?', 'rights', 'access control', 'role'],
      ['which static analysis?', 'lint', 'static analysis', 'formatter'],
    ] as const) {
      const [hit] = made.search(query, { table: shipped, explain: true }).hits;
      expect(hit?.id).toBe(id);
      expect(hit?.explanation?.similar).toContainEqual({
        asked,
        found: expect.arrayContaining([word]),
      });
      expect(hit?.score).toBeLessThan(0.84);
    }
  });

  test('is decided by the words where they answer the query', () => {
    for (const query of [
      'jwt',
      'postgresql',
      'mutex guards queue',
      'Locks',
      'tailwind pages style',
    ]) {
      expect(index.search(query, { table })).toEqual(index.search(query));
    }
  });

  test.each([
    '"authentication"',
    '`database`',
    'authenticationDatabase',
    'src/database.ts',
    'v2.3.1',
    '2026',
  ])('finds nothing by the meaning of %s', (query) =>
    expect(index.search(query, { table })).toEqual(index.search(query)),
  );

  test('adds nothing to hits that have to be sure, or to some fields only', () => {
    expect(index.search('authentication', { table, sure: 1 }).hits).toEqual([]);
    expect(index.search('authentication', { table, fields: ['title'] }).hits).toEqual([]);
  });

  test('follows the changes of the records, and the filter', () => {
    index.upsert({ id: 'misc', fields: { title: 'Login', body: 'A jwt again.' } });
    expect(ids('authentication').slice(0, 2).sort()).toEqual(['auth', 'misc']);
    const filter = (id: string) => id !== 'auth';
    expect(index.search('authentication', { table, filter }).hits[0]?.id).toBe('misc');
    index.remove('misc');
    expect(ids('authentication')[0]).toBe('auth');
    index.upsert({ id: 'misc', fields: { title: 'Other', body: 'The cat sleeps.' } });
  });

  test.each([1, 2])('works in a memory of %i records', (count) => {
    const small = new SearchIndex();
    const own = Object.entries(texts).slice(0, count);
    for (const [id, [title, body]] of own) small.upsert({ id, fields: { title, body } });
    const found = (query: string) => small.search(query, { table }).hits.map(({ id }) => id);
    expect(found('login')).toEqual(['auth']);
    expect(found('semaphore')).toEqual([]);
    expect(found('css')).toEqual([]);
  });

  test('takes a word that is repeated for less each time', () => {
    const made = new SearchIndex();
    const bodies = { repeated: `jwt ${'cat '.repeat(8)}`, mixed: `jwt ${'cat sleep '.repeat(3)}` };
    for (const [id, body] of Object.entries(bodies))
      made.upsert({ id, fields: { title: 'One', body } });
    for (const id of ['a', 'b', 'c'])
      made.upsert({ id, fields: { title: 'Other', body: 'tailwind css style' } });
    expect(made.search('authentication', { table }).hits[0]?.id).toBe('repeated');
  });

  test('counts a word that the memory has for less where it lacks the others', () => {
    const made = new SearchIndex();
    made.upsert({ id: 'meant', fields: { title: 'Rows', body: 'Kept in postgresql.' } });
    made.upsert({ id: 'said', fields: { title: 'Garden', body: 'The people are kept out.' } });
    for (const id of ['a', 'b', 'c', 'd'])
      made.upsert({ id, fields: { title: 'Style', body: 'Pages use tailwind.' } });
    const query = 'which datenbank database do people use?';
    expect(made.search(query).hits[0]?.id).not.toBe('meant');
    expect(made.search(query, { table }).hits[0]?.id).toBe('meant');
  });

  test('adds less where the memory has a number or a name of the code that is asked for', () => {
    const made = new SearchIndex();
    for (const [id, [title, body]] of Object.entries(texts))
      made.upsert({ id, fields: { title, body } });
    made.upsert({ id: 'code', fields: { title: 'Codes', body: 'The answer 409 is sent again.' } });
    const meant = (query: string) =>
      made.search(query, { table, explain: true }).hits.find(({ id }) => id === 'auth')?.score ?? 0;
    expect(meant('409 authentication')).toBeLessThan(meant('410 authentication') - 0.01);
  });

  test('wants more similarity among many records than among few', () => {
    const among = (count: number) => {
      const made = new SearchIndex();
      for (let at = 0; at < count; at++) {
        const body = ['jwt', 'tailwind', 'mutex', 'cat'][at % 4] ?? '';
        made.upsert({ id: `r${at}`, fields: { title: `Text ${at}`, body } });
      }
      return made.search('authentication', { table }).hits[0]?.score ?? 0;
    };
    expect(among(512)).toBeLessThan(among(32) - 0.02);
  });

  test('takes a query of ten thousand words, and words of every script', () => {
    const long = Array.from({ length: 10_000 }, (_, at) => `wort${at} authentication 数据库 база`);
    expect(index.search(long.join(' '), { table }).hits.length).toBeGreaterThan(0);
    expect(index.search('قاعدة ฐานข้อมูล 데이터베이스', { table }).hits).toEqual([]);
  });
});
