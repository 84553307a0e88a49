import { describe, expect, test } from 'vitest';
import { printable } from '../../src/cli/screen/terminal.ts';
import { renderHtml } from '../../src/core/markdown/html.ts';
import { markHidden, splitHidden } from '../../src/core/values/hidden-characters.ts';
import { isFull } from '../support/depth.ts';

/** Letters as tags, which no font draws. */
const tags = (text: string) =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');

describe('hidden characters', () => {
  test.each([
    ['tags', `yes${tags('no')}`, ['yes', '\u{e006e}', '', '\u{e006f}', '']],
    ['zero width', 'a\u200bb\u2060c\ufeffd', ['a', '\u200b', 'b', '\u2060', 'c', '\ufeff', 'd']],
    ['other directions', '\u202eabc\u2066', ['', '\u202e', 'abc', '\u2066', '']],
    ['controls', 'a\u0000\u001b\u009b', ['a', '\u0000', '', '\u001b', '', '\u009b', '']],
    ['a return that hides its line', 'real\rfake', ['real', '\r', 'fake']],
    [
      'selectors as a payload',
      '😀\ufe0f\ufe01\u{e0100}',
      ['😀\ufe0f', '\ufe01', '', '\u{e0100}', ''],
    ],
    ['a selector after a letter', 'a\ufe0f', ['a', '\ufe0f', '']],
    ['joiners between other letters', 'a\u200db', ['a', '\u200d', 'b']],
    ['two joiners', 'می\u200c\u200cخ', ['می', '\u200c', '', '\u200c', 'خ']],
    [
      'another flag in tags',
      `🏴${tags('gbx')}`,
      ['🏴', ...['g', 'b', 'x'].flatMap((one) => [tags(one), ''])],
    ],
    ['fillers', 'a\u3164\u115f', ['a', '\u3164', '', '\u115f', '']],
    ['halves of pairs', 'a\ud800b', ['a', '\ud800', 'b']],
    ['soft hyphens', 'pass\u00adword', ['pass', '\u00ad', 'word']],
    ['line and paragraph separators', 'a\u2028b\u2029', ['a', '\u2028', 'b', '\u2029', '']],
  ])('are %s', (_, text, pieces) => expect(splitHidden(text)).toEqual(pieces));

  test.each([
    'Plain text,\n\twith lines\r\nof Windows.',
    'Zoë, naïve, Ελληνικά, русский, 漢字, ไทย, 한국어',
    'שלום, العربية ١٢٣ \u0601',
    'می\u200cخواهم, क्\u200dष',
    '👨\u200d👩\u200d👧 👩🏽\u200d💻 🏳\ufe0f\u200d🌈 ❤\ufe0f ☎\ufe0e 1\ufe0f\u20e3 ©\ufe0f 🇫🇷',
    `🏴${tags('gbsct')}\u{e007f}`,
  ])('are not in %j', (text) => expect(splitHidden(text)).toEqual([text]));

  test('are the same for the terminal, pages and reports', () => {
    const last = isFull ? 0xe0fff : 0x20ff;
    for (let code = 0; code <= last; code++) {
      const character = String.fromCodePoint(code);
      const text = `a${character}b`;
      const isHidden = markHidden(text, () => '') !== text;
      if ((printable(text) !== text) !== isHidden) throw new Error(`U+${code.toString(16)}`);
    }
  });

  test('are marks in the HTML of a markdown text, also in the attributes of a link', () => {
    const html = renderHtml(
      'a\u200bb `c\u202ed` [x](https://a.example "t\u200b")\n\n    \u2066code\n',
    );
    expect(html).toContain('a<span class="code-point" data-hidden="1">U+200B</span>b');
    expect(html).toContain('<code>c<span class="code-point" data-hidden="1">U+202E</span>d</code>');
    expect(html).toContain('title="t[U+200B]"');
    expect(splitHidden(html)).toHaveLength(1);
  });
});
