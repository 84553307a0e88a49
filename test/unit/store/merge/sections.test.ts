import { describe, expect, it } from 'vitest';
import { markConflicts, mergeText } from '../../../../src/store/merge/line-merge.ts';
import { mergeSections } from '../../../../src/store/merge/section-merge.ts';

/** The merged text, with markers where there is a conflict. */
function merge(base: string, ours: string, theirs: string): string {
  return markConflicts(mergeText({ base, ours, theirs }, mergeSections), 7);
}

const log = `# Decision Log

## Use git - 2026-01-01

### Context

We need history

### Decision

git

### Alternatives Considered

None
`;

function entry(title: string, date: string, reason = 'why not'): string {
  return `
## ${title} - ${date}

### Context

${reason}

### Decision

${title}

### Alternatives Considered

- nothing
- something
`;
}

describe('sections', () => {
  it('that both sides append are sorted by date, each once', () => {
    const [a, b, c, d] = [
      entry('A', '2026-01-02'),
      entry('B', '2026-01-03'),
      entry('C', '2026-01-04'),
      entry('D', '2026-01-05'),
    ];
    expect(merge(log, log + a + c, log + b + c + d)).toBe(log + a + b + c + d);
    expect(merge(log, log + b + d, log + a + c)).toBe(log + a + b + c + d);
  });

  it('of the same day have ours first', () => {
    const [a, b] = [entry('A', '2026-01-02'), entry('B', '2026-01-02')];
    expect(merge(log, log + b, log + a)).toBe(log + b + a);
  });

  it('of a log with the same day and title stay separate', () => {
    const [a, b] = [entry('A', '2026-01-02', 'one'), entry('A', '2026-01-02', 'two')];
    expect(merge(log, log + a, log + b)).toBe(log + a + b);
    expect(merge(log, log + a + b, log + b)).toBe(log + a + b);
  });

  it('merge inside if both sides changed them', () => {
    const ours = log.replace('We need history', 'We need a history');
    const theirs = log.replace('None', '- Mercurial\n- Fossil');
    expect(merge(log, ours, theirs)).toBe(ours.replace('None', '- Mercurial\n- Fossil'));
  });

  it('that one side removed are removed, unless the other changed them', () => {
    const [a, b] = [entry('A', '2026-01-02'), entry('B', '2026-01-03')];
    expect(merge(log + a, log, log + a + b)).toBe(log + b);
    const changed = a.replace('why not', 'because');
    expect(merge(log + a, log, log + changed)).toBe(
      `${log}<<<<<<< ours\n=======\n${changed}>>>>>>> theirs\n`,
    );
  });

  it('that both sides created with the same heading become one', () => {
    const base = '# Progress\n';
    const ours = '# Progress\n\n## Update History\n\n- [2026-01-02] - Fix: a\n';
    const theirs = '# Progress\n\n## Update History\n\n- [2026-01-03] - Fix: b\n';
    expect(merge(base, ours, theirs)).toBe(
      '# Progress\n\n## Update History\n\n- [2026-01-03] - Fix: b\n- [2026-01-02] - Fix: a\n',
    );
  });

  it('may be renamed on one side and changed on the other', () => {
    const base = '# A\n\n## Old\n\none\n\ntwo\n';
    const ours = base.replace('Old', 'New');
    const theirs = base.replace('two', 'three');
    // A field with the rule `sections` then merges by lines; here it is a conflict without loss.
    expect(merge(base, ours, theirs)).toContain('## New');
    expect(merge(base, ours, theirs)).toContain('three');
  });
});

describe('lists', () => {
  const base = '# P\n\n## Update History\n\n- [2026-01-02] - x: two\n- [2026-01-01] - x: one\n';
  const top = (...items: string[]) =>
    base.replace('- [2026-01-02]', `${items.map((item) => `${item}\n`).join('')}- [2026-01-02]`);

  it('with the newest item at the top keep it there', () => {
    const ours = top('- [2026-01-06] - x: six', '- [2026-01-03] - x: three');
    const theirs = top('- [2026-01-05] - x: five', '- [2026-01-04] - x: four');
    const items = ['6] - x: six', '5] - x: five', '4] - x: four', '3] - x: three'];
    expect(merge(base, ours, theirs)).toBe(top(...items.map((item) => `- [2026-01-0${item}`)));
  });

  it('have an item that both sides added once, in any position', () => {
    const item = '- [2026-01-03] - x: three';
    expect(merge(base, top(item), `${base}${item}\n`)).toBe(top(item));
  });

  it('are sets: an item that one side removed is removed, one that a side added is kept', () => {
    const list = (...items: string[]) =>
      `## Tasks\n\n${items.map((i) => `- ${i}\n`).join('')}\nEnd\n`;
    expect(merge(list('a', 'b', 'c'), list('b', 'c', 'd'), list('a', 'b', 'e'))).toBe(
      list('b', 'e', 'd'),
    );
    expect(merge(list('a', 'b'), list('x', 'y'), list('z'))).toBe(list('x', 'y', 'z'));
  });

  it('merge the items below an item', () => {
    const base = '- a\n  - one\n- b\n';
    expect(merge(base, '- a\n  - one\n  - two\n- b\n', '- a\n  - zero\n  - one\n- b\n- c\n')).toBe(
      '- a\n  - zero\n  - one\n  - two\n- b\n- c\n',
    );
  });

  it('are in conflict if both sides edited one item', () => {
    const base = '- [ ] write the merge driver\n- [ ] rest\n';
    const ours = '- [x] write the merge driver\n- [ ] rest\n';
    const theirs = '- [ ] write the merge driver soon\n- [ ] rest\n';
    expect(merge(base, ours, theirs)).toBe(
      '<<<<<<< ours\n- [x] write the merge driver\n=======\n- [ ] write the merge driver soon\n>>>>>>> theirs\n- [ ] rest\n',
    );
  });

  it('treat rows of tables as items', () => {
    const base = '| Date | Decision |\n|---|---|\n| 2026-01-01 | one |\n';
    expect(merge(base, `${base}| 2026-01-03 | three |\n`, `${base}| 2026-01-02 | two |\n`)).toBe(
      `${base}| 2026-01-02 | two |\n| 2026-01-03 | three |\n`,
    );
  });

  it('with numbers keep all items', () => {
    expect(merge('1. a\n2. b\n', '1. a\n2. x\n3. b\n', '1. a\n2. b\n3. c\n')).toBe(
      '1. a\n2. x\n3. b\n3. c\n',
    );
  });
});

describe('prose', () => {
  it('merges line by line', () => {
    const base = '# A\n\none\ntwo\nthree\nfour\nfive\n';
    const ours = base.replace('one', 'ONE');
    const theirs = base.replace('five', 'FIVE');
    expect(merge(base, ours, theirs)).toBe(ours.replace('five', 'FIVE'));
  });

  it('is in conflict if both sides changed a line', () => {
    expect(merge('# A\n\none\n', '# A\n\nmine\n', '# A\n\nyours\n')).toBe(
      '# A\n\n<<<<<<< ours\nmine\n=======\nyours\n>>>>>>> theirs\n',
    );
  });

  it('changed on one side does not affect a list that the other side changed', () => {
    expect(merge('text\n\n- a\n', 'new text\n\n- a\n', 'text\n\n- b\n- a\n')).toBe(
      'new text\n\n- b\n- a\n',
    );
  });

  it('keeps line endings, a missing one at the end, and front matter', () => {
    const base = '---\r\na: 1\r\n---\r\n# T\r\n\r\n- a';
    expect(merge(base, `${base}\r\n- b`, base.replace('1', '2').replace('- a', '- 0\r\n- a'))).toBe(
      '---\r\na: 2\r\n---\r\n# T\r\n\r\n- 0\r\n- a\r\n- b',
    );
  });
});
