import { describe, expect, test } from 'vitest';
import { appendSection, prependToList, removeItems } from '../../src/core/markdown/sections.ts';
import { prose } from '../../src/core/markdown/text.ts';
import type { EntryFile } from '../../src/store/layout/entry-files.ts';
import {
  composeLog,
  type StoredChange,
  type StoredFiles,
  storedChanges,
  toEntries,
  toLogs,
} from '../../src/store/layout/entry-logs.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

/** The files of a memory, in memory. */
class Files implements StoredFiles {
  readonly all: Map<string, string>;

  constructor(all: Readonly<Record<string, string>> = {}) {
    this.all = new Map(Object.entries(all));
  }

  text(path: string): string | undefined {
    return this.all.get(path);
  }

  entries(folder: string): EntryFile[] {
    return [...this.all]
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, text]) => ({ name: path.slice(folder.length + 1), text }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  apply(changes: readonly StoredChange[]): this {
    for (const { path, before, after } of changes) {
      expect(this.all.get(path)).toBe(before);
      if (after === undefined) this.all.delete(path);
      else this.all.set(path, after);
    }
    return this;
  }

  /** Writes logs as a transaction does. */
  write(texts: Readonly<Record<string, string>>, session = 'aaaaaaaa'): this {
    const edits = Object.entries(texts).map(([path, after]) => ({
      path,
      before: composeLog(this, path),
      after,
    }));
    return this.apply(storedChanges(edits, this, session));
  }

  get paths(): string[] {
    return [...this.all.keys()].sort();
  }

  get logs(): (string | undefined)[] {
    return ['decisionLog.md', 'progress.md', 'activeContext.md'].map((path) =>
      composeLog(this, path),
    );
  }
}

const templates = {
  'decisionLog.md': '# Decision Log\n',
  'progress.md': '# Project Progress\n\n## Completed Milestones\n\n## Update History\n',
  'activeContext.md': '# Current Context\n\n## Next Steps\n\n## Current Session Notes\n',
};
const notice = 'The newest 20 notes; progress.md has the earlier ones.';

function logged(files: Files, title: string, day: string, body: string): Files {
  const log = composeLog(files, 'decisionLog.md') ?? '';
  const section = `## ${title} - ${day}\n\n### Context\n\n${prose(body)}`;
  return files.write({ 'decisionLog.md': appendSection(log, section) });
}

function tracked(files: Files, day: string, text: string, session: string): Files {
  const item = `[${day}] - Work: ${text}`;
  const [, progress = '', context = ''] = files.logs;
  let notes = 1;
  const isOld = () => ++notes > 20;
  return files.write(
    {
      'progress.md': prependToList(progress, 'Update History', item),
      'activeContext.md': removeItems(
        prependToList(context, 'Current Session Notes', item),
        'Current Session Notes',
        isOld,
        notice,
      ),
    },
    session,
  );
}

const day = fc.integer({ min: 1, max: 28 }).map((one) => `2026-01-${String(one).padStart(2, '0')}`);
const words = fc.oneof(
  fc.constantFrom(
    'Use git',
    'use git',
    'USE GIT',
    'Größe 😀',
    '2 databases',
    '😀',
    'a'.repeat(300),
    'con',
  ),
  fc.stringMatching(/^[A-Za-z][A-Za-z .]{0,20}[a-z]$/),
);
const body = fc.oneof(
  fc.constantFrom('Why', '- a\n- b', '```\n## not a heading\n', '# A heading\n\nText', 'x\r\ny'),
  fc.string(),
);

describe('logs whose entries are files', () => {
  test('are the same logs as those in single files, whatever our writer adds, and after conversions', () => {
    const step = fc.record({
      day,
      words,
      body,
      isDecision: fc.boolean(),
      session: fc.constantFrom('s1', 's2'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const sorted = steps.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
        const log = new Files(templates);
        let [decisions, progress] = [templates['decisionLog.md'], templates['progress.md']];
        const files = new Files(templates);
        for (const one of sorted) {
          const text = one.body.trim() === '' ? 'Why' : one.body;
          if (one.isDecision) {
            logged(files, one.words, one.day, text);
            const section = `## ${one.words} - ${one.day}\n\n### Context\n\n${prose(text)}`;
            decisions = appendSection(decisions, section);
          } else {
            tracked(files, one.day, one.words, one.session);
            progress = prependToList(
              progress,
              'Update History',
              `[${one.day}] - Work: ${one.words}`,
            );
          }
        }
        expect(files.text('decisionLog.md')).toBe(templates['decisionLog.md']);
        expect(files.logs[0]).toBe(decisions);
        expect(files.logs[1]?.split('\n').sort()).toEqual(progress.split('\n').sort());
        const before = files.logs;
        files.apply(toLogs(files).changes);
        expect(files.paths).toEqual(Object.keys(templates).sort());
        expect([...files.all.values()].sort()).toEqual([...before].sort());
        const single = new Map(files.all);
        files.apply(toEntries(files, false).changes);
        expect(files.logs).toEqual(before);
        expect(files.text('progress.md')).toBe(templates['progress.md']);
        expect(files.text('activeContext.md')).toBe(templates['activeContext.md']);
        expect(toEntries(files, true).changes).toEqual([]);
        files.apply(toLogs(files).changes);
        expect(files.all).toEqual(single);
        expect(log.paths).toEqual(files.paths);
      }),
      { numRuns: runs(300) },
    );
  });

  test('read as any text that was written, and a conversion loses none of its lines', () => {
    const line = fc.constantFrom(
      '# Log',
      '## A - 2026-01-02',
      '## B - 2026-01-01',
      '## C',
      '[2026-01-01] Title',
      '## [2026-01-03] D',
      '### Part',
      'text',
      '',
      '',
      '- [2026-01-01] - a',
      '* item',
      '```',
      '---',
      '# Archive',
      '<<<<<<< HEAD',
      '>>>>>>> x',
      '## Update History',
      '- [2026-01-02] - b',
      '  more',
      '\t- [2026-01-02] - c',
    );
    const text = fc
      .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom('\n', '\r\n'))
      .map(([lines, eol]) => lines.join(eol));
    const linesOf = (one = '') =>
      one
        .split(/\r?\n/)
        .map((part) => part.trim())
        .filter((part) => part !== '')
        .sort();
    fc.assert(
      fc.property(text, text, (decisions, progress) => {
        const files = new Files();
        files.write({ 'decisionLog.md': decisions, 'progress.md': progress });
        expect(composeLog(files, 'decisionLog.md')).toBe(decisions);
        expect(composeLog(files, 'progress.md')).toBe(progress);
        const single = new Files({ 'decisionLog.md': decisions, 'progress.md': progress });
        single.apply(toEntries(single, false).changes);
        expect(linesOf(composeLog(single, 'decisionLog.md'))).toEqual(linesOf(decisions));
        expect(linesOf(composeLog(single, 'progress.md'))).toEqual(linesOf(progress));
      }),
      { numRuns: runs(2000) },
    );
  });
});
