import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hunksOf } from '../../src/core/diff/line-diff.ts';
import type { AnyRecordType } from '../../src/core/record/record-type.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import type { Sides } from '../../src/store/merge/diff3.ts';
import {
  markConflicts,
  mergeLines,
  mergeText,
  type SidedResult,
} from '../../src/store/merge/line-merge.ts';
import { type Outline, type Piece, readOutline } from '../../src/store/merge/pieces.ts';
import { mergeRecord } from '../../src/store/merge/record-merge.ts';
import { mergeSections } from '../../src/store/merge/section-merge.ts';
import { documentRecord } from '../../src/toolsets/documents/document.ts';
import { task } from '../../src/toolsets/graph/records.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { corpusMarkdown } from '../support/corpus-markdown.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

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

/** Versions of a text with some of its lines replaced. */
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

type Merge = (sides: Sides<readonly string[]>) => SidedResult<readonly string[]>;
const merges: readonly (readonly [string, Merge])[] = [
  ['lines', mergeLines],
  ['sections', mergeSections],
];
const many = { numRuns: runs(1500) };

it('hunks turn the old sequence into the new one', () => {
  fc.assert(
    fc.property(versions, ({ base, ours }) => {
      const made: string[] = [];
      let at = 0;
      for (const { start, length, newStart, newLength } of hunksOf(base, ours)) {
        made.push(...base.slice(at, start), ...ours.slice(newStart, newStart + newLength));
        at = start + length;
      }
      expect([...made, ...base.slice(at)]).toEqual(ours);
    }),
    many,
  );
});

describe.each(merges)('merging %s', (_, merge) => {
  it('keeps the change of one side unchanged', () => {
    fc.assert(
      fc.property(versions, ({ base, ours }) => {
        expect(merge({ base, ours, theirs: base })).toEqual({ ours, theirs: ours });
        expect(merge({ base, ours: base, theirs: ours })).toEqual({ ours, theirs: ours });
        expect(merge({ base, ours, theirs: ours })).toEqual({ ours, theirs: ours });
      }),
      many,
    );
  });

  it('keeps every line that one side added, and adds no other', () => {
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
      many,
    );
  });
});

describe('merging sections', () => {
  it('has the same lines, in some order, with the sides swapped', () => {
    fc.assert(
      fc.property(versions, ({ base, ours, theirs }) => {
        const sorted = (lines: readonly string[]) =>
          lines.filter((line) => line.trim() !== '').sort();
        const there = mergeSections({ base, ours, theirs });
        const back = mergeSections({ base, ours: theirs, theirs: ours });
        if (there.ours.join() !== there.theirs.join()) return;
        expect(sorted(back.ours)).toEqual(sorted(there.ours));
      }),
      many,
    );
  });

  it('puts every line into one piece', () => {
    const check = (lines: readonly string[]) => {
      expect(linesOf(readOutline(lines))).toEqual(lines);
    };
    fc.assert(fc.property(lines, check), many);
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
  it('merge without an error, and both sides can be restored from the markers', () => {
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
      many,
    );
  });
});

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const word = fc.constantFrom('a', 'b', 'c: d', '# e', '- f', '');
const prose = fc.array(word, { maxLength: 4 }).map((words) => words.join('\n'));
const kinds = [
  {
    type: entryRecord,
    value: fc.record({
      category: fc.constant('patterns' as const),
      key: fc.constant('k'),
      value: prose,
      reason: fc.option(prose, { nil: undefined }),
      metadata: fc.option(fc.dictionary(word, fc.nat({ max: 2 })), { nil: undefined }),
      created_at: time,
      updated_at: time,
    }),
  },
  {
    type: task,
    value: fc.record({
      id: fc.constantFrom('aaaaaaaaaaaa', 'bbbbbbbbbbbb'),
      text: fc.constantFrom('a', 'b'),
      status: fc.constantFrom('pending' as const, 'completed' as const),
      order: fc.nat({ max: 3 }),
      objective: fc.constant('o'),
      created_at: time,
      updated_at: time,
    }),
  },
  {
    type: documentRecord,
    value: fc.record({
      id: fc.constant('5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01'),
      title: fc.constantFrom('a', 'b'),
      type: fc.constant('analysis' as const),
      created_at: time,
      updated_at: fc.option(time, { nil: undefined }),
      content: prose,
    }),
  },
];

/** Possible additions of a person at the top of a file. */
const added = fc.constantFrom(
  '',
  '# a comment\n',
  'owner: ada\n',
  'owner: bob\nroom: [7, 8]\n',
  'constructor: 1\n',
  'constructor: 2\n',
);

describe.each(kinds)('records: $type.name', ({ type, value }) => {
  const { codec, merge } = type as AnyRecordType;
  const text = fc.tuple(value, added).map(([value, extra]) => {
    const written: string = codec.encode(value);
    return written.startsWith('---\n') ? `---\n${extra}${written.slice(4)}` : extra + written;
  });
  const read = (text: string): JsonObject => codec.decode(text, '');

  it('can be decoded after a merge, or are in conflict', () => {
    fc.assert(
      fc.property(fc.option(text, { nil: undefined }), text, text, (base, ours, theirs) => {
        const merged = mergeRecord(type, '', { base, ours, theirs });
        const back = mergeRecord(type, '', { base, ours: theirs, theirs: ours });
        expect(back.conflict).toBe(merged.conflict);
        if (merged.conflict) {
          expect(merged.text).toMatch(/^<{7} ours$.*^={7}$.*^>{7} theirs$/ms);
          return;
        }
        const [b, o, t, m] = [
          base === undefined ? {} : read(base),
          read(ours),
          read(theirs),
          read(merged.text ?? ''),
        ];
        expect(read(back.text ?? '')).toEqual(m);
        for (const [name, value] of Object.entries(m)) {
          const rule = (merge as { [field: string]: string })[name] ?? 'value';
          if (rule === 'text') continue;
          expect([o[name], t[name]]).toContainEqual(value);
          if (isDeepStrictEqual(o[name], b[name])) expect(value).toEqual(t[name]);
          if (isDeepStrictEqual(t[name], b[name])) expect(value).toEqual(o[name]);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  deep('are merged by the decisions of their fields', () => {
    fc.assert(
      fc.property(fc.option(text, { nil: undefined }), text, text, fc.nat(), checkDecisions(type)),
      { numRuns: runs(300) },
    );
  });

  it('take the change of one side', () => {
    fc.assert(
      fc.property(text, text, (base, changed) => {
        const result = { text: changed, conflict: false, notes: [], fields: [] };
        expect(mergeRecord(type, '', { base, ours: changed, theirs: base })).toEqual(result);
        expect(mergeRecord(type, '', { base, ours: base, theirs: changed })).toEqual(result);
        expect(mergeRecord(type, '', { base, ours: changed, theirs: changed })).toEqual(result);
      }),
    );
  });
});

/** Decides each conflict of a merge, by the bits of a number, and for one side. */
function checkDecisions(type: AnyRecordType) {
  return (base: string | undefined, ours: string, theirs: string, bits: number) => {
    const sides = { base, ours, theirs };
    const { conflict, fields } = mergeRecord(type, 'a.md', sides);
    const decide = (sideOf: (i: number) => 'ours' | 'theirs') => {
      const decisions = new Map(fields.map(({ field }, i) => [field, sideOf(i)]));
      return mergeRecord(type, 'a.md', sides, { fields: decisions, others: undefined });
    };
    if (!conflict) return;
    expect(fields).not.toEqual([]);
    expect(new Set(fields.map(({ field }) => field)).size).toBe(fields.length);
    for (const side of ['ours', 'theirs'] as const) {
      const whole = mergeRecord(type, 'a.md', sides, { fields: new Map(), others: side });
      const decided = decide(() => side);
      expect(decided.conflict).toBe(false);
      // Keys that a person added can be in another order, and a side that wins loses no comment.
      const linesOf = (text = '') => text.split('\n').filter((one) => one !== '# a comment');
      expect(linesOf(decided.text).sort()).toEqual(linesOf(whole.text).sort());
    }
    expect(decide((i) => ((bits >> (i % 30)) & 1 ? 'ours' : 'theirs'))).toMatchObject({
      conflict: false,
      fields: [],
    });
    const [first] = fields;
    if (!first || fields.length < 2) return;
    const one = new Map([[first.field, 'theirs' as const]]);
    const rest = mergeRecord(type, 'a.md', sides, { fields: one, others: undefined });
    expect(rest.fields).toEqual(fields.slice(1));
  };
}

deep('sections are merged by the decisions about them', () => {
  fc.assert(
    fc.property(versions, fc.nat(), ({ base, ours, theirs }, bits) => {
      const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
      checkDecisions(memoryFile)(text(base), text(ours), text(theirs), bits);
    }),
    many,
  );
});

it('of any text merges', () => {
  const text = fc.option(
    fc.oneof(
      fc.string(),
      lines.map((all) => all.join('\n')),
    ),
    { nil: undefined },
  );
  const type = fc.constantFrom(
    undefined,
    memoryFile,
    ...kinds.map(({ type }) => type as AnyRecordType),
  );
  fc.assert(
    fc.property(type, text, text, text, (type, base, ours, theirs) => {
      expect(() => mergeRecord(type, 'a.md', { base, ours, theirs })).not.toThrow();
    }),
    many,
  );
});
