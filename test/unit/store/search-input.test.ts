import { describe, expect, test } from 'vitest';
import { SearchIndex } from '../../../src/store/search/index.ts';

const made = new SearchIndex();
const texts = {
  chinese: '我们使用缓存来存储会话数据。',
  japanese: 'セッションはデータベースに保存します。',
  arabic: 'نستخدم قاعدة البيانات لتخزين الجلسات.',
  thai: 'เราใช้ฐานข้อมูลสำหรับเก็บเซสชัน',
  mixed: 'Der cache 缓存 hält die сессии of users.',
  symbols: 'The operator is ?. and ??= here.',
  letter: 'Vitamin C is in fruit.',
};
for (const [id, body] of Object.entries(texts)) made.upsert({ id, fields: { title: '', body } });

function first(query: string, fuzzy = true): string | undefined {
  return made.search(query, { fuzzy }).hits[0]?.id;
}

describe('a question', () => {
  test.each([
    ['会话数据', 'chinese'],
    ['会话存储在哪里', 'chinese'],
    ['データベース', 'japanese'],
    ['قاعدة البيانات', 'arabic'],
    ['ฐานข้อมูล', 'thai'],
    ['cache 缓存 сессии', 'mixed'],
    ['c', 'letter'],
  ])('in any script finds its text: %s', (query, id) => expect(first(query)).toBe(id));

  test('of symbols alone finds them literally', () => {
    expect(first('??=')).toBe('symbols');
    expect(first('??=', false)).toBe('symbols');
    expect(first('§§§')).toBeUndefined();
  });

  test.each(['vitamin ', '缓存', 'ฐานข้อมูล', '?', '\ud800', 'x'])(
    'of 100 kB is answered: %j',
    (part) => {
      const query = part.repeat(Math.ceil(100_000 / part.length));
      const { hits } = made.search(query);
      for (const { score } of hits) expect(score).toBeGreaterThan(0);
      if (part === 'vitamin ') expect(hits[0]?.id).toBe('letter');
    },
  );
});
