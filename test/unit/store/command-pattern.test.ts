import { describe, expect, it } from 'vitest';
import { commandPattern } from '../../../src/store/modes/command-pattern.ts';
import fc from '../../support/fc.ts';

describe('a command pattern', () => {
  it.each([
    ['^(Update Memory Bank|UMB)$', ['UMB', 'umb', 'update memory bank'], ['umb!', 'an UMB', '']],
    ['umb', ['UMB'], ['umbrella', 'my umb']],
    ['^umb!?$', ['umb', 'UMB!'], ['umb!!']],
    [
      '(?:please )?update( the)? memory( bank)?',
      ['Update memory', 'please update the memory bank'],
    ],
    ['^save .+$', ['save this', 'SAVE all of it'], ['save ', 'save']],
    ['[^a-z]+', ['12 3', '!'], ['1a']],
    ['\\d+\\.\\d*', ['1.', '12.5'], ['1', 'x']],
    ['(a|b)*c', ['c', 'ABBAc'], ['ab']],
    ['Größe|更新', ['GRÖSSE'.replace('SS', 'ß'), '更新'], ['grosse']],
    ['[😀😁]+', ['😁😀'], ['😂']],
    ['a||b', ['', 'a', 'B'], ['ab']],
  ])('%s matches whole messages, ignoring case', (source, yes, no: string[] = []) => {
    const matches = commandPattern(source);
    expect(yes.filter((message) => matches?.(message))).toEqual(yes);
    expect(no.filter((message) => matches?.(message))).toEqual([]);
  });

  it.each([
    '(',
    'a)',
    '[',
    '[]',
    '*a',
    'a{2}',
    '(?=a)b',
    '(a)\\1',
    '\\',
    'a^b',
    '\\p{L}',
    '[z-a]',
    'a**',
  ])('%s is not supported', (source) => {
    expect(commandPattern(source)).toBeUndefined();
  });

  it('is matched quickly where a backtracking engine would never end', () => {
    const message = `${'a'.repeat(250)}!`;
    for (const source of [
      '(a+)+',
      '(a*)*',
      '(a|a)*',
      '(a|aa)+',
      'a?'.repeat(120),
      '(|)'.repeat(80),
    ]) {
      expect(commandPattern(source)?.(message)).toBe(false);
    }
    expect(commandPattern('(.*)*(.*)*(.*)*')?.(message)).toBe(true);
    expect(commandPattern('.*')?.('a'.repeat(1_000_000))).toBe(false);
    expect(commandPattern('a'.repeat(1_000_000))).toBeUndefined();
  });

  it('agrees with the regular expressions of JavaScript', () => {
    const sequence = (atom: fc.Arbitrary<string>) =>
      fc
        .array(fc.tuple(atom, fc.constantFrom('', '', '?', '*', '+', '+?')), { maxLength: 3 })
        .map((parts) => parts.flat().join(''));
    const flat = sequence(fc.constantFrom('a', 'B', '.', '[ab]', '[^a]', '\\.', '\\w', '\\S', 'c'));
    const nested = (inner: fc.Arbitrary<string>) =>
      sequence(
        fc.oneof(
          inner.map((a) => `(${a})`),
          fc.tuple(inner, inner).map(([a, b]) => `(?:${a}|${b})`),
        ),
      );
    const expression = fc.oneof(flat, nested(flat), nested(nested(flat)));
    const message = fc.string({
      unit: fc.constantFrom('a', 'b', 'A', '.', 'c', '!'),
      maxLength: 6,
    });
    fc.assert(
      fc.property(expression, message, (source, said) => {
        expect(commandPattern(source)?.(said)).toBe(new RegExp(`^(?:${source})$`, 'iu').test(said));
      }),
      { numRuns: 500 },
    );
  });
});
