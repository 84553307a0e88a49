import { expect, test } from 'vitest';
import { SearchIndex } from '../../src/store/search/index.ts';
import { analyse } from '../../src/store/search/text/analyser.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const words = [
  'cache',
  'caching',
  'cached',
  'userId',
  'user',
  'id',
  'the',
  'session',
  '数据库',
  'é',
];
const text = fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((list) => list.join(' '));
const fields = fc.record({ title: text, body: text, notes: text });
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ id, fields }),
  id.map((removed) => ({ id: removed, fields: undefined })),
);
const query = fc.oneof(text, fc.constantFrom('cahce', 'sess', 'userid', 'user id', 'ach', '数据'));

test('a changed index answers like a new one', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.array(query), (steps, queries) => {
      const changed = new SearchIndex();
      const model = new Map<string, { title: string; body: string; notes: string }>();
      for (const { id, fields } of steps) {
        if (fields === undefined) {
          changed.remove(id);
          model.delete(id);
        } else {
          changed.upsert({ id, fields });
          model.set(id, fields);
        }
      }
      const fresh = new SearchIndex();
      for (const [id, fields] of model) fresh.upsert({ id, fields });
      expect(changed.size).toBe(model.size);
      for (const query of [...queries, ...words]) {
        expect(changed.search(query)).toEqual(fresh.search(query));
        const literal = { fuzzy: false };
        expect(changed.search(query, literal)).toEqual(fresh.search(query, literal));
      }
    }),
  );
});

test('any text can be indexed and searched', () => {
  const any = fc.string({ unit: 'binary', maxLength: 60 });
  fc.assert(
    fc.property(any, any, fc.nat(60), fc.nat(60), (title, body, from, length) => {
      const index = new SearchIndex();
      index.upsert({ id: 'a', fields: { title, body } });
      const piece = body.slice(from, from + length);
      for (const { matches, score } of index.search(piece).hits) {
        expect(score > 0 && score <= 1).toBe(true);
        for (const match of matches) expect(`${title}\n${body}`).toContain(match);
      }
      if (piece.trim() !== '') {
        expect(index.search(piece, { fuzzy: false }).hits.map((hit) => hit.id)).toEqual(['a']);
        // Part of a word may match no term; then the literal search finds it.
        expect(index.search(piece).total).toBe(1);
      }
      index.remove('a');
      expect(index.search(piece)).toEqual({ hits: [], total: 0 });
    }),
  );
});

test('a piece of a text finds it, in any case of its letters', () => {
  const pieces = ['cache', 'seRver', 'IDs', 'userId', '2024', 'v1.2', 'the', 'of', 'a', "don't"];
  const more = ['snake_case', 'src/a.ts', 'C++', 'utf8', 'İstanbul', '数据库', 'é', '->', '--'];
  const joints = [' ', ' ', ' ', '\n', '\t', ', ', '  ', '-', '', '\u00a0'];
  const word = fc.tuple(fc.constantFrom(...pieces, ...more), fc.constantFrom(...joints));
  const text = fc.array(word, { maxLength: 40 }).map((list) => list.flat().join(''));
  const letters = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
  );
  fc.assert(
    fc.property(text, fc.array(text), fc.nat(300), fc.nat(80), letters, (...given) => {
      const [body, others, from, length, change] = given;
      const index = new SearchIndex();
      for (const [n, other] of others.entries()) {
        index.upsert({ id: `b${n}`, fields: { title: '', body: other } });
      }
      index.upsert({ id: 'a', fields: { title: '', body } });
      const start = from % Math.max(1, body.length);
      const query = change(body.slice(start, start + length));
      fc.pre(query.trim() !== '' && index.search(query, { fuzzy: false }).total > 0);
      expect(index.search(query).total).toBeGreaterThan(0);
    }),
    { numRuns: runs(2000) },
  );
});

/** The tokens of a text with their offsets. */
function tokens(text: string): unknown[] {
  const found: unknown[] = [];
  analyse(text, ({ start, end, ...token }, offset) => {
    found.push({ ...token, start: offset + start, end: offset + end });
  });
  return found;
}

test('a text has the same tokens with any kind of spaces', () => {
  const pieces = ['a', 'word', 'Word', 'userId', 'utf8', '42', 'é', '数据', "'s", 'C++', 'C#'];
  const signs = [' ', ' ', ' ', '_', '.', '-', '/', ':', '+', '#', "'", ',', '—'];
  const any = fc.array(fc.constantFrom(...pieces, ...signs), { maxLength: 12 });
  fc.assert(
    fc.property(any, (list) => {
      const text = list.join('');
      // Only ASCII takes the fast path.
      expect(tokens(text)).toEqual(tokens(text.replaceAll(' ', '\u2003')));
    }),
    { numRuns: runs(1000) },
  );
});

test('any number of words stay distinct', () => {
  const names = Array.from({ length: 40_000 }, (_, i) =>
    [i % 26, Math.floor(i / 26) % 26, Math.floor(i / 676) % 26, Math.floor(i / 17_576)]
      .map((letter) => String.fromCharCode(97 + letter))
      .join(''),
  );
  const found: string[] = [];
  for (let round = 0; round < 2; round++) {
    analyse(names.join(' '), ({ word }) => found.push(word));
  }
  expect(found).toEqual([...names, ...names]);
});
