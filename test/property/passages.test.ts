import { expect, test } from 'vitest';
import { matchLines } from '../../src/cli/screen/match-lines.ts';
import type { Painter } from '../../src/core/answers/painter.ts';
import { readSection } from '../../src/core/markdown/section-argument.ts';
import { namedSections } from '../../src/core/markdown/section-path.ts';
import { SearchIndex } from '../../src/store/search/index.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

/** Distinct words that no other decision contains. */
function wordOf(at: number): string {
  const letters = [...'bdfgklmnprtvz'];
  const vowels = [...'aeiou'];
  const syllable = (n: number) => `${letters[n % 13]}${vowels[Math.floor(n / 13) % 5]}`;
  return `${syllable(at)}${syllable(at * 7 + 3)}x${syllable(at * 3 + 11)}q`;
}

/** Paints a match as `<match>`. */
const painter: Painter = {
  paint: (_, text) => `<${text}>`,
  message: (text) => text,
  plain: (text) => text,
  fit: (text) => text,
  width: 80,
};

interface Decision {
  readonly number: number;
  readonly name: string;
  readonly markdown: string;
}

const shapes = ['sub-headings', 'labels', 'list'] as const;

function decision(number: number, shape: (typeof shapes)[number]): Decision {
  const name = wordOf(number);
  const heading = `## Decision number ${number}: ${name} - [2026-01-02]`;
  const parts = {
    'sub-headings': [
      '### Context',
      `The team needs ${name}reason.`,
      '### Decision',
      `We take option${number}.`,
    ],
    labels: [
      `**Context:** The team needs ${name}reason.`,
      `**Decision:** We take option${number}.`,
    ],
    list: [`- The team needs ${name}reason.\n- We take option${number}.`],
  };
  return { number, name, markdown: [heading, ...parts[shape]].join('\n\n') };
}

const template = '## [Decision Title] - [Date]\n\n### Context\n\n### Decision\n\n### Consequences';
const log = fc
  .array(fc.constantFrom(...shapes), { minLength: 2, maxLength: 30 })
  .map((list) => list.map((shape, at) => decision(at + 1, shape)));

function indexed(body: string): SearchIndex {
  const index = new SearchIndex();
  const notes = 'decisionLog.md';
  index.upsert({ id: notes, fields: { title: 'Decision Log', body, markdown: true, notes } });
  return index;
}

deep('a log of decisions answers with the one that is asked for', () => {
  fc.assert(
    fc.property(log, fc.boolean(), (decisions, front) => {
      const start = front ? '---\ntitle: Decision number\n---\n\n' : '';
      const texts = decisions.map(({ markdown }) => markdown);
      const body = `${start}${['# Decision Log', template, ...texts].join('\n\n')}\n`;
      const index = indexed(body);
      for (const { number, name } of decisions) {
        const questions = [
          `What did we decide in decision number ${number}`,
          `decision ${number}`,
          `why ${name}`,
          `${name}reason`,
        ];
        for (const query of questions) {
          const { hits } = index.search(query);
          const [hit] = hits;
          const { snippet = '', section = '', lines: [from, to] = [0, 0] } = hit ?? {};
          expect(section).toContain(`Decision number ${number}: ${name} -`);
          expect(`${snippet} ${section}`).not.toMatch(/\[Decision Title\]|---/);
          expect(snippet).not.toContain('#');
          expect(snippet).toMatch(new RegExp(`option${number}\\b|${name}reason`));
          for (const other of decisions) {
            if (other.number !== number) expect(snippet).not.toContain(other.name);
          }
          const shown = matchLines(painter, snippet, hit?.matches ?? [], 80);
          expect(shown.join(' ').replace(/[<>]/g, '')).toBe(snippet);
          // The last word of the question is highlighted if the passage has it.
          const asked = (query.match(/\w+$/) ?? [''])[0];
          if (new RegExp(`\\b${asked}\\b`).test(snippet)) {
            expect(shown.join(' ')).toContain(`<${asked}>`);
          }
          for (const line of shown) expect(line.replace(/[<>]/g, '').length).toBeLessThan(81);
          const read = readSection(body, section);
          expect(read).toContain(`option${number}.`);
          expect(
            body
              .split('\n')
              .slice(from - 1, to)
              .join('\n'),
          ).toBe(read?.trimEnd());
        }
      }
    }),
    { numRuns: runs(200) },
  );
});

test('every section has a path of its own, which reads it', () => {
  const heading = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom('A', 'a', 'A (2)', ''));
  fc.assert(
    fc.property(fc.array(heading, { maxLength: 12 }), (headings) => {
      const text = headings
        .map(([level, name]) => `${'#'.repeat(level)} ${name}\n\nx\n`)
        .join('\n');
      const sections = namedSections(text);
      expect(new Set(sections.map(({ path }) => path.toLowerCase())).size).toBe(sections.length);
      for (const { path, start, end } of sections) {
        if (path !== '') expect(readSection(text, path)).toBe(text.slice(start, end));
      }
    }),
  );
});
