import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { markdownCodec, yamlCodec } from '../../src/core/codec.ts';
import { MemoryError } from '../../src/core/error.ts';

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
      '\0\ud800',
    ];
    for (const content of bodies) {
      const text = notes.encode({ key: 'k', content });
      expect(text).toBe(`---\nkey: k\n---\n${content}`);
      expect(notes.decode(text, path)).toEqual({ key: 'k', content });
      expect(notes.encode({ key: 'l', content: 'new' }, text)).toBe('---\nkey: l\n---\nnew');
    }
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
