import { expect, test } from 'vitest';
import { answerIn, decisionIn } from '../../src/core/declarations/answer-text.ts';
import { answerLine, changeText, hitText, reportHit } from '../../src/core/memory/hit-form.ts';
import { shownTitle } from '../../src/core/values/shown-title.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';

const at = '2026-01-31T10:00:00.000Z';
const shown = {
  snippet: 'SQLite.',
  reason: { label: 'context', text: 'Users have data.' },
  rejected: { label: 'not chosen', text: 'Postgres' },
  state: 'superseded',
  changed: { at, by: 'claude-code', maker: 'agent' },
  section: 'Log > Store data',
} as const;

test.each([
  [{ at, by: 'claude-code', maker: 'agent' }, '2026-01-31 by claude-code (agent), not confirmed'],
  [{ at, by: 'c', maker: 'agent', confirmed: 'verification' }, '2026-01-31 by c (agent), verified'],
  [
    { at, by: 'c', maker: 'agent', confirmed: 'review' },
    '2026-01-31 by c (agent), confirmed by a review',
  ],
  [{ at, by: 'Ada', maker: 'person' }, '2026-01-31 by Ada (person)'],
  [{ at, by: 'Ada', maker: 'git' }, '2026-01-31 by Ada (git)'],
  [
    {
      at,
      by: 'c',
      maker: 'agent',
      confirmed: 'verification',
      verifier: { by: 'Ada', maker: 'person' },
    },
    '2026-01-31 by c (agent), verified by Ada (person)',
  ],
  [{ at, isLatest: true, by: '', maker: 'git' }, '2026-01-31 or before'],
  [{ by: '', maker: 'person' }, 'not committed yet'],
] as const)('a change %j is %s', (change, text) => {
  expect(changeText(change)).toBe(text);
});

test('a hit is the same text everywhere', () => {
  expect(hitText(shown)).toBe(
    'Log > Store data\nsuperseded · 2026-01-31 by claude-code (agent), not confirmed\nSQLite.\ncontext: Users have data.\nnot chosen: Postgres',
  );
  expect(answerLine('Store data', shown)).toBe('Store data: SQLite.');
  expect(answerLine('', shown)).toBe('SQLite.');
  expect(answerLine('SQLite.', shown)).toBeUndefined();
  const value = {
    category: 'patterns' as const,
    key: 'store',
    value: 'x',
    created_at: at,
    updated_at: at,
  };
  const found = { type: entryRecord, key: 'patterns/store', path: 'a.md', score: 1, matches: [] };
  const fields = entryRecord.search(value);
  expect(reportHit({ ...found, value, fields, ...shown })).toMatchObject({
    title: fields.title,
    changed: '2026-01-31 by claude-code (agent), not confirmed',
    state: 'superseded',
    snippet: 'SQLite.',
    reason: 'Users have data.',
    not_chosen: 'Postgres',
  });
});

test('a title of 2 kB is cut inside no character', () => {
  expect(shownTitle('Store data')).toBe('Store data');
  const title = shownTitle(`x${'🦦'.repeat(500)}`);
  expect(title.length).toBeLessThanOrEqual(201);
  expect(title).toMatch(/^x(?:🦦)+…$/u);
});

const log = `# Decision Log

## Decision

- Use npm

## Rationale

- It is known

## Alternatives

- yarn

## Store data - 2026-01-31

### Alternatives Considered

- Postgres

### Decision Outcome

SQLite.
`;

test('the statements of a decision log are its decisions', () => {
  const points = memoryFile.points?.({ path: 'decisionLog.md', content: log }) ?? [];
  expect(points).toEqual([
    {
      part: 'decision',
      text: 'Store data: SQLite.',
      at: '2026-01-31',
      section: 'Decision Log > Store data - 2026-01-31',
    },
    { part: 'decision', text: 'Decision: - Use npm', section: 'Decision Log > Decision' },
  ]);
  const record =
    '# Use Kafka\n\nDate: 2024-01-01\n\n## Context\n\nx\n\n## Decision\n\nWe use Kafka.\n';
  expect(memoryFile.points?.({ path: 'adr/5.md', content: record })).toEqual([
    { part: 'about', text: 'Use Kafka: We use Kafka.' },
  ]);
});

test('a text without a decision is its own answer', () => {
  expect(decisionIn('# Guide\n\nRead this.\n')).toBeUndefined();
  expect(answerIn('# Guide\n\nRead this.\n\n## More\n\nAnd that.\n')).toBe('Read this.');
  expect(answerIn('')).toBe('');
  expect(answerIn('Use npm.\n\n**Alternatives:** yarn\n')).toBe('Use npm.');
});
