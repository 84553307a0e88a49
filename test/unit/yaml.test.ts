import { describe, expect, it } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { maxYamlMarks } from '../../src/core/yaml/foreign.ts';
import { readCanonicalYaml } from '../../src/core/yaml/reader.ts';
import { writeYaml } from '../../src/core/yaml/writer.ts';
import {
  hasConflictMarkers,
  maxYamlBytes,
  readYaml,
  rewriteYaml,
} from '../../src/core/yaml/yaml.ts';

/** The MemoryError that reading a text throws, as `code: message`. */
function failure(text: string): string {
  try {
    readYaml(text);
  } catch (error) {
    if (error instanceof MemoryError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'no error';
}

describe('writeYaml', () => {
  it('is one key or one item a line', () => {
    const text = writeYaml({
      id: 'a',
      empty: [],
      none: {},
      left: undefined,
      list: ['x', ['y'], { a: 1, b: { c: null } }, {}],
      map: { 'a b': true, 'c:d': -0 },
      text: 'one\n\n  two \n',
      end: 'one\ntwo',
      more: '\n one\n\n',
    });
    expect(text).toBe(
      [
        'id: a',
        'empty: []',
        'none: {}',
        'list:',
        '  - x',
        '  - - "y"',
        '  - a: 1',
        '    b:',
        '      c: null',
        '  - {}',
        'map:',
        '  a b: true',
        '  "c:d": -0',
        'text: |',
        '  one',
        '',
        '    two ',
        'end: |-',
        '  one',
        '  two',
        'more: |2+',
        '',
        '   one',
        '',
        '',
      ].join('\n'),
    );
    expect(writeYaml({})).toBe('{}\n');
  });

  it.each([
    ...[
      'yes',
      'Off',
      'y',
      'NULL',
      '~',
      'True',
      '1e3',
      '0x1F',
      '0o7',
      '017',
      '1_000',
      '1,000',
      '-.5',
    ],
    ...['1:20', '190:20:30.5', '2024-01-01', '2025-04-09T15:30:22.000Z', '.inf', '-.INF', '.NaN'],
    ...[
      '',
      ' a',
      'a ',
      '- a',
      '-a',
      'a: b',
      'a:',
      'a #b',
      '#a',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
    ],
    ...[
      '`a',
      '=',
      '<<',
      '[a',
      '{a',
      "'a",
      '"a',
      ',a',
      '? a',
      '...a',
      '---',
      'a\tb',
      'a\rb',
      '\ufeffa',
      'a\u2028b',
    ],
  ])('quotes %j', (value) => {
    expect(writeYaml({ key: value }).startsWith('key: "')).toBe(true);
  });

  it.each([
    'a',
    'a: b'.replace(': ', ':'),
    'v1.2',
    '12 monkeys',
    'a-b',
    'é',
    '日本',
    '🔴',
    "it's",
    'a#b',
    '123e4567-e89b',
    '.env',
  ])('leaves %j plain', (value) => {
    expect(writeYaml({ key: value })).toBe(`key: ${value}\n`);
  });

  it('writes long keys so that every reader takes them', () => {
    const key = 'k'.repeat(2000);
    expect(readYaml(writeYaml({ [key]: { [key]: 1 }, list: [{ [key]: [1] }] }))).toEqual({
      [key]: { [key]: 1 },
      list: [{ [key]: [1] }],
    });
  });

  it('refuses numbers that JSON does not have', () => {
    expect(() => writeYaml({ a: Number.NaN })).toThrow(TypeError);
  });
});

describe('readYaml', () => {
  it('reads what a person writes', () => {
    const text = [
      '%YAML 1.2',
      '---',
      '# comment',
      "single: 'it''s'",
      'folded: >-',
      '  one',
      '  two',
      'flow: {a: [1, yes], "b": null}',
      'list:',
      '- 2024-01-01',
      '- 1_000',
      '<<: merge',
      'alias: [&x deep, *x]',
      'hex: 0x10',
      '...',
    ].join('\r\n');
    expect(readYaml(text)).toEqual({
      single: "it's",
      folded: 'one two',
      flow: { a: [1, 'yes'], b: null },
      list: ['2024-01-01', '1_000'],
      '<<': 'merge',
      alias: ['deep', 'deep'],
      hex: 16,
    });
    expect(readYaml('')).toEqual({});
  });

  it('makes __proto__ a key like any other', () => {
    for (const text of ['__proto__:\n  a: 1\n', '__proto__: {a: 1}\n']) {
      const value = readYaml(text);
      expect(Object.keys(value)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
  });

  it.each([
    ['a: 1\nb: [\n', 'damaged: line'],
    ['a: 1\nb: 2\na: 3\n', 'damaged: line 3: the key "a" is repeated'],
    ['a: {b: 1, b: 2}\n', 'damaged: line 1: the key "b" is repeated'],
    ['a: 1\nb: !!binary aGk=\n', 'damaged: line 2: tags are not supported'],
    ['a: !js/function x\n', 'damaged: line 1: Unresolved tag'],
    ['a: .inf\n', 'damaged: line 1: not a JSON value'],
    ['a: *b\n', 'damaged: line 1: no anchor for the alias *b'],
    ['a: &a [*a]\n', 'damaged: line 1: nested deeper'],
    ['a: &a [*a, *a]\n', 'damaged: line 1: '],
    ['? [a]\n: 1\n', 'damaged: line 1: '],
    ['- a\n', 'damaged: line 1: expected a map'],
    ['text\n', 'damaged: line 1: expected a map'],
    ['a: 1\n---\nb: 1\n', 'damaged: line 2: more than one YAML document'],
    ['a: "\\q"\n', 'damaged: line 1: '],
    ['a:\n\t- b\n', 'damaged: line 2: '],
    ['a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n', 'conflict: '],
    ['a: |\n  x\n<<<<<<< HEAD\n  b\n=======\n  c\n>>>>>>> x\n', 'conflict: '],
  ])('refuses %j', (text, error) => {
    expect(failure(text)).toContain(error);
  });

  const levels = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => ' '.repeat(i) + line(i)).join('\n');
  const laughs = Array.from('abcdefgh', (name, i) => {
    const inner = i === 0 ? 'x' : `*${String.fromCharCode(96 + i)}`;
    return `${name}: &${name} [${Array(9).fill(inner).join(', ')}]`;
  });
  it.each([
    ['too many bytes', `a: ${'b'.repeat(maxYamlBytes)}\n`, 'bytes of YAML'],
    ['100,000 keys', `# by hand\n${levels(1, () => 'a: b\n'.repeat(100_000))}`, 'lines and marks'],
    ['100,000 items in one line', `a: [${'b,'.repeat(100_000)}]`, 'lines and marks'],
    ['100,000 anchors in one line', `a: ${'&a '.repeat(100_000)}`, 'lines and marks'],
    ['deep maps', levels(1000, () => 'a:'), 'nested deeper'],
    ['deep lists', '- '.repeat(5000), 'nested deeper'],
    ['deep explicit keys', '? '.repeat(5000), 'nested deeper'],
    ['deep explicit keys with anchors', '? &a '.repeat(3000), 'nested deeper'],
    ['deep flow lists', '['.repeat(5000), 'nested deeper'],
    ['deep closed flow lists', `a: ${'['.repeat(3000)}${']'.repeat(3000)}`, 'nested deeper'],
    ['deep flow maps', '{a: '.repeat(3000), 'nested deeper'],
    ['deep canonical lists', writeYaml({ a: deep(100) }), 'nested deeper'],
    ['a billion laughs', laughs.join('\n'), `more than ${maxYamlMarks} values`],
  ])('refuses %s', (_, text, error) => {
    expect(failure(text)).toMatch(/^damaged: /);
    expect(failure(text)).toContain(error);
  });

  it('reads 20,000 canonical keys, and as deep as it writes', () => {
    const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));
    expect(readCanonicalYaml(writeYaml(keys))).toEqual(keys);
    expect(readYaml(writeYaml({ a: deep(63) }))).toEqual({ a: deep(63) });
    expect(readYaml(`# by hand\n${writeYaml({ a: deep(63) })}`)).toEqual({ a: deep(63) });
  });

  /** A list in a list in a list. */
  function deep(levels: number): [] {
    return levels === 1 ? [] : JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  }
});

describe('rewriteYaml', () => {
  const byHand = [
    '# A record',
    "id:   'x'   # never changes",
    '',
    'tags: # what it is about',
    '- one   # first',
    '- two',
    '# before three',
    '- three',
    'text: >',
    '    folded',
    '    text',
    '',
    'map:',
    '    a: 1',
    '    b: {c: 2}  # flow',
    'last: "end"',
  ].join('\n');
  const value = {
    id: 'x',
    tags: ['one', 'two', 'three'],
    text: 'folded text\n',
    map: { a: 1, b: { c: 2 } },
    last: 'end',
  };
  const change = (part: object) => rewriteYaml(byHand, { ...value, ...part });

  it('changes only what is different', () => {
    expect(readYaml(byHand)).toEqual(value);
    expect(change({ last: 'yes' })).toBe(`${byHand.replace('"end"', '"yes"')}\n`);
    expect(change({ id: 'y z' })).toBe(`${byHand.replace("'x'", 'y z').replace('id:  ', 'id:')}\n`);
    expect(change({ tags: ['zero', 'one', 'two', 'three'] })).toBe(
      `${byHand.replace('- one', '- zero\n- one')}\n`,
    );
    expect(change({ tags: ['one', 'three'] })).toBe(`${byHand.replace('- two\n', '')}\n`);
    expect(change({ tags: [] })).toContain('tags: []\ntext: >\n');
    expect(change({ text: 'a\nb\n' })).toBe(
      `${byHand.replace('text: >\n    folded\n    text\n', 'text: |\n  a\n  b\n')}\n`,
    );
    expect(change({ map: { a: 1, b: { c: 3 }, d: ['e'] } })).toBe(
      `${byHand.replace('b: {c: 2}  # flow\n', 'b:\n      c: 3\n    d:\n      - e\n')}\n`,
    );
    expect(change({ map: { b: { c: 2 } } })).toBe(`${byHand.replace('    a: 1\n', '')}\n`);
    expect(change({ map: {} })).toContain('\nmap: {}\nlast: "end"\n');
    expect(change({ more: 1 })).toBe(`${byHand}\nmore: 1\n`);
    const { id, ...rest } = value;
    expect(rewriteYaml(byHand, { id, first: 'a', ...rest })).toContain(
      "id:   'x'   # never changes\nfirst: a\n",
    );
  });

  it('lets the value win where it cannot edit', () => {
    const anchors = '# c\na: &x [1]\nb: *x\n';
    expect(readYaml(rewriteYaml(anchors, { a: [2], b: [1] }))).toEqual({ a: [2], b: [1] });
    expect(rewriteYaml('{a: 1, b: 2}', { a: 1, b: 3 })).toBe('a: 1\nb: 3\n');
  });
});

describe('hasConflictMarkers', () => {
  it('wants all three, in their order and at line starts', () => {
    expect(hasConflictMarkers('<<<<<<< a\n=======\n>>>>>>> b')).toBe(true);
    expect(hasConflictMarkers('x\r\n<<<<<<< a\r\n||||||| c\r\n=======\r\n>>>>>>> b\r\n')).toBe(
      true,
    );
    expect(hasConflictMarkers('Title\n=======\n')).toBe(false);
    expect(hasConflictMarkers('>>>>>>> a\n=======\n<<<<<<< b')).toBe(false);
    expect(hasConflictMarkers(' <<<<<<< a\n =======\n >>>>>>> b')).toBe(false);
  });
});
