import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Codec, markdownCodec, yamlCodec } from '../../src/core/record/codec.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const schema = z.object({
  id: z.string(),
  title: z.string(),
  body: z.string(),
  count: z.int().optional(),
  done: z.boolean().nullable(),
  tags: z.array(z.string()),
  items: z.array(z.object({ key: z.string(), note: z.string().optional() })),
  data: z.record(z.string(), z.unknown()).optional(),
});
type Record = z.infer<typeof schema>;

/** Texts that UTF-8 can contain; the codec refuses others. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('\n', '\r', ' ', '\t', '-', '---\n', ':', '#', 'a', '\ufeff', '"'),
    }),
    fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    }),
  )
  .filter((made) => made.isWellFormed());
/** Keys that an object inherits. */
const inherited = fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype));
const record: fc.Arbitrary<Record> = fc.record(
  {
    id: text,
    title: text,
    body: text,
    count: fc.maxSafeInteger(),
    done: fc.option(fc.boolean()),
    tags: fc.array(text),
    items: fc.array(fc.record({ key: text, note: text }, { requiredKeys: ['key'] })),
    data: fc.dictionary(fc.oneof(text, inherited), fc.jsonValue({ stringUnit: 'grapheme' })).map(
      // zod drops this key from a record.
      (data) => Object.fromEntries(Object.entries(data).filter(([key]) => key !== '__proto__')),
    ),
  },
  { requiredKeys: ['id', 'title', 'body', 'done', 'tags', 'items'], noNullPrototype: true },
);
/** Edits by a person or another program that do not change the meaning of a text. */
const hand = fc.constantFrom(
  (file: string) => file,
  (file: string) => file.replace(/^(?!---)/, '# by hand\n').replace(/^---\n/, '---\n# by hand\n'),
  (file: string) =>
    file.replace(/^(?!---)/, 'colour: red\n').replace(/^---\n/, '---\ncolour: red\n'),
  (file: string) => `\ufeff${file}`,
);
const codecs: [string, Codec<Record>][] = [
  ['yaml', yamlCodec(schema)],
  ['markdown', markdownCodec(schema, 'body')],
  ['markdown with a final newline', markdownCodec(schema, 'body', 'newline')],
];

describe.each(codecs)('the laws of the %s codec', (_, codec) => {
  it('decode(encode(x)) is x, through a file in UTF-8', () => {
    fc.assert(
      fc.property(record, (value) => {
        const bytes = Buffer.from(codec.encode(value));
        expect(codec.decode(bytes.toString(), 'x')).toEqual(value);
      }),
      { numRuns: runs(300) },
    );
  });

  it('encode(decode(t), t) is t', () => {
    fc.assert(
      fc.property(record, hand, (value, change) => {
        const file = change(codec.encode(value));
        expect(codec.encode(codec.decode(file, 'x'), file)).toBe(file);
      }),
      { numRuns: runs(300) },
    );
  });

  it('encode of equal values is equal', () => {
    const backwards = (value: object) => Object.fromEntries(Object.entries(value).reverse());
    fc.assert(
      fc.property(record, (value) => {
        const data = value.data && backwards(value.data);
        const turned = schema.parse(backwards({ ...value, ...(data && { data }) }));
        expect(codec.encode({ ...turned, ...(data && { data }) })).toBe(codec.encode(value));
      }),
      { numRuns: runs(300) },
    );
  });

  deep('decode(encode(y, t)) is y, and additions of a person to t are kept', () => {
    fc.assert(
      fc.property(record, record, hand, (before, after, change) => {
        const file = change(codec.encode(before));
        const next = codec.encode(after, file);
        expect(codec.decode(next, 'x')).toEqual(after);
        for (const trace of ['# by hand\n', 'colour: red\n', '\ufeff']) {
          if (file.slice(0, 40).includes(`\n${trace}`)) expect(next).toContain(trace);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('a file that ends in a newline', () => {
  const codec = markdownCodec(z.object({ key: z.string(), body: z.string() }), 'body', 'newline');
  const ends = fc.constantFrom('', '\n', '\n\n', '\r\n', '\r', '\n---\n', ' \n');
  const body = fc.tuple(text, ends).map((parts) => parts.join(''));

  it('has exactly one at its end, and the value is what was given', () => {
    fc.assert(
      fc.property(body, (body) => {
        const value = { key: 'a', body };
        const file = codec.encode(value);
        expect(file).toMatch(/[^\r\n]\n$/);
        expect(codec.decode(Buffer.from(file).toString(), 'x')).toEqual(value);
        const before = codec.encode({ key: 'a', body: 'before' });
        expect(codec.decode(codec.encode(value, before), 'x')).toEqual(value);
      }),
      { numRuns: runs(300) },
    );
  });

  it.each([
    ['without a newline, as older versions wrote it', 'one\ntwo', 'one\ntwo'],
    ['with the newline of an editor', 'one\ntwo\n', 'one\ntwo'],
    ['with the newline of an editor on Windows', 'one\r\n', 'one'],
    ['with two', 'one\n\n', 'one\n'],
    ['without a text', '', ''],
    ['with an empty line', '\n', ''],
  ])('is read %s', (_, end, body) => {
    const file = `---\nkey: a\n---\n${end}`;
    const value = codec.decode(file, 'x');
    expect(value).toEqual({ key: 'a', body });
    expect(codec.encode(value, file)).toBe(file);
  });
});
