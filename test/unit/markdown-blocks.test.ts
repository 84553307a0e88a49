import { describe, expect, it } from 'vitest';
import { type Block, parseBlocks } from '../../src/core/markdown/blocks.ts';

/** The blocks of a text as `kind(children)`. */
function tree(blocks: readonly Block[]): string {
  return blocks
    .map(({ kind, children }) => (children.length > 0 ? `${kind}(${tree(children)})` : kind))
    .join(' ');
}

// What the comparison with micromark leaves out: it takes these otherwise than CommonMark 0.31 does.
describe('parseBlocks', () => {
  it.each([
    ['\tcode\n-', 'code list(item)'],
    ['    code\n2. a', 'code list(item(paragraph))'],
    ['a\n    b', 'paragraph'],
    ['a\n- -\nb', 'paragraph list(item(list(item))) paragraph'],
    ['- a\n<b>\n', 'list(item(paragraph))'],
    ['<b>\n\n# a', 'html heading'],
    ['-\ta\n\n\tb', 'list(item(paragraph paragraph))'],
    ['-\t\tcode', 'list(item(code))'],
    ['>\t\tcode', 'quote(code)'],
    ['-\n\n  a', 'list(item) paragraph'],
    ['10) a\n\n    b', 'list(item(paragraph paragraph))'],
    ['> ```\n> a\n\n# b', 'quote(fence) heading'],
    ['[a]: b (\n===', 'heading'],
    ['[a]:\n  <b c>\n  "t"\n===', 'paragraph'],
    ['[a]: b\u00a0c\n===', 'paragraph'],
    ['[a]: b\n\u00a0\n===', 'heading'],
    ['[a]: javascript:b\n===', 'paragraph'],
    ['[a]: b\n===\n===', 'heading'],
    ['[a]: b\n---', 'paragraph break'],
    ['[a]: b\n- ', 'paragraph'],
    ['- [a]: b\na', 'list(item(paragraph))'],
    ['| |\n|-|\n1.', 'table list(item)'],
    ['a | b\n--|--\nc\n===\n\nd\n===', 'table heading'],
  ])('reads %j', (text, expected) => {
    expect(tree(parseBlocks(text))).toBe(expected);
  });

  it('limits nesting to 32 levels', () => {
    const blocks = parseBlocks('> '.repeat(100_000));
    expect(JSON.stringify(blocks).match(/"quote"/g)).toHaveLength(32);
  });
});
