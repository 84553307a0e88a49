import { expect, test } from 'vitest';
import { withoutClientContext } from '../../src/toolsets/brief/client-context.ts';
import { layOut } from '../../src/toolsets/brief/layout.ts';
import { promptLines, promptQuery } from '../../src/toolsets/brief/prompt-match.ts';

test.each([
  ['<hook_context>\nUse JWT tokens\n</hook_context>\n\nmake it blue', 'make it blue'],
  ['fix it <system-reminder>a\nb</system-reminder> now', 'fix it now'],
  ['<task>add a test</task><environment_details mode="x">\n# Files\n</environment_details>', 'add'],
  ['<hook_context>one</hook_context><hook_context>two</hook_context> three', 'three'],
])('what a client adds to a prompt is not searched for: %j', (prompt, kept) => {
  const query = promptQuery(prompt);
  expect(query).toContain(kept);
  expect(query).not.toMatch(/JWT|Files|one|two|a b/);
});

test.each(['', 'a < b </c>', '<hook_context> without an end', '<b>bold</b> text'])(
  'another prompt stays as it is: %j',
  (prompt) => {
    expect(withoutClientContext(prompt)).toBe(prompt);
  },
);

test('a brief in a prompt is not searched for', () => {
  const sections = [{ title: 'Decisions', lines: [{ path: 'a.md', text: 'a.md: "Use JWT"' }] }];
  const brief = layOut(sections, 2_000, new Set(['search_memory'])).text;
  expect(promptQuery(brief)).toBe('');
  expect(promptQuery(`Look:\n${brief}\nmake the button blue`)).toBe('Look: make the button blue');
});

test('a prompt with nothing else has no query', () => {
  expect(promptQuery('<hook_context>Use JWT tokens</hook_context>')).toBe('');
});

test('many openings without an end stay', () => {
  const prompt = `${'<hook_context>'.repeat(35_000)}</x>`;
  expect(withoutClientContext(prompt)).toBe(prompt);
});

test.each([
  ['decisionLog.md', 'Decision Log', 'Log > Retries', 'Retries: Four attempts.'],
  ['knowledge/corrections/job-queue.md', 'job-queue', undefined, 'Four attempts.'],
  ['decisionLog.md', 'Retries of payments', 'Log > Retries', 'Retries of payments: Four attempts.'],
])('a line of %s has no title that repeats its name: %s', (id, title, section, line) => {
  const hit = { id, title, snippet: 'Four attempts.', ...(section && { section }) };
  expect([...promptLines([hit])].map(({ text }) => text)).toEqual([`${id}: "${line}"`]);
});

test('a line has the reason that a hit gives next to its answer', () => {
  const hit = {
    id: 'retries.md',
    title: 'Retries',
    snippet: 'Four attempts.',
    reason: { label: 'why', text: 'The carrier is often down.' },
  };
  expect([...promptLines([hit])].map(({ text }) => text)).toEqual([
    'retries.md: "Four attempts. why: The carrier is often down."',
  ]);
});
