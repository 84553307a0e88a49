import { describe, expect, test } from 'vitest';
import { memoryLinks } from '../../src/core/evidence/memory-links.ts';
import { saysTheSame } from '../../src/core/evidence/statement.ts';
import { withoutLines } from '../../src/core/markdown/list-entries.ts';
import { annotated, annotationsAt, Sections } from '../../src/core/markdown/section-statements.ts';
import { parseAddress } from '../../src/core/names/record-address.ts';

const log = `# Decision Log

## Use polling - 2026-01-31

Every second.

## Use [events] \`now\`! - 2026-02-28

### Context

Polling is slow.

## Use polling - 2026-01-31

Again.
`;
const path = 'decisionLog.md';
const address = (text: string, wanted: string) => {
  const sections = new Sections(path, text);
  const found = sections.find(wanted);
  return found && sections.addressOf(found);
};

describe('an address', () => {
  test('is a path, with the heading of a section after the name of a markdown file', () => {
    expect(parseAddress('a/b.md#C # D')).toEqual({ path: 'a/b.md', section: 'C # D' });
    expect(parseAddress('a/b.md')).toEqual({ path: 'a/b.md' });
    expect(parseAddress('a/b.yaml#c')).toEqual({ path: 'a/b.yaml#c' });
    expect(parseAddress('a.md#  ')).toEqual({ path: 'a.md#  ' });
  });

  test('finds a section by its heading, its path, its anchor and its title', () => {
    const polling = 'decisionLog.md#Use polling - 2026-01-31';
    for (const one of ['use POLLING - 2026-01-31', 'use-polling---2026-01-31']) {
      expect(address(log, one)).toBe(polling);
    }
    const second = 'decisionLog.md#Use polling - 2026-01-31 (2)';
    expect(address(log, 'use-polling---2026-01-31-1')).toBe(second);
    const events = 'decisionLog.md#Use [events] `now`! - 2026-02-28';
    expect(address(log, 'use-events-now---2026-02-28')).toBe(events);
    expect(address(log, 'use [events] `now`!')).toBe(events);
    // Two decisions have this title.
    expect(address(log, 'use polling')).toBeUndefined();
    expect(address(log, 'Decision Log')).toBe(path);
    expect(address(log, 'none')).toBeUndefined();
  });
});

describe('the statements of a section', () => {
  const events = 'decisionLog.md#Use [events] `now`! - 2026-02-28';
  const polling = 'decisionLog.md#Use polling - 2026-01-31';

  test('are written as links, read again, and removed without a trace', () => {
    const written = annotated(
      polling,
      annotated(events, log, { supersedes: [polling, 'knowledge/a b.md'] }),
      { supersededBy: events },
    );
    expect(written).toContain(
      '## Use polling - 2026-01-31\n\nSuperseded by [Use \\[events\\] `now`! - 2026-02-28](#use-events-now---2026-02-28)\n\nEvery',
    );
    expect(written).toContain(
      '2026-02-28\n\nSupersedes [Use polling - 2026-01-31](#use-polling---2026-01-31), [knowledge/a b.md](knowledge/a%20b.md)\n\n### Context',
    );
    expect(annotationsAt(polling, written)).toMatchObject({ supersededBy: events });
    expect(annotationsAt(events, written)).toMatchObject({
      supersedes: [polling, 'knowledge/a b.md'],
      supersededBy: undefined,
    });
    const other = annotated(events, written, { supersedes: ['a.md'] });
    expect(other.match(/Supersedes/g)).toHaveLength(1);
    const removed = annotated(polling, annotated(events, written, { supersedes: null }), {
      supersededBy: null,
    });
    expect(removed.replace(/\n{2,}/g, '\n\n')).toBe(log);
    expect(saysTheSame(path, log, written)).toBe(true);
    expect(saysTheSame(path, log, written.replace('slow', 'fast'))).toBe(false);
  });

  test('keep line ends, and end the last section', () => {
    const text = '## A\r\n\r\nOne.\r\n\r\n## B';
    const written = annotated('x.md#B', text, { supersededBy: 'y/z.md#C d' });
    expect(written).toBe(`${text}\r\n\r\nSuperseded by [C d](y/z.md#c-d)\r\n`);
    expect(annotated('x.md#A', text, { supersedes: ['y.yaml'] })).toBe(
      '## A\r\n\r\nSupersedes [y.yaml](y.yaml)\r\n\r\nOne.\r\n\r\n## B',
    );
  });

  test('can be written by hand: in a list, in bold, below "Status", as a title or a path', () => {
    const by = (text: string) => annotationsAt('adr/1.md#A', text)?.supersededBy;
    const other = '\n\n## B\n';
    expect(by(`## A\n\n- **Superseded by:** [b](#b)${other}`)).toBe('adr/1.md#B');
    expect(by(`## A\n\n### Status\n\nSuperceded by [2](2.md)${other}`)).toBe('adr/2.md');
    expect(by(`## A\n\nStatus: superseded by B.${other}`)).toBe('adr/1.md#B');
    expect(by(`## A\n\nSuperseded by ../log.md#c${other}`)).toBeUndefined();
    expect(by(`## A\n\nSuperseded by [x](https://example.org/x.md)${other}`)).toBeUndefined();
    expect(by(`## A\n\nIt superseded by far all others.${other}`)).toBeUndefined();
    // The title of a text is the text as a whole.
    const whole = '# 1. A\n\nDate: 2026-01-31\n\n## Status\n\nSuperceded by [2. B](2.md)\n';
    expect(annotationsAt('adr/1.md', whole)).toMatchObject({ supersededBy: 'adr/2.md' });
  });

  test('do not include annotations of a whole record', () => {
    expect(() => annotated(polling, log, { expires: '2030-01-01' })).toThrow(
      'A section of decisionLog.md cannot have expires.',
    );
    expect(() => annotated('decisionLog.md#None', log, { supersededBy: 'a.md' })).toThrow(
      'decisionLog.md has no section "None".',
    );
  });

  test('cost bounded time in a hostile text', () => {
    const text = `# A\n${'- Superseded by [a](#a) [b'.repeat(20_000)}\n${'Superseded by x\n'.repeat(50_000)}`;
    expect(new Sections('a.md', text).statements()).toHaveLength(1);
    const many = Array.from({ length: 5000 }, (_, i) => `## D${i}\n\nSupersedes [x](#d${i + 1})\n`);
    expect(new Sections('a.md', many.join('\n')).statements()).toHaveLength(1000);
  });
});

test('links to sections have their anchors', () => {
  const text = 'See [a](../log.md#use-git), [b](#own) and log.md#caf%C3%A9.';
  expect(memoryLinks('x/y.md', text)).toEqual(
    expect.arrayContaining(['log.md', 'log.md#use-git', 'x/y.md#own', 'log.md#café']),
  );
});

describe('an edit of a section leaves no blank line more or less', () => {
  const item = (line: number) => `- \`a.ts:${line}\` <!-- 1-0123456789abcdef -->`;
  const cites = (line: number) => ({
    path: 'a.ts',
    lines: { first: line, last: line },
    fingerprint: { lines: 1, hash: '0123456789abcdef' },
  });
  const entry = (title: string, line: number) =>
    `## ${title}\n\nText.\n\n### Evidence\n\n${item(line)}`;

  test.each(['', '\n', '\n\n'])('evidence is replaced, also at an end %j', (end) => {
    const text = `# Log\n\n${entry('A', 1)}\n\n### More\n\nText.\n\n${entry('B', 2)}${end}`;
    for (const [title, line] of [
      ['A', 1],
      ['B', 2],
    ] as const) {
      const [before, after] = [item(line), item(3)];
      expect(annotated(`${path}#${title}`, text, { evidence: [cites(3)] })).toBe(
        text.replace(before, after),
      );
      const none = annotated(`${path}#${title}`, text, { evidence: null });
      expect(none).toBe(text.replace(`\n\n### Evidence\n\n${before}`, ''));
    }
  });

  test.each(['', '\n', '\n\n'])('the last entry is removed, with an end %j', (end) => {
    const [first, last] = [`# Log\n\n${entry('A', 1)}`, entry('B', 2)];
    const text = `${first}\n\n${last}${end}`;
    expect(withoutLines(text, new Sections(path, text).at('B'))).toBe(first + end);
  });
});
