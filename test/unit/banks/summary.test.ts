import { describe, expect, it } from 'vitest';
import { withinBudget } from '../../../src/toolsets/banks/budget.ts';
import { bytesOf, firstSentence, summarize } from '../../../src/toolsets/banks/summary.ts';

const text = `# Parser

The parser reads invoices. It was written in a hurry.

## Tokens

Tokens are made by the lexer. A cat sat there. The lexer keeps tokens in a ring.

\`\`\`ts
const hidden = 'code is left out';
# not a heading
\`\`\`

## Empty

## History

- 2025-01-02: written
- 2025-03-04: the lexer was split from the parser
`;

describe('summarize', () => {
  it('returns a text that fits as it is', () => {
    expect(summarize(text, bytesOf(text))).toBe(text);
  });

  it('keeps what opens a section, what came last and what the text keeps speaking of', () => {
    expect(summarize(text, 215)).toBe(`# Parser
The parser reads invoices.
## Tokens
Tokens are made by the lexer.
The lexer keeps tokens in a ring.
## History
- 2025-01-02: written
- 2025-03-04: the lexer was split from the parser`);
  });

  it.each([0, 1, 10, 40, 100, 200])('never takes more than %i bytes', (limit) => {
    expect(bytesOf(summarize(text, limit))).toBeLessThanOrEqual(Math.max(limit, 2));
  });

  it('finds sentences in scripts without spaces', () => {
    const japanese =
      '最初の文です。二番目の文です。三番目の文です。四番目の文です。五番目の文です。';
    const summary = summarize(japanese, 60);
    expect(summary).not.toBe('');
    for (const line of summary.split('\n')) expect(japanese).toContain(line);
  });

  it('keeps sections with the same heading apart', () => {
    const log = '## Entry\n\nThe lexer moved. It is ok. So it goes.\n\n'.repeat(2);
    expect(summarize(log, 85)).toBe(
      '## Entry\nThe lexer moved.\n## Entry\nThe lexer moved.\nIt is ok.\nSo it goes.',
    );
  });

  it('takes list items and table rows as they are, and the words of a quote', () => {
    const text = `- one\n  goes on\n  - two\n\n> said\n> here\n\n| a | b |\n|---|---|\n| c | d |\n\n${'```\ncode\n```\n'.repeat(9)}`;
    expect(summarize(text, 80)).toBe('- one goes on\n- two\nsaid here\n| a | b |\n| c | d |');
  });

  it('copes with one endless line', () => {
    const summary = summarize('word '.repeat(20_000), 500);
    expect(summary).toMatch(/^word word.*…$/);
    expect(bytesOf(summary)).toBeLessThanOrEqual(500);
  });

  it('copes with a code block that is never closed', () => {
    expect(summarize(`# A\n\nTold.\n\n\`\`\`\n${'code\n'.repeat(500)}`, 100)).toBe('# A\nTold.');
  });
});

describe('firstSentence', () => {
  it('skips front matter', () => {
    expect(firstSentence('---\n# theme\n\nlayout: page. Two.\n---\n\nOne. Two.\n', 50)).toBe(
      'One.',
    );
  });

  it('skips headings and list marks', () => {
    expect(firstSentence('# A\n\n## B\n\n- One. Two.\n', 50)).toBe('One. Two.');
    expect(firstSentence('# A\n\nOne. Two.\n', 50)).toBe('One.');
    expect(firstSentence('# A\n', 50)).toBe('');
  });
});

describe('withinBudget', () => {
  const part = (name: string, size: number) => ({
    name,
    text: `${name} says something. `.repeat(size / 20),
  });

  it('gives everything whole when it fits', () => {
    const { content, summaries } = withinBudget([part('b', 100), part('a', 100)], 1_000);
    expect(Object.keys(content)).toEqual(['a', 'b']);
    expect(summaries).toEqual({});
  });

  it('prefers the first to be whole', () => {
    const parts = [part('new', 2_000), part('old', 2_000), part('small', 40)];
    const { content, summaries } = withinBudget(parts, 3_500);
    expect(Object.keys(content)).toEqual(['new', 'small']);
    expect(Object.keys(summaries)).toEqual(['old']);
  });

  it('gives as much as there is room for of a first one that is too large by itself', () => {
    const { content, summaries } = withinBudget([part('new', 9_000), part('old', 1_000)], 3_000);
    expect(bytesOf(summaries.new)).toBeGreaterThan(100);
    expect(bytesOf(content) + bytesOf(summaries)).toBeLessThanOrEqual(3_000);
  });
});
