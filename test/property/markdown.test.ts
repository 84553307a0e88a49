import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTable } from 'micromark-extension-gfm-table';
import { describe, expect, it } from 'vitest';
import {
  appendSection,
  insertInSection,
  outline,
  prependToList,
  replaceList,
} from '../../src/core/markdown/sections.ts';
import { prose } from '../../src/core/markdown/text.ts';
import { corpusMarkdown } from '../support/corpus-markdown.ts';
import { deep, isFull, sample } from '../support/depth.ts';
import fc from '../support/fc.ts';

const files = corpusMarkdown();

/** Text that would break the markdown around it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '# ',
          '## B',
          '- ',
          '* ',
          '+',
          '-',
          '1. ',
          '2)',
          '> ',
          '```',
          '~~~~',
          '---',
          '===',
          '***',
          '_ _ _',
        ],
        ...[
          '\n',
          '\n',
          '\n',
          '\n\n',
          '\r\n',
          '\r',
          '\t',
          '  ',
          '    ',
          '\\',
          '$&',
          '[x]: /evil',
          '[x]:',
          '[^1]: a',
        ],
        ...[
          '<!--',
          '-->',
          '<div>',
          '<pre>',
          '</',
          '<?',
          '|',
          '| a |\n|---|',
          '&#35;',
          '[ ] ',
          'text',
          '\u2028',
          '~',
        ],
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))
  .filter((text) => text.trim() !== '');

const before = '# T\n\n[x] [^1]\n\n## A\n\n';
const after = '\n\n## B\n\n[x]\n\n- b\n';

type Tree = { readonly type: string; readonly value?: string; readonly children?: readonly Tree[] };

const parse = (text: string): Tree => fromMarkdown(text, { extensions: [gfmTable()] });

/** The types of all nodes below a node that are not inline markdown. */
function blocks(node: Tree): string[] {
  const inline = ['text', 'emphasis', 'strong', 'inlineCode', 'link', 'image', 'break'];
  const here = inline.includes(node.type) || node.type === 'html' ? [] : [node.type];
  return [...here, ...(node.children ?? []).flatMap(blocks)];
}

describe('an item', () => {
  it('is one item of paragraphs and code for any text', () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom('-', '*', '1.'), (item, marker) => {
        const text = `${before}${marker} old${after}`;
        const edited = prependToList(text, 'A', item);
        expect(edited.startsWith(before)).toBe(true);
        expect(edited.endsWith(`${marker} old${after}`)).toBe(true);
        const tree = parse(edited);
        const kinds = (parse(text).children ?? []).map(({ type }) => type);
        expect((tree.children ?? []).map(({ type }) => type)).toEqual(kinds);
        const list = tree.children?.find(({ type }) => type === 'list');
        expect(list?.children).toHaveLength(2);
        const inside = new Set((list?.children?.[0]?.children ?? []).flatMap(blocks));
        for (const kind of inside) expect(['paragraph', 'code', 'linkReference']).toContain(kind);
        expect(outline(edited).map(({ heading }) => heading)).toEqual(['T', 'A', 'B']);
      }),
      { numRuns: isFull ? 300 : 10 },
    );
  });

  it('decodes to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        fc.pre(text.trim() !== '' && !/[&<`*_[\]!\\~]|\w:|@/.test(text));
        const list = parse(replaceList('', 'A', [text])).children?.[1];
        const read = (node?: Tree): string =>
          node?.value ?? node?.children?.map(read).join('') ?? '';
        expect(read(list).replace(/\s+/g, ' ')).toBe(text.trim().replace(/\s+/g, ' '));
      }),
    );
  });

  deep('does not change the number of items', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (items) => {
        const edited = replaceList(`${before}- old\n- older${after}`, 'A', items);
        const list = parse(edited).children?.find(({ type }) => type === 'list');
        expect(list?.children).toHaveLength(items.length);
        expect(replaceList(edited, 'A', items)).toBe(edited);
      }),
    );
  });
});

describe('prose', () => {
  it('contains no heading and no open block', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const edited = `${before}${prose(text)}${after}`;
        expect(outline(edited).map(({ heading }) => heading)).toEqual(['T', 'A', 'B']);
        expect(blocks(parse(edited)).filter((kind) => kind === 'definition')).toEqual([]);
      }),
      {
        numRuns: isFull ? 300 : 10,
        // A space outside ASCII ends neither a destination nor a label.
        examples: [['[^1]: a\u00a0*'], ['[x]:\u2003!'], ['[x]: \u2028'], ['[\u00a0]: /evil']],
      },
    );
  });
});

/** Real files with conflict markers, which are never edited. */
const conflicted = files.filter(({ text }) => /^<{7} /m.test(text));
const sound = files.filter((file) => !conflicted.includes(file));

describe.skipIf(files.length === 0)('a real file', () => {
  const edits: readonly [name: string, edit: (text: string, heading: string) => string][] = [
    ['insertInSection', (text, heading) => insertInSection(text, heading, 'new\n```\nopen')],
    ['prependToList', (text, heading) => prependToList(text, heading, '# new\n- x')],
    ['replaceList', (text, heading) => replaceList(text, heading, ['new', '---'])],
    ['replaceList with nothing', (text, heading) => replaceList(text, heading, [])],
  ];

  it.each(edits)('keeps every byte outside the section: %s', (_, edit) => {
    for (const { name, text } of conflicted) {
      expect(() => edit(text, 'Any'), name).toThrow('conflict markers');
    }
    for (const { name, text } of sample(sound, 20)) {
      const sections = outline(text);
      for (const { heading } of sections.filter((section) => section.heading !== '').slice(0, 6)) {
        const place = `${name} / ${heading}`;
        const edited = edit(text, heading);
        const own = sections.find(
          (section) =>
            letters(section.heading) === letters(heading) &&
            edited.startsWith(text.slice(0, section.bodyStart)) &&
            edited.endsWith(text.slice(section.bodyEnd)),
        );
        expect(own, place).toBeDefined();
        expect(outline(edited).map(titles), place).toEqual(sections.map(titles));
      }
    }
  });

  deep('gets a new section at its end', () => {
    for (const { name, text } of sound) {
      const edited = appendSection(text, '## New section\n\ntext');
      expect(outline(edited).map(titles), name).toEqual([
        ...outline(text).map(titles),
        '2 New section',
      ]);
      expect(edited.startsWith(text.trimEnd()), name).toBe(true);
    }
  });
});

const titles = ({ level, heading }: { level: number; heading: string }) => `${level} ${heading}`;
const letters = (heading: string) => heading.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
