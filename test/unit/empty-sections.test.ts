import { describe, expect, test } from 'vitest';
import {
  markdownDiff,
  saysNothing,
  withoutEmptySections,
} from '../../src/core/markdown/empty-sections.ts';
import { pointsOf } from '../../src/toolsets/memory-bank/file-points.ts';

test.each(['', ' \n\n', '- ', 'None', '\nNone.\n', '- none', '*None*', 'N/A', '(none)', 'Keine'])(
  '%j says nothing',
  (text) => expect(saysNothing(text)).toBe(true),
);

test.each(['No.', 'None of them fits', 'Nonetheless', '- None\n- Postgres', '0', 'x'])(
  '%j says something',
  (text) => expect(saysNothing(text)).toBe(false),
);

describe('a text without its empty sections', () => {
  test('keeps headings above others, and code', () => {
    const text =
      '# Plan\n\n## Goals\n\nNone.\n\n## Scope\n\n### Inner\n\nAll of it.\n\n```\n# x\nNone\n```\n';
    expect(withoutEmptySections(text)).toBe(text.replace('## Goals\n\nNone.\n\n', ''));
  });

  test('loses headings without a text only where something else is said', () => {
    expect(withoutEmptySections('# Log\n\n## Use pnpm\n\n## Known issues\n\nNone\n')).toBe(
      '# Log\n\n## Use pnpm\n\n',
    );
    expect(withoutEmptySections('# Log\n\nOpen:\n\n## Goals\n\n')).toBe('# Log\n\nOpen:\n\n');
  });
});

const decision = (title: string, rest: string) =>
  `## ${title}\n\n### Decision\n\nYes.\n\n### Alternatives\n\n${rest}\n\n### Consequences\n\nNone\n`;

describe('a difference', () => {
  test('leaves out the sections that say nothing, also around it', () => {
    const [first, second] = [decision('First', '- x'), decision('Second', 'None')];
    const diff = markdownDiff(first, `${first}\n${second}`);
    expect(diff).not.toMatch(/None|Alternatives|Consequences/);
    expect(diff).toMatch(/^@@ -\d+,\d+ \+\d+,\d+ @@\n/);
    for (const line of ['+## Second', '+### Decision', '+Yes.']) expect(diff).toContain(line);
    expect(markdownDiff(first, `${first.trimEnd()}\n\n${second.trimEnd()}`)).not.toContain('None');
  });

  test('shows what was there before', () => {
    const diff = markdownDiff(decision('First', '- Postgres'), decision('First', 'None'));
    expect(diff).toContain(' ### Alternatives\n \n-- Postgres\n');
    expect(diff).not.toContain('None');
  });

  test('is shown as it is if it is about nothing else', () => {
    const text = 'Text\n\n## Issues\n';
    expect(markdownDiff(text, `${text}\nNone\n`)).toContain('+None');
  });

  test('shows new headings, which can be statements', () => {
    expect(markdownDiff('# Log\n', '# Log\n\n## Use pnpm\n')).toContain('+## Use pnpm');
  });
});

test('a brief quotes no section that says nothing', () => {
  const of = (path: string, content: string) => pointsOf({ path, content }).map(({ text }) => text);
  const context =
    '## Ongoing Tasks\n\n- Pay\n\n## Known Issues\n\n- None\n\n## Next Steps\n\nNone\n';
  expect(of('activeContext.md', context)).toEqual(['Ongoing Tasks: Pay']);
  expect(of('notes.md', 'Text.\n\n## Issues\n\nNone\n\n## More\n\nx\n')).toEqual([
    'Text.\n\n## More\n\nx\n',
  ]);
});
