import { expect, test } from 'vitest';
import { brief, type Passage } from '../../../src/toolsets/graph/passage.ts';
import fc from '../../support/fc.ts';

const passage = fc.record({
  heading: fc.string({ minLength: 1, maxLength: 300 }).map((text) => `# ${text}`),
  items: fc.array(
    fc.string({ maxLength: 400 }).map((text) => `- ${text}`),
    { maxLength: 12 },
  ),
  source: fc.string({ minLength: 1, maxLength: 60 }).map((text) => `get ${text}`),
});

test('a briefing never exceeds its budget', () => {
  fc.assert(
    fc.property(
      fc.array(passage, { maxLength: 12 }),
      fc.integer({ min: 1_000, max: 6_000 }),
      (passages, budget) => brief(passages, budget).length <= budget,
    ),
  );
});

test('every item is either told or counted with the call that returns it', () => {
  const passages: Passage[] = [
    {
      heading: '# Long',
      items: Array.from({ length: 100 }, () => `- ${'x'.repeat(50)}`),
      source: 'a',
    },
    { heading: '# Short', items: ['- one', '- two'], source: 'b' },
  ];
  const text = brief(passages, 1_500);
  const told = text.match(/^- x+$/gm)?.length ?? 0;
  expect(told).toBeGreaterThan(10);
  expect(text).toContain(`- … ${100 - told} more: \`a\`\n\n# Short\n- one\n- two`);
});

test('passages without room for their heading are listed at the end', () => {
  const passages = Array.from({ length: 200 }, (_, i) => ({
    heading: `# ${i} ${'x'.repeat(40)}`,
    items: ['- one'],
    source: `get_feature ${i}`,
  }));
  const text = brief(passages, 2_000);
  const told = text.match(/^# /gm)?.length ?? 0;
  const [, named = '', more] = /Left out:\n((?:- `.*`\n)+)- … (\d+) more$/.exec(text) ?? [];
  expect(named).toContain(`\`get_feature ${told}\``);
  expect(told + named.trim().split('\n').length + Number(more)).toBe(200);
});
