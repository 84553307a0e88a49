import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTable } from 'micromark-extension-gfm-table';
import { describe, expect, it } from 'vitest';
import { parseBlocks } from '../../src/core/markdown/blocks.ts';
import { corpusMarkdown } from '../support/corpus-markdown.ts';
import { runs, sample } from '../support/depth.ts';
import fc from '../support/fc.ts';

/** The positions of headings, lists and code by micromark; edits of sections depend on them. */
function expected(text: string): string[] {
  const tree = fromMarkdown(text, { extensions: [gfmTable()] });
  return tree.children.flatMap((node) =>
    summary(
      text,
      node.type,
      node.position?.start.offset,
      node.position?.end.offset,
      node.type === 'heading' ? node.depth : node.type === 'list' ? node.children.length : 0,
    ),
  );
}

function actual(text: string): string[] {
  return parseBlocks(text).flatMap(({ kind, start, end, level, children }) =>
    summary(text, kind, start, end, level ?? children.length),
  );
}

function summary(text: string, kind: string, start = 0, end = 0, size = 0): string[] {
  const [first, last] = [start, end].map((at) => text.slice(0, at).trimEnd().length);
  if (kind === 'code' || kind === 'fence') return [`code ${first}`];
  // With a definition above a title, micromark varies in where the heading begins.
  if (kind === 'heading') return [`heading ${size} ${last}`];
  return kind === 'list' ? [`list ${size} ${first} ${last}`] : [];
}

describe('parseBlocks', () => {
  // Excludes cases in which micromark differs from CommonMark; the unit tests have them.
  const piece = fc.constantFrom(
    ...['# ', '## ', '#', '- ', '* ', '1. ', '> ', '>', '```', '~~~', '```js', '---', '===', '***'],
    ...[
      '-',
      '=',
      'a',
      'b c',
      '|',
      '| a |',
      '|---|',
      'a | b',
      '--- | ---',
      '<div>',
      '</div>',
      '<!--',
    ],
    ...[
      '-->',
      '<pre>',
      'x</pre>',
      '<?',
      '?>',
      '[a]: b',
      '[a]:',
      '"t"',
      '\\',
      '  ',
      ' ',
      '#  ',
      '&',
    ],
    ...['[ ] ', '`'],
  );
  const line = fc
    .array(piece, { maxLength: 4 })
    .map((pieces) => pieces.join(''))
    .filter((text) => !/^ {4}/.test(text) && !/(?:[-*>]|1\.) *(?:[-*]|1\.)[ >]*$/.test(text));
  const eol = fc.constantFrom('\n', '\n', '\n', '\r\n', '\r', '\n\n');
  const text = fc
    .array(fc.tuple(line, eol), { maxLength: 9 })
    .map((lines) => lines.map(([content, end]) => content + end).join(''))
    .filter((text) => !/\|[\s\S]*^[ >]*(?:[-*]|1\.) *$/m.test(text));

  it('finds the same headings, lists and code as micromark', () => {
    fc.assert(
      fc.property(text, (markdown) => {
        expect(actual(markdown)).toEqual(expected(markdown));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it.skipIf(corpusMarkdown().length === 0)('sees them in real files', () => {
    for (const { name, text } of sample(corpusMarkdown(), 30)) {
      expect(actual(text), name).toEqual(expected(text));
    }
  });
});
