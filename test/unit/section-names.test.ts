import { describe, expect, test } from 'vitest';
import { readSection } from '../../src/core/markdown/section-argument.ts';
import { SectionNames } from '../../src/core/markdown/section-names.ts';
import { withoutDate } from '../../src/core/markdown/title-date.ts';

const log = `# Decision Log

## Sign-in - 2026-01-31

### Context

Passwords leak.

## Rename \`snake_case\` to *camelCase* - 2026-02-01

Because.

## Caching - 2026-02-02

First.

## Caching - 2026-03-02

Second.

## Sign-out - 2026-03-03

### Context

Shared computers.

## Deployment in regions - 2026-03-04

## Retry policy - 2026-03-05
`;
const found = (wanted: string, text = log) => new SectionNames(text).find(wanted)?.path;
const refused = (wanted: string, text = log) => {
  try {
    new SectionNames(text).at(wanted, 'not_found');
  } catch (error) {
    return Object(error);
  }
  return undefined;
};

test.each([
  'Sign-in - 2026-01-31',
  'Sign-in (2026-01-31)',
  'Sign-in - [2026-01-31 10:20:30]',
  'Sign-in – 2026-01-31T10:20',
  '[2026-01-31] Sign-in',
  '[2026-01-31 10:20:30] - Sign-in',
  '2026-01-31: Sign-in',
  '2026-01-31 - Sign-in',
  'Sign-in',
])('the title of "%s" is "Sign-in"', (heading) => {
  expect(withoutDate(heading)).toBe('Sign-in');
  const text = `# Log\n\n## Other\n\n## ${heading}\n\nIt is decided.\n`;
  expect(found('sign-in', text)).toBe(`Log > ${heading}`);
});

test('a heading that is only a date keeps it', () => {
  for (const heading of ['2026-01-31', '[2026-01-31]', '10 - 2026-01-31 rules']) {
    expect(withoutDate(heading)).toBe(heading);
  }
});

describe('a section', () => {
  test('is found by its title without date, inline markdown, case and the marks of a heading', () => {
    const rename = 'Decision Log > Rename `snake_case` to *camelCase* - 2026-02-01';
    for (const one of ['rename snake_case to camelCase', '## Rename `snake_case` to *camelCase*']) {
      expect(found(one)).toBe(rename);
    }
    expect(found('Sign-out > Context')).toBe('Decision Log > Sign-out - 2026-03-03 > Context');
    expect(found('decision log > sign-out')).toBe('Decision Log > Sign-out - 2026-03-03');
  });

  test('whose title others have is not found, and the error names them, the newest first', () => {
    expect(found('Caching')).toBeUndefined();
    expect(refused('Caching')).toMatchObject({
      code: 'not_found',
      message: 'There are 2 sections "Caching".',
      hint: 'Give one with its date, or its whole path: "Decision Log > Caching - 2026-03-02", "Decision Log > Caching - 2026-02-02".',
    });
    // The date that is given has to be that of the section.
    expect(found('Caching - 2026-02-03')).toBeUndefined();
    expect(found('Caching - 2026-02-02')).toBe('Decision Log > Caching - 2026-02-02');
  });

  test('that does not exist gives an error with the five nearest', () => {
    const { hint } = refused('retry polices');
    expect(hint).toMatch(
      /^The nearest of its 10 sections are: "Decision Log > Retry policy - 2026-03-05", /,
    );
    expect(hint.match(/"/g)).toHaveLength(10);
    expect(refused('Singing in').hint).toMatch(/: "Decision Log > Sign-in - 2026-01-31"/);
    expect(refused('x', '# A\n\n## B\n').hint).toBe('The sections are: "A", "A > B".');
    expect(refused('x', 'text').hint).toBe('The text has no headings.');
    const chinese = Array.from({ length: 8 }, (_, at) => `## 决定${at}\n`).join('\n');
    expect(refused('登录方式', `${chinese}\n## 用户登录 - 2026-01-31\n`).hint).toMatch(
      /: "用户登录/,
    );
  });

  test('is found in a text of thousands of sections, and the error is short', () => {
    const many = Array.from({ length: 1_500 }, (_, at) => `## Context ${at % 7} - 2026-01-31\n`);
    const text = `# Log\n\n${many.join('\n')}\n## ${'Long '.repeat(400)}\n`;
    const { text: refusal } = refused(`Contexts ${'x'.repeat(1500)}`, text);
    expect(refusal.length).toBeLessThan(2_000);
    expect(readSection(text, 'context-3---2026-01-31-100')).toMatch(/^## Context 3/);
  });

  test('in code is not one', () => {
    expect(found('Sign-in', '```\n## Sign-in - 2026-01-31\n```\n')).toBeUndefined();
  });
});
