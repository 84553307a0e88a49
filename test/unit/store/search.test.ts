import { describe, expect, test } from 'vitest';
import type { SearchFields } from '../../../src/core/record-type.ts';
import { SearchIndex, type SearchOptions } from '../../../src/store/search/index.ts';

function index(documents: { [id: string]: string | SearchFields }): SearchIndex {
  const made = new SearchIndex();
  for (const [id, fields] of Object.entries(documents)) {
    made.upsert({ id, fields: typeof fields === 'string' ? { title: id, body: fields } : fields });
  }
  return made;
}

function ids(made: SearchIndex, query: string, options?: SearchOptions): string[] {
  return made.search(query, options).hits.map((hit) => hit.id);
}

describe('what is found', () => {
  test('words in any order, with other words between them', () => {
    const made = index({ a: 'We use postgres for storage.', b: 'We use redis for the cache.' });
    expect(ids(made, 'postgres storage')).toEqual(['a']);
    expect(ids(made, 'storage in postgres')).toEqual(['a']);
  });

  test('text far behind the beginning', () => {
    const made = index({ a: `${'lorem ipsum '.repeat(20_000)}watermelon`, b: 'dolor' });
    expect(ids(made, 'watermelon')).toEqual(['a']);
  });
});
