import { describe, expect, it } from 'vitest';
import {
  findReferences,
  formatReference,
  isProjectPath,
  maxReferences,
  parseReference,
} from '../../src/core/evidence/reference.ts';
import { SimilarTexts } from '../../src/core/evidence/similarity.ts';
import { formatFingerprint, parseFingerprint, SpanText } from '../../src/core/evidence/span.ts';
import { deep, isFull } from '../support/depth.ts';

const found = (text: string) => findReferences(text).map(formatReference);

describe('the references of a text', () => {
  it.each([
    ['See src/git/lock.ts:40-52.', ['src/git/lock.ts:40-52']],
    ['The lock (src/lock.ts:40), and README.md!', ['src/lock.ts:40', 'README.md']],
    ['`src/a b.ts:3` and **src/c.ts**', ['src/a b.ts:3', 'src/a', 'b.ts:3', 'src/c.ts']],
    ['[lock](src/lock.ts#L40-L52) [x](<src/a b.ts>)', ['src/lock.ts:40-52', 'src/a b.ts']],
    ['[a](src/a%20b.ts#L7)', ['src/a b.ts:7']],
    ['run `npx vitest test/a.test.ts`', ['npx vitest test/a.test.ts', 'test/a.test.ts']],
    ['paths:\n  - src/a.ts\n  - "./src/b/"', ['src/a.ts', 'src/b']],
    ['a `Makefile` is certain by its marks, a Makefile is not', ['Makefile']],
    ['an error at src/a.ts:12:8', ['src/a.ts:12']],
    ['src/a.ts:40 src/a.ts:40', ['src/a.ts:40']],
    ['`app/[id]/(group)/page.tsx`', ['app/[id]/(group)/page.tsx']],
    ['``src/a.ts`` is read, either/or. By ``src/b.ts``.', ['src/a.ts', 'either/or', 'src/b.ts']],
    ['`` src/a`b.ts `` and `src/c.ts`', ['src/a`b.ts', 'src/a', 'b.ts', 'src/c.ts']],
    ['`a ``b.ts`` c` and ```` src/d.ts', ['a ``b.ts`` c', 'b.ts', 'src/d.ts']],
  ])('%j', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('never lead out of the project, to files of git or to the memory', () => {
    const texts = ['../a.ts', '/etc/passwd', 'a/../../b.ts', '.git/config', 'a/.GIT/hooks/x.sh'];
    for (const text of [...texts, '.memory-bank/a.md', 'https://example.org/a.ts', 'a\\b.ts']) {
      expect(found(`\`${text}\` ${text} [x](${text})`).filter((one) => one.includes('..'))).toEqual(
        [],
      );
      expect(isProjectPath(text)).toBe(false);
    }
  });

  it('have only names that a file can have', () => {
    const name = 'a'.repeat(255);
    expect(parseReference(`src/${name}`)).toEqual({ path: `src/${name}` });
    expect(parseReference(`src/${name}a/b.ts`)).toBeUndefined();
  });

  it('need lines that can exist', () => {
    expect(parseReference('a.ts:0')).toBeUndefined();
    expect(parseReference('a.ts:9-3')).toBeUndefined();
    expect(parseReference('a.ts:99999999')).toBeUndefined();
    expect(parseReference('a.ts:9')).toEqual({ path: 'a.ts', lines: { first: 9, last: 9 } });
  });

  deep('of a hostile text are bounded', () => {
    const size = isFull ? 500_000 : 50_000;
    const many = Array.from({ length: 2 * size }, (_, i) => `a/${i}.ts`).join(' ');
    expect(findReferences(many)).toHaveLength(maxReferences);
    const ticks = ['`', '``', '`a``', '``a`b```', '```a`` '];
    for (const piece of [...ticks, '](', '](<', 'a/', ':1', '.', '*']) {
      expect(findReferences(piece.repeat(size)).length).toBeLessThanOrEqual(maxReferences);
    }
  });
});

const code = 'one\n\n  two\nthree\nfour\n';

describe('a span', () => {
  const two = new SpanText(code).fingerprint({ first: 2, last: 4 });
  const locate = (text: string, first = 2, last = 4) =>
    two && new SpanText(text).locate(two, { first, last });

  it('is fresh in its old lines, whatever the indentation and blank lines', () => {
    expect(two?.lines).toBe(2);
    expect(locate(code)).toEqual({ verdict: 'fresh', lines: { first: 2, last: 4 } });
    expect(locate('one\ntwo\r\n\t\tthree \nfour')).toMatchObject({ verdict: 'moved' });
    expect(locate('one\n\ntwo\r\n\tthree\r\n')).toMatchObject({ verdict: 'fresh' });
  });

  it('is moved if its text is elsewhere once, and ambiguous if it is there more often', () => {
    expect(locate(`zero\n\n${code}`)).toEqual({ verdict: 'moved', lines: { first: 5, last: 6 } });
    const twice = `a\nb\nc\nd\ntwo\nthree\n${'x\n'.repeat(50)}two\n\nthree\n`;
    expect(locate(twice, 50, 51)).toEqual({ verdict: 'ambiguous', lines: { first: 57, last: 59 } });
    expect(locate(twice, 2, 3)).toEqual({ verdict: 'ambiguous', lines: { first: 5, last: 6 } });
  });

  it('is changed if one of its lines is', () => {
    expect(locate('one\n\ntwo\nthree!\nfour')).toEqual({ verdict: 'changed' });
    expect(locate('')).toEqual({ verdict: 'changed' });
  });

  it('has no fingerprint beyond the end and in blank lines', () => {
    const text = new SpanText(code);
    expect(text.lineCount).toBe(5);
    expect(text.fingerprint({ first: 5, last: 6 })).toBeUndefined();
    expect(text.fingerprint({ first: 2, last: 2 })).toBeUndefined();
  });

  it('has a fingerprint that can be stored', () => {
    const stored = two && formatFingerprint(two);
    expect(stored).toMatch(/^2-[0-9a-f]{16}$/);
    expect(parseFingerprint(stored ?? '')).toEqual(two);
    expect(parseFingerprint('0-0123456789abcdef')).toBeUndefined();
    expect(parseFingerprint('2-xyz')).toBeUndefined();
  });

  it('keeps its fingerprint in later versions of the program', () => {
    expect(two && formatFingerprint(two)).toMatchInlineSnapshot(`"2-0dc638763973700e"`);
  });
});

describe('similar texts', () => {
  it('have a share of their lines in common, by length and number', () => {
    const of = (a: string, b: string) => {
      const texts = new SimilarTexts();
      texts.add('a', new SpanText(a));
      return texts.alike(new SpanText(b)).get('a');
    };
    expect(of('a\nb\nc\nd', 'a\nb\n\nx\nd')).toBe(0.75);
    expect(of('long line\na', 'long line\nb')).toBe(10 / 12);
    expect(of('a\na\na\na', 'a\nb\nb\na')).toBe(0.5);
    expect(of('a', 'b')).toBeUndefined();
    expect(of('', '')).toBeUndefined();
  });

  it('cost bounded time if many have the same lines', () => {
    const texts = new SimilarTexts();
    const text = new SpanText('}\n'.repeat(1000));
    for (let i = 0; i < 1000; i++) texts.add(`${i}`, text);
    expect(texts.alike(text).size).toBeLessThan(300);
  });
});
