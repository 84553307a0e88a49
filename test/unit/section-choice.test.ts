import { describe, expect, test } from 'vitest';
import { changedSections, takeSections } from '../../src/store/merge/section-choice.ts';

const log = (...entries: readonly string[]) =>
  ['# Log\n', ...entries.map((entry) => `\n## ${entry}\n\nText of ${entry}.\n`)].join('');

/** Takes the sections with these headings. */
const take = (before: string, after: string, ...headings: readonly string[]) =>
  takeSections(before, after, ({ heading }) => headings.includes(heading));

const changed = (before: string, after: string) =>
  changedSections(before, after).map(
    ({ section, isRemoved }) => `${isRemoved ? '-' : ''}${section.heading}`,
  );

describe('sections of a later text', () => {
  test('are taken into the earlier one, and the others are not', () => {
    const before = log('one', 'two');
    expect(take(before, log('one', 'new', 'two', 'last'), 'last')).toBe(log('one', 'two', 'last'));
    expect(take(before, log('one', 'new', 'two', 'last'), 'new')).toBe(log('one', 'new', 'two'));
    expect(take(before, log('new', 'last', 'one', 'two'))).toBe(before);
    const edited = log('one', 'two', 'last').replaceAll('Text', 'Words');
    expect(take(before, edited, 'one')).toBe(before.replace('Text of one', 'Words of one'));
  });

  test('are removed where the later text does not have them', () => {
    const before = log('one', 'two', 'three');
    expect(take(before, log('two'), 'one')).toBe(log('two', 'three'));
    expect(changed(before, log('two', 'four'))).toEqual(['-one', '-three', 'four']);
  });

  test('with one title are told apart by their text', () => {
    const before = log('same');
    const after = `${before}\n## same\n\nAnother text.\n`;
    const second = takeSections(before, after, ({ path }, isOfBefore) =>
      isOfBefore ? false : path === 'Log > same (2)',
    );
    expect(second).toBe(after);
    const above = `# Log\n\n## same\n\nAnother text.\n\n## same\n\nText of same.\n`;
    expect(
      takeSections(before, above, ({ path }, isOfBefore) => !isOfBefore && path === 'Log > same'),
    ).toBe(above);
  });

  test('get the headings that they are below, and keep front matter and line ends', () => {
    expect(take('', log('one', 'two'), 'two')).toBe(log('two'));
    const before = `---\r\na: 1\r\n---\r\n${log('one').replaceAll('\n', '\r\n')}`;
    const after = `---\r\na: 2\r\n---\r\n${log('one', 'two').replaceAll('\n', '\r\n')}`;
    expect(take(before, after, 'two')).toBe(after.replace('a: 2', 'a: 1'));
    expect(take(before.trimEnd(), after, 'two')).toBe(after.replace('a: 2', 'a: 1').trimEnd());
  });

  test('are listed by entry, not by the title or by the headings in an entry', () => {
    const before = log('one\n\n### Part', 'two');
    const after = log('one\n\n### Part\n\nMore', 'two', 'three');
    expect(changed(before, after)).toEqual(['one', 'three']);
    expect(changed(before, before)).toEqual([]);
  });
});
