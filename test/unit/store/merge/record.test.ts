import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { markdownCodec, yamlCodec } from '../../../../src/core/record/codec.ts';
import type { Sides } from '../../../../src/store/merge/diff3.ts';
import type { FieldDecision } from '../../../../src/store/merge/field-conflicts.ts';
import { mergeRecord } from '../../../../src/store/merge/record-merge.ts';

const schema = z.object({
  name: z.string(),
  status: z.enum(['open', 'closed']).optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  steps: z.array(z.string()).optional(),
  order: z.number().optional(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
});
type Task = z.output<typeof schema>;

const task = {
  name: 'task',
  codec: yamlCodec(schema),
  merge: {
    description: 'text',
    tags: 'set',
    steps: 'list',
    order: 'max',
    created_at: 'first',
    updated_at: 'latest',
  },
} as const;

const page = {
  name: 'page',
  codec: markdownCodec(
    z.object({ title: z.string(), version: z.number(), body: z.string() }),
    'body',
  ),
  merge: { version: 'max', body: 'sections' },
} as const;

function merge(base: Task | undefined, ours: Task, theirs: Task) {
  const text = (value: Task | undefined) => value && task.codec.encode(value);
  const merged = mergeTexts({ base: text(base), ours: text(ours), theirs: text(theirs) });
  return {
    ...merged,
    value: merged.conflict ? undefined : task.codec.decode(merged.text ?? '', ''),
  };
}

function mergeTexts(texts: Sides<string | undefined>) {
  return mergeRecord(task, 'tasks/a.yaml', texts);
}

describe('fields', () => {
  const base: Task = { name: 'a', tags: ['b', 'd'], steps: ['b', 'd'], order: 1 };

  it('that one side changed are taken from that side', () => {
    const merged = merge(base, { ...base, name: 'b' }, { ...base, status: 'closed' });
    expect(merged).toMatchObject({ conflict: false, notes: [] });
    expect(merged.value).toEqual({ ...base, name: 'b', status: 'closed' });
  });

  it('that both sides changed merge by their rule', () => {
    const ours = {
      ...base,
      description: 'one\ntwo\nTHREE',
      tags: ['a', 'b', 'd'],
      steps: ['d', 'x'],
      order: 3,
      updated_at: '2026-01-02T00:00:00.500Z',
    };
    const theirs = {
      ...base,
      description: 'ONE\ntwo\nthree',
      tags: ['b', 'c'],
      steps: ['b', 'd', 'y'],
      order: 2,
      updated_at: '2026-01-02T00:00:00Z',
    };
    expect(merge({ ...base, description: 'one\ntwo\nthree' }, ours, theirs).value).toEqual({
      name: 'a',
      description: 'ONE\ntwo\nTHREE',
      tags: ['a', 'b', 'c'],
      steps: ['d', 'x', 'y'],
      order: 3,
      updated_at: '2026-01-02T00:00:00.500Z',
    });
  });

  it('of a record that both sides created merge without a base', () => {
    const ours = { name: 'a', tags: ['x'], created_at: '2026-01-02T00:00:00Z' };
    const theirs = { name: 'a', tags: ['y'], created_at: '2026-01-01T00:00:00Z' };
    expect(merge(undefined, ours, theirs).value).toEqual({
      name: 'a',
      tags: ['x', 'y'],
      created_at: '2026-01-01T00:00:00Z',
    });
  });

  it('that are lists may be removed on one side and shrink on the other', () => {
    expect(merge(base, { name: 'a', tags: ['b'] }, { name: 'a', steps: ['b'] }).value).toEqual({
      name: 'a',
    });
  });

  it('in conflict are in the file with both values, and nothing else is', () => {
    const ours: Task = { ...base, name: 'ours', status: 'open', tags: ['a', 'b', 'd'] };
    const theirs: Task = { ...base, name: 'theirs', status: 'open', order: 2 };
    const merged = merge(base, ours, theirs);
    expect(merged).toMatchObject({ conflict: true, notes: ['both sides changed name'] });
    expect(merged.text).toBe(
      `<<<<<<< ours
name: ours
=======
name: theirs
>>>>>>> theirs
status: open
tags:
  - a
  - b
  - d
steps:
  - b
  - d
order: 2
`,
    );
    expect(() => task.codec.decode(merged.text ?? '', '')).toThrow('conflict markers');
  });

  it('in conflict are decided one by one', () => {
    const ours: Task = { ...base, name: 'ours', status: 'open', description: 'a\nb\nC' };
    const theirs: Task = { ...base, name: 'theirs', status: 'closed', description: 'A\nb\nc' };
    const texts = {
      base: task.codec.encode({ ...base, description: 'a\nb\nc' }),
      ours: task.codec.encode(ours),
      theirs: task.codec.encode(theirs),
    };
    const decide = (fields: Record<string, FieldDecision>, others?: 'ours') =>
      mergeRecord(task, 'tasks/a.yaml', texts, { fields: new Map(Object.entries(fields)), others });
    expect(mergeTexts(texts).fields).toEqual([
      { field: 'name', base: 'a', ours: 'ours', theirs: 'theirs' },
      { field: 'status', ours: 'open', theirs: 'closed' },
    ]);
    expect(decide({ name: 'theirs' })).toMatchObject({
      conflict: true,
      fields: [{ field: 'status' }],
      notes: ['both sides changed status'],
    });
    const both = { ...base, description: 'A\nb\nC' };
    for (const [decided, value] of [
      [decide({ name: 'theirs', status: 'ours' }), { name: 'theirs', status: 'open' }],
      [decide({ status: 'theirs' }, 'ours'), { name: 'ours', status: 'closed' }],
      [decide({ name: { text: 'own' }, status: 'theirs' }), { name: 'own', status: 'closed' }],
    ] as const) {
      expect(decided).toMatchObject({ conflict: false, fields: [] });
      expect(task.codec.decode(decided.text ?? '', '')).toEqual({ ...both, ...value });
    }
    // A text that makes no valid record is not written.
    expect(decide({ name: 'ours', status: { text: 'lost' } }).conflict).toBe(true);
  });

  it('with a text that both sides changed show the lines that conflict', () => {
    const text = (line: string) => ({ name: 'a', description: `one\n${line}\nthree\n` });
    expect(merge(text('two'), text('2'), text('zwei')).text).toBe(
      'name: a\ndescription: |\n  one\n<<<<<<< ours\n  2\n=======\n  zwei\n>>>>>>> theirs\n  three\n',
    );
  });

  it('conflict if one side removed a value that the other changed', () => {
    const merged = merge(
      { name: 'a', status: 'open' },
      { name: 'a' },
      { name: 'a', status: 'closed' },
    );
    expect(merged.text).toBe('name: a\n<<<<<<< ours\n=======\nstatus: closed\n>>>>>>> theirs\n');
  });
});

describe('an addition by a person', () => {
  const base = 'name: a\n# how it goes\nstatus: open\nowner: nobody\n';

  it('is kept from both sides: comments and keys that the schema does not know', () => {
    const ours = '# ours\nname: a\n# how it goes\nstatus: closed\nowner: ada\n';
    const theirs = 'name: b\n# how it goes\n# soon\nstatus: open\nowner: nobody\nroom: 7\n';
    const { text, conflict } = mergeTexts({ base, ours, theirs });
    expect(conflict).toBe(false);
    for (const part of ['# ours\n', '# soon\n', 'status: closed', 'owner: ada', 'room: 7']) {
      expect(text).toContain(part);
    }
  });

  it('is kept from both sides that made it in one place', () => {
    const [ours, theirs] = [`${base}room: 7\n`, `${base}# why\nfloor: 2\n`];
    expect(mergeTexts({ base, ours, theirs })).toMatchObject({
      conflict: false,
      text: `${base}room: 7\n# why\nfloor: 2\n`,
    });
  });

  it.each(['owner', 'constructor', 'toString'])(
    'is a conflict when both sides changed it: %s',
    (key) => {
      const [text, ours, theirs] = ['nobody', 'ada', 'bob'].map((name) =>
        base.replace('owner: nobody', `${key}: ${name}`),
      ) as [string, string, string];
      const merged = mergeTexts({ base: text, ours, theirs });
      expect(merged.conflict).toBe(true);
      expect(merged.text).toContain(
        `<<<<<<< ours\n${key}: ada\n=======\n${key}: bob\n>>>>>>> theirs\n`,
      );
    },
  );

  it('does not conflict because of its quoting', () => {
    const ours = 'name: a # quoted\nupdated_at: "2026-01-02T00:00:00Z"\n';
    const theirs = "name: a\nupdated_at: '2026-01-03T00:00:00Z'\n";
    const base = 'name: a\nupdated_at: "2026-01-01T00:00:00Z"\n';
    expect(mergeTexts({ base, ours, theirs })).toMatchObject({
      conflict: false,
      text: expect.stringMatching(/^name: a # quoted\nupdated_at: ["']2026-01-03T00:00:00Z["']\n$/),
    });
  });
});

describe('markdown records', () => {
  const base = '---\r\ntitle: T\r\nversion: 1\r\n---\r\n# T\r\n\r\n- a\r\n';

  it('merge their front matter and their body', () => {
    const ours = base.replace('1', '2').replace('- a', '- b\r\n- a');
    const theirs = base.replace('1', '3').replace('- a', '- c\r\n- a');
    expect(mergeRecord(page, 'a.md', { base, ours, theirs })).toEqual({
      text: '---\r\ntitle: T\r\nversion: 3\r\n---\r\n# T\r\n\r\n- b\r\n- c\r\n- a\r\n',
      conflict: false,
      notes: [],
      fields: [],
    });
  });

  it('name the sections in conflict, which are decided one by one', () => {
    const text = (one: string, two: string, item: string) =>
      `---\ntitle: T\nversion: 1\n---\n# T\n\n## One\n\n${one}\n\n### Why\n\n${two}\n\n## Two\n\n- ${item}\n- same\n`;
    const texts = {
      base: text('a', 'b', 'one two three'),
      ours: text('a1', 'b1', 'one two three four'),
      theirs: text('a2', 'b2', 'one two three five'),
    };
    expect(mergeRecord(page, 'a.md', texts).fields).toEqual([
      { field: 'One', base: 'a', ours: 'a1', theirs: 'a2' },
      { field: 'One > Why', base: 'b', ours: 'b1', theirs: 'b2' },
      {
        field: 'Two',
        base: '- one two three',
        ours: '- one two three four',
        theirs: '- one two three five',
      },
    ]);
    const fields = new Map<string, FieldDecision>([
      ['One', 'theirs'],
      ['One > Why', 'ours'],
      ['Two', { text: '- four\n- five\n' }],
    ]);
    expect(mergeRecord(page, 'a.md', texts, { fields, others: undefined })).toMatchObject({
      conflict: false,
      text: text('a2', 'b1', 'four\n- five'),
    });
  });

  it('merge their body line by line where that avoids a conflict', () => {
    const body = (heading: string, line: string) =>
      `---\ntitle: T\nversion: 1\n---\n# ${heading}\n\n${line}\n`;
    const texts = {
      base: body('Old', 'one'),
      ours: body('New', 'one'),
      theirs: body('Old', 'two'),
    };
    expect(mergeRecord(page, 'a.md', texts)).toMatchObject({
      text: body('New', 'two'),
      conflict: false,
    });
  });
});

describe('a file', () => {
  const text = 'name: a\n';

  it('that one side deleted is deleted, unless the other changed it', () => {
    expect(mergeTexts({ base: text, ours: undefined, theirs: text }).text).toBeUndefined();
    expect(mergeTexts({ base: text, ours: undefined, theirs: 'name: b\n' })).toMatchObject({
      text: 'name: b\n',
      conflict: true,
    });
  });

  it('that cannot be read as its type is merged line by line', () => {
    const lines = (first: string, last: string) => `${first}: [\n1\n2\n3\n${last}\n`;
    const merged = mergeTexts({
      base: lines('a', 'b'),
      ours: lines('A', 'b'),
      theirs: lines('a', 'B'),
    });
    expect(merged).toMatchObject({ text: lines('A', 'B'), conflict: false });
    expect(merged.notes[0]).toContain('it is not a valid task');
  });

  it('that cannot be merged into a valid record is a conflict as a whole', () => {
    const pair = z.object({ from: z.number(), to: z.number() });
    const ordered = pair.refine(({ from, to }) => from <= to, 'ends before it begins');
    const range = { name: 'range', codec: yamlCodec(ordered), merge: {} };
    const write = (from: number, to: number) => `from: ${from}\na: 1\nb: 2\nto: ${to}\n`;
    const texts = { base: write(1, 5), ours: write(4, 5), theirs: write(1, 2) };
    const merged = mergeRecord(range, 'a.yaml', texts);
    expect(merged.conflict).toBe(true);
    expect(merged.text).toContain('<<<<<<< ours');
  });

  it('has markers of the requested length', () => {
    const texts = { base: text, ours: 'name: b\n', theirs: 'name: c\n' };
    expect(mergeRecord(task, 'tasks/a.yaml', texts, 9).text).toBe(
      '<<<<<<<<< ours\nname: b\n=========\nname: c\n>>>>>>>>> theirs\n',
    );
  });

  it('shows a conflict that is only about the end of its last line', () => {
    const texts = { base: undefined, ours: 'a\n\n', theirs: 'a' };
    expect(mergeRecord(undefined, 'a.txt', texts)).toMatchObject({
      text: 'a\n<<<<<<< ours\n\n=======\n>>>>>>> theirs\n',
      conflict: true,
    });
  });
});
