import { expect, test } from 'vitest';
import { type HitCandidate, newestFirst } from '../../../src/store/search/rank/near-equals.ts';
import type { Subject } from '../../../src/store/search/rank/subject.ts';

const about = (...words: string[]): Subject => ({
  title: { list: words, set: new Set(words) },
  asked: [],
  fit: 0,
  text: undefined,
});

function candidate(
  id: string,
  score: number,
  at: string | undefined,
  subject = about('upload'),
  isNamed = false,
): HitCandidate {
  return { id, score, at, isNamed, subject: () => subject };
}

/** The ids in their order, with the scores of their places and what is later. */
function placed(...candidates: HitCandidate[]) {
  return newestFirst(candidates).map(({ candidate: { id }, score, findLater }) =>
    [id, score, findLater()?.id].filter((one) => one !== undefined).join(' '),
  );
}

test('about equally good hits on one subject change places, and nothing else does', () => {
  expect(
    placed(
      candidate('old', 0.9, '2026-01-01'),
      candidate('other', 0.89, '2026-03-01', about('colour')),
      candidate('new', 0.85, '2026-02-01'),
      candidate('undated', 0.84, undefined),
      candidate('newest', 0.8, '2026-03-01'),
    ),
  ).toEqual(['newest 0.9', 'other 0.89', 'new 0.85', 'undated 0.84', 'old 0.8']);
});

test('a later hit that is worse is only named', () => {
  const hits = [
    candidate('old', 0.9, '2026-01-01'),
    candidate('new', 0.6, '2026-02-01'),
    candidate('newest', 0.4, '2026-03-01'),
  ];
  expect(placed(...hits)).toEqual(['old 0.9 new', 'new 0.6 newest', 'newest 0.4']);
});

test('what the query names stays first', () => {
  expect(
    placed(
      candidate('named', 1, '2026-01-01', about('upload'), true),
      candidate('new', 0.95, '2026-02-01'),
    ),
  ).toEqual(['named 1', 'new 0.95']);
});

test('a later hit that lacks a word of the query is only named', () => {
  const asked = (words: readonly string[], concepts: readonly number[]): Subject => ({
    ...about(...words),
    asked: concepts,
  });
  const support = asked(['support', 'variables', 'configuration'], [0, 1, 2]);
  const removal = asked(['removal', 'support', 'variables'], [0, 1]);
  expect(
    placed(
      candidate('old', 0.9, '2026-01-01', support),
      candidate('new', 0.85, '2026-02-01', removal),
    ),
  ).toEqual(['old 0.9 new', 'new 0.85']);
});

test('a hit that only has words of the query in common is not a later one', () => {
  const asked = (words: readonly string[], concepts: readonly number[]): Subject => ({
    ...about(...words),
    asked: concepts,
    fit: concepts.length / words.length,
  });
  const laterOf = (one: Subject, other: Subject) =>
    placed(candidate('old', 0.9, '2026-01-01', one), candidate('new', 0.6, '2026-02-01', other))[0];
  const framework = asked(['test', 'framework', 'selection'], [0]);
  expect(laterOf(framework, asked(['approach', 'unit', 'test', 'correction'], [0]))).toBe(
    'old 0.9',
  );
  const offers = asked(['memory', 'bank', 'offers', 'different', 'modes'], [0, 1]);
  expect(laterOf(offers, asked(['all', 'templates', 'memory', 'bank'], [0, 1]))).toBe('old 0.9');
  const lifetime = asked(['session', 'lifetime', 'hours'], [0, 1]);
  expect(laterOf(lifetime, asked(['lifetime', 'of', 'session', 'days'], [0, 1]))).toBe(
    'old 0.9 new',
  );
});
