import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { WordTable, wordTableFile } from '../../src/store/search/meaning/word-table.ts';
import { stem } from '../../src/store/search/text/analyser.ts';
import { associations } from '../../words/association-matrix.ts';
import { decompose } from '../../words/decomposition.ts';
import { exactLogarithm } from '../../words/exact-logarithm.ts';
import { isLeftOut } from '../../words/left-out.ts';
import { readTokens } from '../../words/token-stream.ts';
import { seeded } from '../support/seeded.ts';

/** Topics of many words, so that there are more words than dimensions. */
const topics = ['database', 'login', 'cluster'].map((first) => {
  const letters = [...'bdfgklmnprtvz'];
  const others = letters.flatMap((one) => ['o', 'u', 'i'].map((vowel) => first[0] + vowel + one));
  return [first, ...others];
});

/** Texts about one topic each; every third has a translation. */
function* texts() {
  const random = seeded(5);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? '';
  for (let at = 0; at < 1500; at++) {
    const topic = topics[at % topics.length] ?? [];
    const text = Array.from({ length: 8 }, () => pick(topic)).join(' ');
    if (at % 3 !== 0) yield { text };
    else yield { text: text.replaceAll('database', 'datenbank'), original: text };
  }
}

const stream = readTokens(texts(), 1000);
const vectorOf = decompose(associations(stream));

describe('the maker of the table of words', () => {
  test('makes the same bytes on every machine', () => {
    const shares = stream.counts.map((count) => count / 5000);
    const bytes = Buffer.concat(wordTableFile(stream.words, shares, vectorOf));
    expect(WordTable.read(bytes)?.size).toBe(stream.words.length);
    expect(createHash('sha256').update(bytes).digest('hex')).toMatchInlineSnapshot(
      `"a802778219947686790f8ec5c682cdf6ef9d9be10d7d871a9d5e256b233437fc"`,
    );
  });

  test('learns that words of one topic, and translations, are alike', () => {
    const cosine = (one: string, other: string) => {
      const [a, b] = [one, other].map((word) => vectorOf(stream.words.indexOf(stem(word))));
      if (!a || !b) throw new Error('no vector');
      const product = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
      return product / (Math.hypot(...a) * Math.hypot(...b));
    };
    expect(cosine('datenbank', 'dob')).toBeGreaterThan(0.2);
    expect(Math.abs(cosine('dob', 'lob'))).toBeLessThan(0.1);
  });

  test('leaves out words that nobody wants to see', () => {
    expect(isLeftOut('porn')).toBe(true);
    expect(isLeftOut('databas')).toBe(false);
  });

  test.each([1e-9, 0.3, 1, 1.5, 2, 3, 1000, 12_345.678, 1e12])(
    'takes the logarithm of %s',
    (value) => {
      expect(exactLogarithm(value)).toBeCloseTo(Math.log(value), 12);
    },
  );
});
