import { describe, expect, test } from 'vitest';
import { type Hit, SearchIndex } from '../../../src/store/search/index.ts';

function hitOf(body: string, query: string, fuzzy = true): Hit | undefined {
  const index = new SearchIndex();
  index.upsert({ id: 'a.md', fields: { title: 'Log', body, markdown: true, notes: 'a.md' } });
  return index.search(query, { fuzzy }).hits[0];
}

const log = `---
topic: database
---

# Log

## [Decision Title] - [Date]

### Which database

## Database

Superseded by the decision below.

We use the database MySQL for orders.

## Database for orders

We use the database Postgres for orders. It has transactions.

## Queue

- Jobs wait in Redis.
- Database jobs run at night, after the backup.
`;

describe('a passage of markdown', () => {
  test('is from one section, and names it with its lines', () => {
    expect(hitOf(log, 'night backup')).toMatchObject({
      section: 'Log > Queue',
      lines: [21, 24],
      snippet: '- Jobs wait in Redis. - Database jobs run at night, after the backup.',
    });
  });

  test('is from the decision that replaces another, not from a template', () => {
    expect(hitOf(log, 'which database')?.section).not.toMatch(/Decision Title/);
    expect(hitOf(log, 'database orders')).toMatchObject({
      section: 'Log > Database for orders',
      snippet: 'We use the database Postgres for orders. It has transactions.',
    });
  });

  test('is from the later of two equal decisions if the earlier says that it is superseded', () => {
    const decision = (name: string, status: string) =>
      `## Database for orders\n\nStatus: ${status}\n\nWe use ${name}.\n\n`;
    const [old, next] = [decision('MySQL', 'superseded'), decision('Postgres', 'accepted')];
    const hit = hitOf(`# Log\n\n${old}${next}`, 'database orders');
    expect(hit?.section).toBe('Log > Database for orders (2)');
    expect(hit?.snippet).toContain('Postgres');
  });

  test('is from a section with an underlined heading', () => {
    const text =
      'Log\n===\n\nDatabase\n--------\n\nWe use Postgres.\n\nQueue\n-----\n\nWe use Redis.\n';
    expect(hitOf(text, 'redis queue')).toMatchObject({
      section: 'Log > Queue',
      lines: [9, 12],
      snippet: 'We use Redis.',
    });
  });

  test('does not begin with front matter, not even if only that matches', () => {
    const text = '---\ntopic: marten\nowner: weasel\n---\nWe use Postgres.\n';
    for (const query of ['marten', 'owner weasel', 'postgres']) {
      expect(hitOf(text, query)?.snippet).toBe('We use Postgres.');
    }
  });

  test('does not begin with front matter', () => {
    for (const query of ['topic database', 'topic']) {
      expect(hitOf(log, query)?.snippet).toMatch(/^\w+/);
      expect(hitOf(log, query)?.snippet).not.toContain('topic:');
    }
  });

  test('of a literal match does not cross a heading either', () => {
    expect(hitOf(log, 'It has trans', false)).toMatchObject({
      section: 'Log > Database for orders',
      snippet: 'We use the database Postgres for orders. It has transactions.',
    });
  });

  test('has no section where the text has no heading', () => {
    const hit = hitOf('The cache is warm.', 'cache');
    expect(hit).toEqual(expect.objectContaining({ snippet: 'The cache is warm.' }));
    expect(hit).not.toHaveProperty('section');
    expect(hit).not.toHaveProperty('lines');
  });

  test('prefers a whole word to a part of one', () => {
    const body = '## A\n\nWe take option5 here.\n\n## B\n\nThe limit is 5 here.\n';
    expect(hitOf(body, '5')?.section).toBe('B');
  });
});

describe('a log of 21 decisions', () => {
  const decisions = Array.from({ length: 21 }, (_, at) => {
    if (at === 4)
      return '## Session store\n\nStatus: superseded by Session store, again\n\nSessions are kept in Memcached.';
    if (at === 17) return '## Session store, again\n\nSessions are kept in Postgres.';
    return `## Topic ${at}\n\nTopic ${at} is solved with tool${at}x.`;
  });
  const body = `# Decision Log\n\n${decisions.join('\n\n')}\n`;

  test('answers with the decision that holds, then names the one that it replaces', () => {
    const hit = hitOf(body, 'where are sessions kept, session store');
    expect(hit?.section).toBe('Decision Log > Session store, again');
    expect(hit?.snippet).toContain('Postgres');
    expect(hit?.also).toEqual(['Decision Log > Session store']);
  });

  test('answers with the decision where its context or its options have the words', () => {
    const text =
      '# Filenames\n\n## Context and Problem Statement\n\nWhat is the pattern of a file?\n\n## Considered Options\n\n* Names with blanks\n* Names with dashes\n\n## Decision Outcome\n\nChosen: names with dashes.\n';
    expect(hitOf(text, 'pattern of a file')).toMatchObject({
      section: 'Filenames > Decision Outcome',
      snippet: 'Chosen: names with dashes.',
      also: ['Filenames > Context and Problem Statement'],
    });
    expect(hitOf(text, 'names dashes blanks')?.section).toBe('Filenames > Decision Outcome');
    expect(hitOf(text, 'blanks')).toMatchObject({
      section: 'Filenames > Decision Outcome',
      snippet: 'Chosen: names with dashes.',
      rejected: { label: 'considered', text: 'Names with blanks; Names with dashes' },
    });
    expect(hitOf(text.replace('Decision Outcome', 'Else'), 'pattern of a file')?.section).toBe(
      'Filenames > Context and Problem Statement',
    );
  });

  test('shows the decision of a list for its context, each with its own', () => {
    const entry = (question: string, answer: string) =>
      `- **Context:** ${question} ${'It took us many hours to find that out. '.repeat(5)}\n- **Decision:** ${answer}\n`;
    const text = `# Log\n\n## Week\n\n${entry('Where do otters sleep?', 'In holts.')}${entry('What do voles eat?', 'Grass.')}`;
    expect(hitOf(text, 'where otters sleep')?.snippet).toContain('In holts.');
    expect(hitOf(text, 'what voles eat')?.snippet).toContain('Grass.');
  });

  test('is not from a long section only because sub-sections have the words', () => {
    const filler = 'Some other words are here. '.repeat(60);
    const text = `# Guide\n\nAn introduction.\n\n## One\n\n${filler}\n\n## Two\n\nOtters sleep in holts.\n`;
    expect(hitOf(text, 'otters sleep')).toMatchObject({
      section: 'Guide > Two',
      snippet: 'Otters sleep in holts.',
    });
  });

  test('is one hit, and names few other sections', () => {
    const hit = hitOf(body, 'topic solved');
    expect(hit?.also).toHaveLength(3);
    expect(hit?.also).not.toContain(hit?.section);
    expect(hitOf(body, 'tool7x')?.also).toBeUndefined();
  });
});
