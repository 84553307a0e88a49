import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { markdownCodec, yamlCodec } from '../../src/core/record/codec.ts';
import { MemoryError } from '../../src/core/values/error.ts';

const path = 'x.md';
const task = z.object({
  id: z.string(),
  title: z.string(),
  order: z.int(),
  tags: z.array(z.string()).default([]),
  note: z.string().nullable().optional(),
  owner: z.object({ name: z.string(), mail: z.string().optional() }).optional(),
});
const note = z.object({ key: z.string(), content: z.string(), metadata: z.unknown().optional() });
const tasks = yamlCodec(task);
const notes = markdownCodec(note, 'content');

/** The message of the MemoryError that a function throws, behind its code. */
function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof MemoryError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'no error';
}

describe('yamlCodec', () => {
  const value = { id: 'a1', title: 'yes', order: 3, tags: ['x', '1e3'] };

  it('writes one field a line in the order of the schema', () => {
    const text = tasks.encode({ tags: ['x', '1e3'], order: 3, title: 'yes', id: 'a1' });
    expect(text).toBe('id: a1\ntitle: "yes"\norder: 3\ntags:\n  - x\n  - "1e3"\n');
    expect(tasks.decode(text, path)).toEqual(value);
  });

  it('names the field that is wrong', () => {
    expect(failure(() => tasks.decode('id: a\ntitle: b\norder: c\n', path))).toBe(
      'damaged: field order: expected number, received string',
    );
    expect(failure(() => tasks.decode('id: a\n', path))).toContain('field title: is required');
    expect(failure(() => tasks.decode('', path))).toContain('field id: is required');
  });

  it('keeps a text that says the same, however it is written', () => {
    const text = '# mine\nid:   \'a1\'\norder: 0x3\ntitle: "yes"\n';
    expect(tasks.encode(tasks.decode(text, path), text)).toBe(text);
  });

  it('keeps unknown keys where they stand, in items of lists, too', () => {
    const rows = yamlCodec(z.object({ rows: z.array(z.object({ id: z.string() })) }));
    const text = 'colour: red\nrows:\n  - id: a\n    mark: 1\n  - id: b\nsize: 2\n';
    expect(rows.encode({ rows: [{ id: 'c' }, { id: 'a' }] }, text)).toBe(
      'colour: red\nrows:\n  - id: c\n  - id: a\n    mark: 1\nsize: 2\n',
    );
  });

  it('keeps comments, unknown keys and quoting when a field changes', () => {
    const text = [
      '# mine',
      "id: 'a1' # the id",
      '',
      'title: Old # the title',
      'order: 3',
      'colour: "red"',
      'tags:',
      '  # first',
      '  - x',
      'owner:',
      '  name: Ann',
      '  phone: 12 # unknown, too',
      '',
    ].join('\n');
    const now = { ...tasks.decode(text, path), title: 'New', tags: ['x', 'z'], order: 3 };
    expect(tasks.encode({ ...now, owner: { name: 'Bob' } }, text)).toBe(
      text.replace('Old', 'New').replace('  - x\n', '  - x\n  - z\n').replace('Ann', 'Bob'),
    );
  });
});

test.each(Object.getOwnPropertyNames(Object.prototype))('a key %s is one like any other', (key) => {
  const file = '---\n# by hand\nkey: k\nmetadata:\n  A: 1 # mine\n---\n';
  const value = (metadata: unknown) => ({ key: 'k', content: '', metadata });
  const data = Object.fromEntries([
    ['A', 1],
    [key, { a: 1 }],
  ]);
  const written = notes.encode(value(data), file);
  expect(written).toBe(file.replace('mine\n', `mine\n  ${key}:\n    a: 1\n`));
  expect(notes.decode(written, path).metadata).toEqual(data);
  expect(notes.encode(value({ A: 1 }), written)).toBe(file);
});

describe('a record that cannot be kept', () => {
  it('is refused when it is too deep or too large', () => {
    const deep = JSON.parse('['.repeat(200) + ']'.repeat(200));
    const note = (metadata: unknown) => ({ key: 'k', content: '', metadata });
    expect(failure(() => notes.encode(note(deep)))).toMatch(/^too_large: .*deeper than 64/);
    expect(failure(() => notes.encode(note('x'.repeat(2 ** 20))))).toMatch(/^too_large: .*bytes/);
  });

  it('is a defect when it does not fit its own schema', () => {
    const wrong = { id: 'a', title: 'b', order: 0.5, tags: [] };
    expect(() => tasks.encode(wrong)).toThrow(TypeError);
  });
});

describe('markdownCodec', () => {
  it('keeps every body byte for byte', () => {
    const bodies = [
      '',
      '\n',
      'a',
      'a\r\nb\r',
      '---\n',
      '---\nx: 1\n---\n',
      '\ufeffa',
      '\n\n# a\n\n',
      '\0',
    ];
    for (const content of bodies) {
      const text = notes.encode({ key: 'k', content });
      expect(text).toBe(`---\nkey: k\n---\n${content}`);
      expect(notes.decode(text, path)).toEqual({ key: 'k', content });
      expect(notes.encode({ key: 'l', content: 'new' }, text)).toBe('---\nkey: l\n---\nnew');
    }
  });

  it('refuses what UTF-8 cannot contain, and reads the escape of an old file as one character', () => {
    const refused = /^invalid_input: .*half of a surrogate pair/;
    expect(failure(() => notes.encode({ key: 'k', content: 'a\n\ud800' }))).toMatch(refused);
    expect(failure(() => notes.encode({ key: '\udc00', content: '' }))).toMatch(refused);
    const text = '---\nkey: k\ncontent: "a\\n\\ud800"\n---\n';
    const value = { key: 'k', content: 'a\n\ufffd' };
    expect(notes.decode(text, path)).toEqual(value);
    expect(notes.encode(value, text)).toBe(text);
    expect(notes.encode({ key: 'k', content: 'b' }, text)).toBe('---\nkey: k\n---\nb');
  });

  it('tells a merge that was left unfinished', () => {
    const markers = (a: string, b: string) => `<<<<<<< HEAD\n${a}=======\n${b}>>>>>>> x\n`;
    const inside = `---\n${markers('key: a\n', 'key: b\n')}---\nbody\n`;
    const across = `---\n${markers('key: a\n---\nbody a\n', 'key: b\n---\nbody b\n')}`;
    const around = markers('---\nkey: a\n---\n', '---\nkey: b\n---\n');
    for (const text of [inside, across, around]) {
      expect(failure(() => notes.decode(text, path))).toMatch(/^conflict: /);
    }
    const quoted = { key: 'k', content: markers('a\n', 'b\n') };
    expect(notes.decode(notes.encode(quoted), path)).toEqual(quoted);
  });

  it('reads and keeps the style of other editors', () => {
    const text = '\ufeff---\r\nkey: k # mine\r\nmore: 1\r\n---  \r\nbody\r\n';
    const value = notes.decode(text, path);
    expect(value).toEqual({ key: 'k', content: 'body\r\n' });
    expect(notes.encode(value, text)).toBe(text);
    expect(notes.encode({ key: 'l', content: 'x' }, text)).toBe(
      '\ufeff---\r\nkey: l # mine\r\nmore: 1\r\n---\r\nx',
    );
    expect(notes.decode('---\nkey: k\n---', path)).toEqual({ key: 'k', content: '' });
  });

  it('says what is missing', () => {
    expect(failure(() => notes.decode('# a', path))).toMatch(
      /^damaged: expected YAML front matter/,
    );
    expect(failure(() => notes.decode('---\nkey: k\n', path))).toMatch(
      /^damaged: .*no closing line/,
    );
  });
});
