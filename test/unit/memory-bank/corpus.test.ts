import { describe, expect, it } from 'vitest';
import { outline } from '../../../src/core/markdown/sections.ts';
import { corpusMarkdown } from '../../support/corpus-markdown.ts';
import { deep } from '../../support/depth.ts';
import { hasEntries } from '../../support/test-layout.ts';
import { open } from './open.ts';

const files = corpusMarkdown();

const isConflicted = (text: string) => /^<{7} /m.test(text);

/** The real files of a kind, whatever their older name, without those that a merge left in conflict. */
function real(pattern: RegExp) {
  return files.filter(({ name, text }) => pattern.test(name) && !isConflicted(text));
}

/** The text before the section and after it, which no edit of the section may change. */
function around(text: string, heading: string): readonly [string, string] {
  const section = outline(text).find((one) => one.heading === heading);
  return section
    ? [text.slice(0, section.bodyStart), text.slice(section.bodyEnd)]
    : [text.trimEnd(), ''];
}

function lines(text: string): string[] {
  return text.trimEnd().split(/\r?\n/);
}

describe.skipIf(files.length === 0)('in real files', () => {
  it('with conflict markers nothing changes, and the file is named', async () => {
    const conflicted = files.filter(({ text }) => isConflicted(text));
    expect(conflicted.length).toBeGreaterThan(0);
    for (const { name, text } of conflicted) {
      const { call, file } = open({ 'activeContext.md': text });
      const { body } = await call('update_active_context', { tasks: ['New'], issues: [] });
      expect(body.error, name).toMatchObject({
        code: 'invalid_format',
        message: expect.stringContaining('activeContext.md: a merge left conflict markers'),
      });
      expect(file('activeContext.md')).toBe(text);
    }
  });

  deep('track_progress changes its two sections and nothing else', async () => {
    const progress = real(/progress\.md/i);
    const contexts = real(/active-?context\.md/i);
    expect(Math.min(progress.length, contexts.length)).toBeGreaterThan(20);
    for (const [i, { name, text }] of progress.entries()) {
      const notes = contexts[i % contexts.length]?.text ?? '';
      const { call, file } = open({ 'progress.md': text, 'activeContext.md': notes });
      await call('track_progress', { action: 'Fix', description: 'Mend it' });
      const edits = [
        ['progress.md', text, 'Update History'],
        ['activeContext.md', notes, 'Current Session Notes'],
      ] as const;
      for (const [path, before, heading] of edits) {
        const after = file(path) ?? '';
        const [head, tail] = around(before, heading);
        expect(after.startsWith(head) && after.endsWith(tail), name).toBe(true);
        const section = outline(after).find((one) => one.heading === heading);
        expect(after.slice(section?.bodyStart, section?.bodyEnd), name).toContain(
          '- [2026-01-01] - Fix: Mend it',
        );
      }
    }
  });

  it('update_active_context changes its section and nothing else', async () => {
    for (const { name, text } of real(/active-?context\.md/i)) {
      const { call, file } = open({ 'activeContext.md': text });
      await call('update_active_context', { nextSteps: ['Rest', 'Go on'] });
      const after = file('activeContext.md') ?? '';
      const [head, tail] = around(text, 'Next Steps');
      expect(after.startsWith(head) && after.endsWith(tail), name).toBe(true);
      expect(after.slice(head.length), name).toMatch(/[-*.] Rest\r?\n.*[-*.] Go on/);
    }
  });

  it('log_decision adds a section at the end', async () => {
    const logs = real(/decision-?log\.md/i);
    expect(logs.length).toBeGreaterThan(10);
    for (const { name, text } of logs) {
      const { call, file, context } = open({ 'decisionLog.md': text });
      context.time = Date.UTC(2050, 0, 1);
      await call('log_decision', { title: 'T', context: 'c', decision: 'd' });
      const after = file('decisionLog.md') ?? '';
      if (hasEntries) {
        // With files of their own, entries are in the order of their dates.
        const now = new Set(lines(after));
        expect(
          lines(text).filter((line) => !now.has(line)),
          name,
        ).toEqual([]);
      } else expect(after.startsWith(text.trimEnd()), name).toBe(true);
      expect(
        outline(after)
          .slice(-5)
          .map(({ heading }) => heading),
        name,
      ).toEqual([
        'T - 2050-01-01',
        'Context',
        'Decision',
        'Alternatives Considered',
        'Consequences',
      ]);
    }
  });
});
