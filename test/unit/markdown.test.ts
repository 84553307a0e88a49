import { describe, expect, it } from 'vitest';
import {
  appendSection,
  insertInSection,
  outline,
  prependToList,
  replaceList,
  titleOf,
} from '../../src/core/markdown/sections.ts';
import { prose } from '../../src/core/markdown/text.ts';
import { deep } from '../support/depth.ts';

const headings = (text: string) => outline(text).map(({ level, heading }) => `${level} ${heading}`);

describe('outline', () => {
  it('finds headings of both kinds and where their sections end', () => {
    const text = '# A\n\nText\n\nB\n---\nx\n### C ###\ny\n## D\n';
    expect(headings(text)).toEqual(['1 A', '2 B', '3 C', '2 D']);
    const bodies = outline(text).map(({ bodyStart, end }) => text.slice(bodyStart, end));
    expect(bodies).toEqual([
      '\nText\n\nB\n---\nx\n### C ###\ny\n## D\n',
      'x\n### C ###\ny\n',
      'y\n',
      '',
    ]);
    expect(outline(text).map(({ start, bodyEnd }) => text.slice(start, bodyEnd))[1]).toBe(
      'B\n---\nx\n',
    );
  });

  it.each([
    ['fenced code', '```\n# no\n```\n# yes'],
    ['a longer fence', '````\n```\n# no\n````\n# yes'],
    ['indented code', 'a\n\n    # no\n\n# yes'],
    ['an HTML comment', '<!--\n\n# no\n-->\n# yes'],
    ['an HTML block', '<div>\n# no\n\n# yes'],
    ['raw HTML', '<pre>\n\n# no\n</pre>\n# yes'],
    ['front matter', '---\n# no\ntitle: no\n---\n# yes'],
    ['front matter after a byte order mark', '\uFEFF---\ntitle: no\n---\n# yes'],
    ['a quote', '> # no\n\n# yes'],
    ['a list item', '- # no\n\n  no\n  ===\n# yes'],
    ['a table', '| a |\n|---|\n| no |\n---\n# yes'],
    ['a tag', '#no\n# yes'],
    ['seven hashes', '####### no\n# yes'],
    ['a definition with an underline', '[no]: /url "title"\n===\n\n# yes'],
    ['an escaped hash', '\\# no\n# yes'],
    ['lone carriage returns', 'no\r# yes'],
    ['a lazy line and a rule', '- no\nlazy\n---\n# yes'],
  ])('knows that a heading is none in %s', (_, text) => {
    expect(headings(text)).toEqual(['1 yes']);
  });

  it('takes everything after a fence that never ends for code', () => {
    expect(headings('# A\n~~~\n# B\n```\n# C')).toEqual(['1 A']);
  });
});

describe('titleOf', () => {
  it.each([
    ['# A *b* #\n\n# C', 'A *b*'],
    ['Text\n\nTwo\nlines\n===\n', 'Two lines'],
    ['---\n# Theme of the website\nparent: Decisions\n---\n\n# Use Markdown\n', 'Use Markdown'],
    ['---\n# Theme of the website\nparent: Decisions\n---\n\nText\n', undefined],
    ['```sh\n# Install\n```\n\n## Use\n', 'Use'],
    ['    # code\n\n#\n\n## Use\n', 'Use'],
    ['<!--\n# hidden\n-->\n', undefined],
    ['', undefined],
  ])('of %j is %j', (text, title) => {
    expect(titleOf(text)).toBe(title);
  });

  it('is found below a long text, and cut nowhere', () => {
    const line = 'A line of the text above.\n';
    for (let count = 30; count < 60; count++) {
      expect(titleOf(`${line.repeat(count)}\n## The title\n`)).toBe('The title');
    }
    expect(titleOf(`---\n${'key: value\n'.repeat(20_000)}---\n# The title\n`)).toBe('The title');
  });
});

describe('a text with conflict markers', () => {
  const edits: readonly [name: string, edit: (text: string) => string][] = [
    ['insertInSection', (text) => insertInSection(text, 'A', 'new')],
    ['prependToList', (text) => prependToList(text, 'A', 'new')],
    ['replaceList', (text) => replaceList(text, 'A', ['new'])],
    ['replaceList with nothing', (text) => replaceList(text, 'A', [])],
    ['appendSection', (text) => appendSection(text, '# new')],
  ];
  const conflict = '<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> branch\n';

  it.each([
    [`# A\n\n${conflict}`, 3],
    [`# A\n\n- a\n${conflict}`, 4],
    [`# A\r\n${conflict.replaceAll('\n', '\r\n')}`, 2],
    [`---\n${conflict}---\n# A\n`, 2],
    [`# A\n\n\`\`\`\n${conflict}`, 4],
    ['# A\n\n```\n<<<<<<< HEAD\n```\n=======\n```\n>>>>>>> branch\n```\n', 4],
    ['# A\n\n- a\n<<<<<<<\n- b\n', 4],
  ])('is not edited: %j', (text, line) => {
    for (const [name, edit] of edits) {
      expect(() => edit(text), name).toThrow(`a merge left conflict markers in line ${line}`);
    }
    expect(outline(text).length).toBeGreaterThan(0);
  });

  it('is edited where a closed fence shows all of them, or where they are escaped', () => {
    const shown = `\`\`\`\n${conflict}\`\`\`\n`;
    for (const text of [`# A\n\n${shown}`, `# A\n\n- a\n\n${prose(conflict)}\n`]) {
      for (const [name, edit] of edits) expect(() => edit(text), name).not.toThrow();
    }
  });
});

describe('insertInSection', () => {
  it('adds below what stands in the section and above its first sub-heading', () => {
    expect(insertInSection('# A\n\nx\n\n## B\n\ny\n', 'A', 'new')).toBe(
      '# A\n\nx\n\nnew\n\n## B\n\ny\n',
    );
  });

  it('finds the first heading whatever its level, case and inline markdown', () => {
    const text = '### The **`Next`** [Steps](x)\n\n# the next steps\n';
    expect(insertInSection(text, ' THE  next Steps ', 'new')).toBe(
      '### The **`Next`** [Steps](x)\n\nnew\n\n# the next steps\n',
    );
  });

  it('makes a section that is missing at the end', () => {
    expect(insertInSection('# A', 'B', 'new')).toBe('# A\n\n## B\n\nnew\n');
    expect(insertInSection('', 'B', 'new')).toBe('## B\n\nnew\n');
    expect(insertInSection('\uFEFF', 'B', 'new')).toBe('\uFEFF## B\n\nnew\n');
  });

  it('writes the line ends that the file has', () => {
    expect(insertInSection('# A\r\nx\r\n# B\n', 'A', 'one\ntwo')).toBe(
      '# A\r\nx\r\n\r\none\r\ntwo\r\n\r\n# B\n',
    );
    expect(insertInSection('# A\rx\r', 'A', 'new')).toBe('# A\rx\r\rnew\r');
  });

  it('closes what would swallow the next section, on either side', () => {
    expect(insertInSection('# A\n# B\n', 'A', '```\ncode')).toBe('# A\n\n```\ncode\n```\n\n# B\n');
    expect(insertInSection('# A\n```\ncode\n', 'A', 'new')).toBe('# A\n```\ncode\n```\n\nnew\n');
  });
});

describe('insertInSection with a list', () => {
  it.each([
    ['goes on with a tight list of the same kind', '- a', '- b', '- a\n- b'],
    ['keeps a loose list loose', '- a\n\n- b', '- c', '- a\n\n- b\n\n- c'],
    ['begins a list of another kind apart', '- a', '1. b', '- a\n\n1. b'],
    ['begins a text apart', '- a', 'b', '- a\n\nb'],
    ['begins a list apart from a text', 'a', '- b', 'a\n\n- b'],
    ['goes on below what an item holds', '- a\n  - x', '- b', '- a\n  - x\n- b'],
    ['keeps a nested item nested', '- a', '  - x', '- a\n  - x'],
    ['keeps a deeply nested item nested', '- a\n  - x', '    - y\n', '- a\n  - x\n    - y'],
    ['keeps indented code', 'a', '\n    code\n      more\n\n', 'a\n\n    code\n      more'],
    ['adds nothing for blank lines', '- a', ' \n\n', '- a'],
  ])('%s', (_what, old, added, expected) => {
    const text = (body: string) => `# A\n\n${body}\n\n## B\n`;
    expect(insertInSection(text(old), 'A', added)).toBe(text(expected));
  });
});

describe('prependToList', () => {
  it('puts the item above the others, with the marker and indentation that they have', () => {
    expect(prependToList('# A\n  * old\n', 'A', 'new')).toBe('# A\n  * new\n  * old\n');
    expect(prependToList('# A\n1) old\n', 'A', 'new')).toBe('# A\n1) new\n1) old\n');
    expect(prependToList('# A\n- a\n\n- b\n', 'A', 'new')).toBe('# A\n- new\n\n- a\n\n- b\n');
  });

  it('makes the list after the text of the section', () => {
    expect(prependToList('# A\n\nText\n## B\n- b\n', 'A', 'new')).toBe(
      '# A\n\nText\n\n- new\n\n## B\n- b\n',
    );
  });

  it.each([
    ['a heading', '# x', '\\# x'],
    ['a rule', '---', '\\---'],
    ['a rule together with the marker', '-', '\\-'],
    ['an underline', 'a\n===\nb', 'a\n  \\===\n  b'],
    ['a heading in a later line', 'a\n\n## B\n', 'a\n\n  \\## B'],
    ['an item', 'a\n- b\n1. c', 'a\n  \\- b\n  1\\. c'],
    ['a fence that never ends', '```js\nx', '\\```js\n  x'],
    ['a whole code block', 'a:\n```\n# x\n\ny\n```', 'a:\n  ```\n  # x\n\n  y\n  ```'],
    ['HTML', '<!-- a\n\n# b', '\\<!-- a\n\n  \\# b'],
    ['a link definition', '[x]: /evil', '\\[x]: /evil'],
    ['replacement patterns', "$& $1 $' $`", "$& $1 $' $`"],
    ['inline markdown', '**a** `b` [c](d) <https://e>', '**a** `b` [c](d) <https://e>'],
    ['a trailing backslash', 'a\\', 'a\\'],
    ['carriage returns', 'a\r# b\r\nc', 'a\n  \\# b\n  c'],
  ])('takes %s for the text of one item', (_, item, written) => {
    const text = '## A\n\n- old\n\n## B\n\n[x]\n';
    expect(prependToList(text, 'A', item)).toBe(`## A\n\n- ${written}\n- old\n\n## B\n\n[x]\n`);
  });

  deep.each([
    ['tight', '- a\n'],
    ['loose', '- a\n\n'],
    ['nested', '- a\n  - b\n\n    c\n'],
    ['with code', '* a\n\n  ```\n  - b\n  ```\n'],
    ['ordered', '1. a\n'],
  ])('edits a list of a megabyte as it edits a short one: %s', (_, item) => {
    for (const head of [
      '# A\n\n',
      '```\n# A\n- x\n- y\n- z\n```\n# a\n',
      '## B\n\ntext\n\n# A\n',
    ]) {
      const short = head + item.repeat(9);
      const more = item.repeat(1_000_000 / item.length);
      expect(prependToList(short + more, 'A', 'new')).toBe(prependToList(short, 'A', 'new') + more);
    }
  });

  it('finds a list below a long text', () => {
    const text = `# B\n\n${'- b\n'.repeat(100_000)}\n# A\n\n- a\n`;
    expect(prependToList(text, 'A', 'new')).toBe(text.replace('- a\n', '- new\n- a\n'));
  });

  it('refuses conflict markers far below the list', () => {
    const text = `# A\n\n${'- a\n'.repeat(100_000)}<<<<<<< HEAD\n`;
    expect(() => prependToList(text, 'A', 'new')).toThrow('conflict markers in line 100003');
  });
});

describe('replaceList', () => {
  it('replaces the first list directly under the heading and nothing else', () => {
    const text = '## A\nIntro\n* a\n* b\n\n  more\n\nText\n\n- kept\n\n### Sub\n- kept\n';
    expect(replaceList(text, 'A', ['x', 'y'])).toBe(
      '## A\nIntro\n* x\n* y\n\nText\n\n- kept\n\n### Sub\n- kept\n',
    );
  });

  it('numbers the items of an ordered list', () => {
    expect(replaceList('## A\n3. a\n4. b\n', 'A', ['x', 'y', 'z'])).toBe(
      '## A\n1. x\n2. y\n3. z\n',
    );
  });

  it('empties a list and fills it again without gathering blank lines', () => {
    const text = '## A\n\n- x\n\n## B\n';
    const empty = replaceList(text, 'A', []);
    expect(empty).toBe('## A\n\n## B\n');
    expect(replaceList(empty, 'A', ['x'])).toBe(text);
    expect(replaceList('## A\n\n- x\n', 'A', [])).toBe('## A\n');
    expect(replaceList('## A\n', 'A', ['x'])).toBe('## A\n\n- x\n');
  });

  it('makes a section that is missing, for no items too', () => {
    expect(replaceList('# T\n', 'A', ['x'])).toBe('# T\n\n## A\n\n- x\n');
    expect(replaceList('# T\n', 'A', [])).toBe('# T\n\n## A\n');
  });

  it('keeps apart what stood before and after the list', () => {
    expect(replaceList('## A\ntext\n- x\n---\n', 'A', [])).toBe('## A\ntext\n\n---\n');
    expect(replaceList('## A\n- ```\n  x\n  ```\ntext\n', 'A', ['y'])).toBe('## A\n- y\n\ntext\n');
  });
});

describe('appendSection', () => {
  it('takes the text as it is, without the blank lines around it', () => {
    let text = 'a\n';
    for (const added of ['    code\n', '\n \nb  \n\n', '\n']) text = appendSection(text, added);
    expect(text).toBe('a\n\n    code\n\nb  \n');
  });

  it.each([
    ['', '## X\n'],
    ['a', 'a\n\n## X\n'],
    ['a\n', 'a\n\n## X\n'],
    ['a\r\nb\r\n\r\n', 'a\r\nb\r\n\r\n## X\r\n\r\n'],
    ['---\na: 1\n---\n', '---\na: 1\n---\n\n## X\n'],
    ['~~~~ js\ncode', '~~~~ js\ncode\n~~~~\n\n## X\n'],
    ['<!-- never closed', '<!-- never closed\n-->\n\n## X\n'],
    ['- ```\n  code', '- ```\n  code\n\n## X\n'],
  ])('makes a section at the end of %j', (text, expected) => {
    const edited = appendSection(text, '## X');
    expect(edited).toBe(expected);
    expect(headings(edited)).toContain('2 X');
  });
});
