import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../src/core/markdown/html.ts';

describe('renderHtml', () => {
  it.each([
    ['raw HTML', '<script>a()</script>\n\nb <img src=x onerror=a()>'],
    [
      'a link that runs',
      '[a](javascript:b) [a](JAVASCRIPT&colon;b) <javascript:b> [a](vbscript:b)',
    ],
    ['a link with data', '[a](data:text/html,b)\n\n[a]\n\n[a]: data:text/html,b'],
    ['a link to a file', '[a](file:///etc/passwd)'],
    ['an image', '![a](https://example.org/a.png) ![b][c]\n\n[c]: https://example.org/c.png'],
  ])('neither runs nor loads %s', (_, markdown) => {
    const html = renderHtml(markdown);
    expect(html).not.toMatch(/<(?!\/?(?:p|a)\b)/);
    expect(html).not.toMatch(/href="(?!https:)/);
  });

  it('keeps links, tables and code', () => {
    const html = renderHtml('[a](https://b) [c](d.md)\n\n| a |\n|---|\n| `<b>` |\n');
    expect(html).toContain('<a href="https://b">a</a> <a href="d.md">c</a>');
    expect(html).toContain('<td><code>&lt;b&gt;</code></td>');
  });

  it('draws the marks of a task list as boxes, and no other brackets', () => {
    const html = renderHtml('- [ ] a\n- [X] **b**\n- [y] c\n- `[x]` d\n\n[x] e\n');
    expect(html.match(/<li[^>]*>/g)).toEqual([
      '<li class="task">',
      '<li class="task">',
      '<li>',
      '<li>',
    ]);
    expect(html).toContain('<span role="img" aria-label="open">☐</span> a');
    expect(html).toContain('<span role="img" aria-label="done">☑</span> <strong>b</strong>');
    expect(html).toContain('<p>[x] e</p>');
  });

  it('gives each heading an id of its own, as links name it', () => {
    const html = renderHtml('# A `b`: c\n\n## Part\n\n## Part\n\nLate\n====\n\n## main" x\n');
    const ids = [...html.matchAll(/<h\d ([^>]*)>/g)].map(([, attributes]) => attributes);
    expect(ids).toEqual([
      'id="section-a-b-c"',
      'id="section-part"',
      'id="section-part-1"',
      'id="section-late"',
      'id="section-main-x"',
    ]);
  });

  it('shows evidence without its fingerprint', () => {
    const html = renderHtml('- `a.ts:1` <!-- 1-0123456789abcdef -->\n- `b` <!-- a note -->\n');
    expect(html).toContain('<li><code>a.ts:1</code></li>');
    expect(html).toContain('a note');
  });
});
