import { describe, expect, test } from 'vitest';
import { SearchIndex } from '../../../src/store/search/index.ts';
import {
  type MeaningSignal,
  type PreparedMeaning,
  prepareMeanings,
} from '../../../src/store/search/meaning/meaning.ts';

const made = new SearchIndex();
for (const id of ['a', 'b', 'c']) made.upsert({ id, fields: { title: '', body: 'shared word' } });
made.upsert({ id: 'd', fields: { title: 'shared', body: 'shared word, shared word' } });
made.upsert({ id: 'other', fields: { title: '', body: 'nothing' } });

/** A signal with fixed similarities by id. */
function meaning(
  similarities: { readonly [id: string]: number | undefined },
  weight = 0.2,
): PreparedMeaning {
  return {
    name: 'model',
    weight,
    *compare(_query, documents) {
      yield;
      return documents.map(({ id }) => similarities[id]);
    },
  };
}

function ids(meanings: readonly PreparedMeaning[], query = 'word'): string[] {
  return made.search(query, { meanings }).hits.map(({ id }) => id);
}

describe('a signal of meaning', () => {
  test('changes the order of the hits, and adds none', () => {
    expect(ids([])).toEqual(['a', 'b', 'c', 'd']);
    expect(ids([meaning({ c: 0.9, b: 0.4, a: 0.1, d: 0, other: 1 })])).toEqual([
      'c',
      'b',
      'a',
      'd',
    ]);
  });

  test('does not move a document that it knows nothing of below one that is less similar', () => {
    const found = ids([meaning({ a: 0.9, c: 0.1 })]);
    expect(found.filter((id) => id !== 'd')).toEqual(['a', 'b', 'c']);
  });

  test.each([
    { a: Number.NaN, b: Number.POSITIVE_INFINITY },
    {},
    { a: 0.5, b: 0.5, c: 0.5, d: 0.5 },
  ])('changes nothing without usable numbers: %j', (similarities) =>
    expect(ids([meaning(similarities)])).toEqual(['a', 'b', 'c', 'd']),
  );

  test.each(['"word"', '`word`', 'shared_word', 'sharedWord', 'shared/word'])(
    'does not change the order of hits for the letters of %s',
    (query) => {
      expect(ids([], query).length).toBeGreaterThan(0);
      expect(ids([meaning({ c: 0.9, b: 0.4 })], query)).toEqual(ids([], query));
    },
  );

  test('has its part in the explanation, and the parts add up to the score', () => {
    const [hit] = made.search('word', { meanings: [meaning({ c: 1, a: 0 })], explain: true }).hits;
    const { words = [], signals = {} } = hit?.explanation ?? {};
    expect(hit?.id).toBe('c');
    expect(signals.model).toBeGreaterThan(0);
    const sum = [...words.map(({ added }) => added), ...Object.values(signals)].reduce(
      (total, value) => total + value,
      0,
    );
    expect(sum).toBeCloseTo(hit?.score ?? 0, 3);
  });

  test('leaves a title that is the query first', () => {
    made.upsert({ id: 'named', fields: { title: 'word' } });
    expect(ids([meaning({ c: 1, a: 0, named: -1 })])[0]).toBe('named');
    made.remove('named');
  });

  test('that fails or has nothing to say about a query is left out', async () => {
    const signal = (prepare: MeaningSignal['prepare']) => ({
      name: 'model' as const,
      weight: 0.2,
      prepare,
    });
    const signals = [
      signal(() => Promise.reject(new Error('down'))),
      signal(async () => undefined),
      signal(async () => meaning({}).compare),
    ];
    expect(await prepareMeanings(signals, 'word')).toHaveLength(1);
  });
});
