import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sides } from '../../src/store/merge/diff3.ts';
import { markConflicts, mergeLines, mergeText, type Outcome } from '../../src/store/merge/lines.ts';
import { type Outline, type Piece, readOutline } from '../../src/store/merge/pieces.ts';
import { mergeSections } from '../../src/store/merge/sections.ts';
import { corpusMarkdown } from '../support/corpus-markdown.ts';

const line: fc.Arbitrary<string> = fc.constantFrom(
  '',
  '',
  '',
  '',
  '',
  '# A',
  '## B',
  '## C - 2026-01-02',
  '## D - 2026-01-03',
  '### Context',
  '- one',
  '- two',
  '- [ ] three words here',
  '- [x] three words here',
  '  - below',
  '  more of it',
  '- [2026-01-04] - x: y',
  '- [2026-01-05] - x: y',
  '1. first',
  '| a | b |',
  '|---|---|',
  '| c | d |',
  'prose',
  'other prose',
  '---',
  '```',
  '> quote',
  '<div>',
);
const lines = fc.array(line, { maxLength: 30 });

/** Versions of a text, made from it by replacing some of its lines. */
const versions: fc.Arbitrary<Sides<readonly string[]>> = lines.chain((base) => {
  const edit = fc.record({
    at: fc.nat({ max: base.length }),
    length: fc.nat({ max: 4 }),
    added: fc.array(fc.oneof(line, fc.constantFrom('- new', 'new', '## New - 2026-02-02')), {
      maxLength: 4,
    }),
  });
  const version = fc.array(edit, { maxLength: 3 }).map((edits) => {
    const made = [...base];
    for (const { at, length, added } of edits) made.splice(at, length, ...added);
    return made;
  });
  return fc.record({ base: fc.constant(base), ours: version, theirs: version });
});

type Merge = (sides: Sides<readonly string[]>) => Outcome<readonly string[]>;
const merges: readonly (readonly [string, Merge])[] = [
  ['lines', mergeLines],
  ['sections', mergeSections],
];
const runs = { numRuns: Number(process.env.RUNS ?? 3000) };

describe.each(merges)('merging %s', (_, merge) => {
  it('keeps the change of one side as it is', () => {
    fc.assert(
      fc.property(versions, ({ base, ours }) => {
        expect(merge({ base, ours, theirs: base })).toEqual({ ours, theirs: ours });
        expect(merge({ base, ours: base, theirs: ours })).toEqual({ ours, theirs: ours });
        expect(merge({ base, ours, theirs: ours })).toEqual({ ours, theirs: ours });
      }),
      runs,
    );
  });

  it('loses no line that one side added, and makes none up', () => {
    fc.assert(
      fc.property(versions, (sides) => {
        const merged = merge(sides);
        for (const side of ['ours', 'theirs'] as const) {
          const both = new Set([...merged.ours, ...merged.theirs]);
          const lost = sides[side].filter(
            (line) => line !== '' && !sides.base.includes(line) && !both.has(line),
          );
          expect(lost).toEqual([]);
          const known = new Set(['', ...sides.base, ...sides.ours, ...sides.theirs]);
          expect(merged[side].filter((line) => !known.has(line))).toEqual([]);
        }
      }),
      runs,
    );
  });
});

describe('merging sections', () => {
  it('comes to the same lines, in whatever order, when the sides change places', () => {
    fc.assert(
      fc.property(versions, ({ base, ours, theirs }) => {
        const sorted = (lines: readonly string[]) =>
          lines.filter((line) => line.trim() !== '').sort();
        const there = mergeSections({ base, ours, theirs });
        const back = mergeSections({ base, ours: theirs, theirs: ours });
        if (there.ours.join() !== there.theirs.join()) return;
        expect(sorted(back.ours)).toEqual(sorted(there.ours));
      }),
      runs,
    );
  });

  it('reads every line into one piece', () => {
    const check = (lines: readonly string[]) => {
      expect(linesOf(readOutline(lines))).toEqual(lines);
    };
    fc.assert(fc.property(lines, check), runs);
    for (const { text } of corpusMarkdown()) check(text.split('\n'));
  });
});

function linesOf({ body, sections, gap }: Outline): string[] {
  const inner = (piece: Piece): string[] => [
    ...piece.gap,
    ...piece.head,
    ...piece.body.flatMap(inner),
    ...piece.sections.flatMap(inner),
  ];
  return [...body.flatMap(inner), ...sections.flatMap(inner), ...gap];
}

describe('any texts', () => {
  it('merge without an error, and what is marked can be read back', () => {
    const text = fc.oneof(
      fc.string(),
      lines.map((all) => all.join('\r\n')),
      lines.map((all) => all.join('\n')),
    );
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        const merged = mergeText({ base, ours, theirs }, mergeSections);
        const marked = markConflicts(merged, 9);
        expect(marked.includes('<<<<<<<<< ours')).toBe(merged.ours !== merged.theirs);
      }),
      runs,
    );
  });
});
