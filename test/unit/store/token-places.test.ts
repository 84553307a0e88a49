import { expect, test } from 'vitest';
import { allAtOnce } from '../../../src/store/records/slices.ts';
import { Collection } from '../../../src/store/search/terms/collection.ts';
import { visitTokens } from '../../../src/store/search/terms/token-places.ts';
import { analyse } from '../../../src/store/search/text/analyser.ts';
import { pieces } from '../../../src/store/search/text/search-pieces.ts';

const text = [
  'The userId of utf8_text in src/store/search.ts; C++ and "résumé", ',
  '数据库的设计 ฐานข้อมูล 데이터베이스 and v2.10.3 '.repeat(3),
  `${'x'.repeat(300)} end\n`,
]
  .join('')
  .repeat(60);

test('the places of tokens are those of the analysis, also when they are read again', () => {
  const expected: unknown[] = [];
  for (const { start, piece } of pieces(text)) {
    analyse(piece, (token, offset) => {
      const from = start + offset;
      expected.push([token.term, from + token.start, from + token.end, token.kind === 'whole']);
    });
  }
  const collection = new Collection();
  allAtOnce(collection.adding({ id: 'a', fields: { title: 'other', body: text } }));
  const document = collection.entry(0);
  if (!document) throw new Error('the document is missing');
  for (const _ of ['first', 'again']) {
    const found: unknown[] = [];
    allAtOnce(
      visitTokens(document, 'body', (number, ...place) => {
        found.push([collection.dictionary.termText(number), ...place]);
      }),
    );
    expect(found).toEqual(expected);
  }
});
