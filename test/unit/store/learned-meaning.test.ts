import { describe, expect, test } from 'vitest';
import { allAtOnce } from '../../../src/store/records/slices.ts';
import { SearchIndex } from '../../../src/store/search/index.ts';
import { LearnedMeaning } from '../../../src/store/search/meaning/learned-meaning.ts';
import type { PreparedMeaning } from '../../../src/store/search/meaning/meaning.ts';
import type { WordVectors } from '../../../src/store/search/meaning/word-vectors.ts';
import { topicTexts } from '../../support/topics.ts';

/** Texts about topics, and two that contain only one word of the question each. */
function indexed(count: number, reversed = false): SearchIndex {
  const index = new SearchIndex();
  const documents = topicTexts(count).map((body, at) => ({
    id: `n${at}`,
    fields: { title: '', body },
  }));
  documents.push({ id: 'a parser', fields: { title: '', body: 'token lexer grammar' } });
  documents.push({ id: 'b session', fields: { title: '', body: 'token session cookie' } });
  for (const document of reversed ? documents.reverse() : documents) index.upsert(document);
  return index;
}

const learn = (index: SearchIndex, texts: readonly string[] = []) =>
  allAtOnce(index.learning(texts.map((text, at) => ({ id: `text ${at}`, text }))));

function meanings(words: WordVectors | undefined): PreparedMeaning[] {
  if (!words) throw new Error('nothing was learned');
  const meaning = new LearnedMeaning(words);
  return [{ name: 'learned', weight: 0.3, compare: (...query) => meaning.compare(...query) }];
}

function order(index: SearchIndex, words: WordVectors | undefined, query: string): string[] {
  const { hits } = index.search(query, {
    limit: 1000,
    ...(words && { meanings: meanings(words) }),
  });
  return hits.map(({ id }) => id).filter((id) => !id.startsWith('n'));
}

describe('meaning learned from the texts', () => {
  test('ranks a text about the topic of the question above one with the same words of it', () => {
    const index = indexed(120);
    expect(order(index, undefined, 'token password')).toEqual(['a parser', 'b session']);
    expect(order(index, learn(index), 'token password')).toEqual(['b session', 'a parser']);
  });

  test('is the same for the same texts, in whatever order they came', () => {
    const [one, other] = [learn(indexed(120)), learn(indexed(120, true))];
    expect(one?.terms.length).toBeGreaterThan(20);
    expect(other).toEqual(one);
  });

  test('has nothing to say with fewer than 100 texts', () => {
    expect(learn(indexed(97))).toBeUndefined();
    expect(learn(indexed(98))).toBeDefined();
  });

  test('learns from other texts of the project', () => {
    const index = indexed(0);
    const words = learn(index, topicTexts(120));
    expect(order(index, words, 'token password')).toEqual(['b session', 'a parser']);
  });

  test('adds nothing to a question whose words it does not know', () => {
    const index = indexed(120);
    const [hit] = index.search('toke', { meanings: meanings(learn(index)), explain: true }).hits;
    expect(hit?.explanation?.signals.learned).toBeDefined();
    const strange = new SearchIndex();
    strange.upsert({ id: 'x', fields: { title: '', body: 'quince medlar' } });
    strange.upsert({ id: 'y', fields: { title: '', body: 'quince' } });
    const [only] = strange.search('quince', {
      meanings: meanings(learn(index)),
      explain: true,
    }).hits;
    expect(only?.explanation?.signals.learned ?? 0).toBe(0);
  });

  test('follows a text that changes', () => {
    const index = indexed(120);
    const options = { limit: 1000, meanings: meanings(learn(index)) };
    const first = () =>
      index.search('token password', options).hits.find(({ id }) => !id.startsWith('n'))?.id;
    expect(first()).toBe('b session');
    index.upsert({ id: 'a parser', fields: { title: '', body: 'token account session' } });
    index.upsert({ id: 'b session', fields: { title: '', body: 'token lexer grammar' } });
    expect(first()).toBe('a parser');
  });
});
