import { describe, expect, test } from 'vitest';
import type { SearchFields } from '../../../src/core/record/record-type.ts';
import { type Hit, SearchIndex } from '../../../src/store/search/index.ts';

function hitOf(fields: string | Partial<SearchFields>, query: string, fuzzy = true): Hit {
  const given = typeof fields === 'string' ? { body: fields, markdown: true } : fields;
  const index = new SearchIndex();
  index.upsert({ id: 'a.md', fields: { title: 'Log', ...given } });
  const [hit] = index.search(query, { fuzzy }).hits;
  if (!hit) throw new Error(`nothing was found for ${query}`);
  return hit;
}

const log = `# Decision Log

## Use Tailwind - 2026-01-01

### Context

The CSS grew without order.

### Decision

Style components with Tailwind.

### Alternatives Considered

- CSS modules
- styled-components

### Consequences

- Longer class names

### Evidence

- \`src/styles.ts:4-9\` <!-- 6-0f3a0f3a0f3a0f3a -->

## Store data in SQLite - 2026-01-02

### Context

Every user has data of their own.

### Decision

SQLite, one file for each user.

### Alternatives Considered

- Postgres
- DuckDB

### Consequences

None
`;

describe('a hit in a decision', () => {
  test.each([true, false])(
    'has its heading, also if the log has no other one: fuzzy %s',
    (fuzzy) => {
      const heading = 'Use Tailwind - 2026-01-01';
      const only = log.slice(0, log.indexOf('## Store data'));
      for (const text of [log, only]) expect(hitOf(text, 'Tailwind', fuzzy).entry).toBe(heading);
      const undated = only.replace(' - 2026-01-01', '');
      expect(hitOf(undated, 'Tailwind', fuzzy)).not.toHaveProperty('entry');
    },
  );

  test.each(['consequences of SQLite', 'why SQLite', 'none'])(
    'says nothing of a section that says nothing: %s',
    (query) => {
      const hit = hitOf(log, query);
      expect(hit.section ?? '').not.toContain('Consequences');
      expect(JSON.stringify([hit.snippet, hit.reason, hit.rejected])).not.toContain('None');
    },
  );

  test('shows a value that is none', () => {
    expect(hitOf({ title: 'proxy', body: 'None' }, 'proxy').snippet).toBe('None');
    const text = '## Pay\n\n**Decision:** Cents.\n\n**Consequences:** None\n';
    expect(hitOf(text, 'consequences cents').reason).toBeUndefined();
  });

  test('shows the decision where its alternatives have the words', () => {
    expect(hitOf(log, 'CSS framework')).toMatchObject({
      snippet: 'Style components with Tailwind.',
      rejected: { label: 'not chosen', text: 'CSS modules; styled-components' },
    });
    expect(hitOf(log, 'which database')).toMatchObject({
      snippet: 'SQLite, one file for each user.',
      rejected: { label: 'not chosen', text: 'Postgres; DuckDB' },
    });
  });

  test('shows the reason only where the answer does not have the words', () => {
    expect(hitOf(log, 'CSS order')).toMatchObject({
      snippet: 'Style components with Tailwind.',
      reason: { label: 'context', text: 'The CSS grew without order.' },
    });
    const hit = hitOf(log, 'tailwind components');
    expect(hit.reason).toBeUndefined();
    expect(hit.rejected).toBeUndefined();
  });

  test('shows the reason for a question for it, whatever its words', () => {
    for (const query of [
      'why tailwind',
      'warum Tailwind?',
      'pourquoi tailwind',
      '为什么 tailwind',
    ]) {
      expect(hitOf(log, query)).toMatchObject({
        snippet: 'Style components with Tailwind.',
        reason: {
          label: 'context',
          text: 'The CSS grew without order; consequences: - Longer class names',
        },
      });
    }
    expect(hitOf(log, 'tailwind').reason).toBeUndefined();
  });

  test('shows the section that gives reasons to a question for one', () => {
    const body =
      '# Bun\n\n## Motivation\n\nBun starts faster.\n\n## Steps\n\nBun is in the scripts. Bun runs the tests.\n';
    const long = body + '\n## Other\n\nNothing else is here.\n'.repeat(50);
    expect(hitOf(long, 'why bun').section).toBe('Bun > Motivation');
    expect(hitOf(long, 'bun').section).toBe('Bun > Steps');
  });

  test('shows what is said about a short decision in the room that it leaves', () => {
    const body = `## Plugins

**Decision:** A system of plugins
- **Rationale:** Small core
- **Implementation:** JSON messages
- **Owners:** Team of plugins

## Other

Text
`;
    expect(hitOf(body, 'plugins owners').snippet).toContain('A system of plugins … ');
    expect(hitOf(body, 'plugins owners').snippet).toContain('**Owners:** Team of plugins');
    expect(hitOf(body, 'system').snippet).toContain('**Implementation:** JSON messages');
    expect(hitOf(body, 'system').snippet).not.toContain('Small core');
  });

  test('is shown with the beginning of a long one, both cut if they do not fit', () => {
    const opening = `We adopt Kafka for ${'all of the services '.repeat(7)}of ours.`;
    const filler = 'Nothing of interest is in this sentence. '.repeat(8);
    const later = `Consumers commit offsets ${'after each of the batches '.repeat(6)}only.`;
    const { snippet } = hitOf(
      `## Bus\n\n### Decision\n\n${opening} ${filler}${later}\n`,
      'offsets',
    );
    expect(snippet).toMatch(/^We adopt Kafka .* … Consumers commit offsets .*…$/);
    expect(snippet.length).toBeLessThan(250);
  });

  test('never shows evidence', () => {
    const { snippet, reason, rejected } = hitOf(log, 'src styles.ts');
    expect(snippet).toBe('Style components with Tailwind.');
    expect([reason, rejected]).toEqual([undefined, undefined]);
    expect(hitOf(log, 'src/styles.ts', false).snippet).toBe('Style components with Tailwind.');
  });

  test('found literally shows the same', () => {
    expect(hitOf(log, 'styled-comp', false)).toMatchObject({
      snippet: 'Style components with Tailwind.',
      rejected: { text: 'CSS modules; styled-components' },
    });
  });
});

describe('a decision of another maker', () => {
  const madr = `---
status: accepted
---
# Use Kafka

## Context and Problem Statement

Services need a broker.

## Considered Options

* RabbitMQ
* Kafka (chosen)

## Decision Outcome

Chosen option: "Kafka", because it keeps messages.

### Consequences

* Bad, because of operations

## Pros and Cons of the Options

### RabbitMQ

* Good, because it is mature
`;

  test('has its parts by the headings of MADR', () => {
    const snippet = 'Chosen option: "Kafka", because it keeps messages.';
    expect(hitOf(madr, 'rabbitmq')).toMatchObject({
      snippet,
      state: 'accepted',
      rejected: { label: 'considered', text: 'RabbitMQ' },
    });
    expect(hitOf(madr, 'mature')).toMatchObject({
      snippet,
      rejected: { label: 'considered', text: 'RabbitMQ; Good, because it is mature' },
    });
    expect(hitOf(madr, 'operations')).toMatchObject({
      snippet,
      reason: { label: 'consequences', text: '* Bad, because of operations' },
    });
  });

  test.each([
    ['## Status\n\nSuperseded by [ADR-0009](0009.md)', 'Superseded by ADR-0009'],
    ['## Status\n\nRejected', 'Rejected'],
    ['**Status:** Deprecated', 'Deprecated'],
    ['Status: proposed', 'proposed'],
  ])('shows its state: %j', (status, state) => {
    const text = `# 5. Use Kafka\n\nDate: 2024-01-01\n\n${status}\n\n## Decision\n\nWe use Kafka.\n`;
    expect(hitOf(text, 'kafka')).toMatchObject({ snippet: 'We use Kafka.', state });
  });

  test.each([
    ['Kontext', 'Entscheidung', 'Verworfene Alternativen'],
    ['Contexte', 'Décision', 'Alternatives envisagées'],
    ['Contexto', 'Decisión', 'Alternativas descartadas'],
    ['Contexto', 'Decisão', 'Alternativas consideradas'],
    ['背景', '决策', '备选方案'],
    ['背景', '決定', '代替案'],
  ])('has its parts by headings in %s', (context, decision, alternatives) => {
    const text = `# Log\n\n## Store\n\n### ${context}\n\nwhy1\n\n### ${decision}\n\nsqlite1\n\n### ${alternatives}\n\n- postgres1\n`;
    expect(hitOf(text, 'postgres1')).toMatchObject({
      snippet: 'sqlite1',
      rejected: { label: 'not chosen', text: 'postgres1' },
    });
    expect(hitOf(text, 'why1')).toMatchObject({ snippet: 'sqlite1', reason: { text: 'why1' } });
    const labels = `${decision}：sqlite1\n${alternatives}：postgres1\n${context}：why1\n`;
    expect(hitOf(labels, 'postgres1')).toMatchObject({
      snippet: 'sqlite1',
      rejected: { text: 'postgres1' },
    });
  });

  test('can follow others below one heading', () => {
    const one = (name: string) =>
      `## Decision\n\n- Use ${name}\n\n## Rationale\n\n- ${name} is quick${name}\n\n## Implementation Details\n\n- Install ${name}\n\n`;
    const text = `# Decision Log\n\n${one('alpha')}${one('beta')}`;
    expect(hitOf(text, 'quickbeta')).toMatchObject({
      snippet: '- Use beta',
      reason: { label: 'why', text: '- beta is quickbeta' },
    });
  });

  test('can be the row of a table', () => {
    const text =
      '# Log\n\n| Date | Decision | Rationale | Alternatives |\n|---|---|---|---|\n| 2024 | Use git | It is there | svn, cvs |\n| 2025 | Use npm | It is known | yarn |\n';
    expect(hitOf(text, 'svn')).toMatchObject({
      snippet: 'Use git',
      rejected: { label: 'not chosen', text: 'svn, cvs' },
    });
    expect(hitOf(text, 'known')).toMatchObject({
      snippet: 'Use npm',
      reason: { text: 'It is known' },
    });
  });
});

describe('a hit in fields', () => {
  const entry = {
    title: 'cache',
    body: 'Use an LRU.',
    reason: 'Phones are small.',
    notes: 'Seen in May.',
  };

  test('shows the value, and the reason or context with the words', () => {
    expect(hitOf(entry, 'phones')).toMatchObject({
      snippet: 'Use an LRU.',
      reason: { label: 'why', text: 'Phones are small.' },
    });
    expect(hitOf(entry, 'may')).toMatchObject({
      snippet: 'Use an LRU.',
      reason: { text: 'Seen in May.' },
    });
    expect(hitOf(entry, 'cache').reason).toBeUndefined();
  });

  test('shows the state of a record, and no bookkeeping', () => {
    const roles = { body: 'answer', reason: 'reason', notes: 'bookkeeping' } as const;
    const hit = hitOf({ ...entry, state: 'in_progress', roles }, 'seen');
    expect(hit).toMatchObject({ snippet: 'Use an LRU.', state: 'in_progress' });
    expect(hit.reason).toBeUndefined();
  });
});

describe('bad input', () => {
  const decision = '### Decision\n\nSQLite it is.';
  const rejected = '### Alternatives Considered\n\n- Postgres';

  test.each([
    ['out of order', `${rejected}\n\n${decision}\n\n### Context\n\nData.`],
    ['doubled', `${decision}\n\n${rejected}\n\n${decision}\n\n${rejected}`],
    [
      'with a heading in a block of code',
      `${decision}\n\n\`\`\`sh\n### Decision\nuse x\n\`\`\`\n\n${rejected}`,
    ],
  ])('a decision with its parts %s', (_, parts) => {
    expect(hitOf(`# Log\n\n## Store\n\n${parts}\n`, 'postgres')).toMatchObject({
      snippet: expect.stringMatching(/^SQLite it is\./),
      rejected: { label: 'not chosen', text: 'Postgres' },
    });
  });

  test('a log without a decision part shows the heading, and what was rejected as such', () => {
    expect(hitOf(`# Log\n\n## Store in SQLite\n\n${rejected}\n`, 'postgres')).toMatchObject({
      snippet: 'Store in SQLite',
      rejected: { label: 'not chosen', text: 'Postgres' },
    });
    expect(hitOf('# Log\n\n## Store\n\nWe keep files.\n', 'store').snippet).toBe('We keep files.');
  });

  test('a heading without a text is not an answer', () => {
    const below = '# Guide\n\n## Storage\n\n- `src/db.ts:1` <!-- 1-0123456789abcdef -->\n';
    expect(hitOf(`${below}\n### Format\n\nOne JSON object a line.\n`, 'storage')).toMatchObject({
      section: 'Guide > Storage',
      snippet: 'One JSON object a line.',
    });
    expect(hitOf(`${below}\n## Colours\n\nBlue.\n`, 'storage').snippet).toBe('');
    expect(hitOf('# Empty log\n\n| Date | Decision |\n| --- | --- |\n', 'log').snippet).toBe('');
  });

  test('a heading without a text below a decision is shown only if it is the decision', () => {
    const decided = '## Cache\n\n### Context\n\nReads are slow.\n\n### Decision\n\n';
    expect(hitOf(`# Log\n\n${decided}#### Redis\n\n#### A day\n`, 'cache').snippet).toBe(
      'Redis A day',
    );
    const hit = hitOf(`# Log\n\n${decided}#### Notes\n\n#### Store\n\nRedis.\n`, 'cache');
    expect(hit.snippet).toBe('Store Redis.');
  });

  test('a decision of a log does not have the state that an earlier one names', () => {
    const earlier =
      '## Use Redis - 2026-01-01\n\nRedis holds sessions.\n\n```yaml\nstatus: draft\n```\n';
    const later = '## Use a queue - 2026-01-02\n\nA queue in SQLite.\n';
    const hit = hitOf(`# Log\n\n${earlier}\n${later}`, 'queue');
    expect(hit).toMatchObject({ section: 'Log > Use a queue - 2026-01-02' });
    expect(hit.state).toBeUndefined();
  });

  test('a heading of a part in a block of code divides nothing', () => {
    const text = '# Log\n\n## Store\n\n### Decision\n\n```md\n**Alternatives:** Postgres\n```\n';
    const hit = hitOf(text, 'postgres');
    expect(hit.snippet).toContain('Postgres');
    expect(hit.snippet).not.toContain('```');
    expect(hit.rejected).toBeUndefined();
  });

  test('a value of one emoji', () => {
    expect(hitOf({ title: 'party', body: '🎉' }, 'party').snippet).toBe('🎉');
  });

  test('an answer that is a table, a block of code or a long list', () => {
    const table = '| Key | Value |\n|---|---|\n| port | 8080 |\n| host | local |\n';
    expect(hitOf({ title: 'settings', body: table }, 'port').snippet).toContain('port | 8080');
    expect(hitOf({ title: 'settings', body: table }, 'port').snippet).not.toContain('---');
    const code = '```ts\nconst retries = 3;\n```\n';
    expect(hitOf({ title: 'retry', body: code }, 'retry').snippet).toBe('const retries = 3;');
    const list = Array.from({ length: 200 }, (_, at) => `- item${at} has colour${at}x`).join('\n');
    const hit = hitOf({ title: 'colours', body: list }, 'colours');
    expect(hit.snippet).toMatch(/^- item0 has colour0x - item1 .*…$/);
    expect(hit.snippet.length).toBeLessThan(170);
    expect(hitOf({ title: 'colours', body: list }, 'colour150x').snippet).toContain('item150');
  });

  test('two passages answer different words', () => {
    const filler = 'Other words are between these two places of the text. '.repeat(20);
    const body = `Otters sleep in holts. ${filler}Voles eat grass. ${filler}`;
    expect(hitOf({ title: 'Log', body }, 'otters voles').snippet).toBe(
      'Otters sleep in holts. … Voles eat grass.…',
    );
  });

  test('a line that announces a list is shown with its first items', () => {
    const filler = 'Nothing of interest is in this sentence. '.repeat(12);
    const body = `## D\n\n### Decision\n\nWe check access.\n\n${filler}\n\nThe roles are:\n\n1. judge\n2. team member\n\n${filler}`;
    expect(hitOf(body, 'roles').snippet).toBe(
      'We check access. … The roles are: 1. judge 2. team member…',
    );
  });

  test('the number of an item is no sentence', () => {
    const items = Array.from({ length: 20 }, (_, at) => `${at + 1}. The word${at} is here`);
    const { snippet } = hitOf({ title: 'Log', body: items.join('\n') }, 'word9');
    expect(snippet).toContain('10. The word9 is here');
    expect(snippet).not.toMatch(/\d\.…?$/);
  });

  test('a match far from the others is found next to its own word', () => {
    const filler = '- this item stores the common word of all\n'.repeat(6);
    const body = `${filler}- parser: a library with a common word\n${filler}`;
    expect(hitOf({ title: 'Log', body }, 'common word parser').snippet).toContain(
      'parser: a library',
    );
  });

  test('a text that is too long for an outline', () => {
    const filler = '## Other\n\nSome other words are here.\n\n'.repeat(8000);
    const text = `# Log\n\n${filler}## Store\n\n${decision}\n\n${rejected}\n\n## Next\n\nElse.\n`;
    expect(text.length).toBeGreaterThan(256 * 1024);
    const hit = hitOf(text, 'postgres');
    expect(hit.snippet).toBe('SQLite it is.');
    expect(hit.rejected?.text).toBe('Postgres');
  });
});
