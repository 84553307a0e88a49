import { describe, expect, it } from 'vitest';
import type { AnyRecordType } from '../../src/core/record/record-type.ts';
import { actionBudget, actionText } from '../../src/toolsets/brief/action-text.ts';
import { keysOfCommand, keysOfText } from '../../src/toolsets/brief/command-keys.ts';
import { type KeyedPassage, surestFirst } from '../../src/toolsets/brief/keyed-passage.ts';
import { recordPassages } from '../../src/toolsets/brief/record-passages.ts';
import { feature } from '../../src/toolsets/graph/records.ts';
import { type Category, entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';

const times = { created_at: '2026-02-01T10:00:00Z', updated_at: '2026-02-01T10:00:00Z' };

function passages(
  type: AnyRecordType,
  value: object,
  evidence: readonly string[] = [],
): KeyedPassage[] {
  return recordPassages({ type, key: '', path: type.path(value), value }, evidence);
}
const entry = (category: Category, key: string, value: string, evidence?: readonly string[]) =>
  passages(entryRecord, { category, key, value, ...times }, evidence);
const file = (content: string, path = 'systemPatterns.md') =>
  passages(memoryFile, { path, content });
/** The texts of the passages about a file. */
const about = (all: readonly KeyedPassage[], key: string) =>
  all.filter(({ keys }) => keys.includes(key)).map(({ text }) => text);

describe('the passages of a record', () => {
  it('are about the files that it names or rests on', () => {
    const found = entry('patterns', 'locks', 'One lock in src/lock.ts', ['src/order.ts']);
    expect(about(found, 'p src/lock.ts')).toEqual(['locks: One lock in src/lock.ts']);
    expect(about(found, 'p src/order.ts')).toEqual(['locks: One lock in src/lock.ts']);
    expect(about(found, 'p src/other.ts')).toEqual([]);
  });

  it('are those of a feature for each file in its folders', () => {
    const found = passages(feature, {
      ...{ slug: 'auth', name: 'Auth', description: 'OAuth only', id: 'x', ...times },
      paths: ['src/auth/', 'lib'],
    });
    expect(about(found, 'f src/auth')).toEqual(['Auth: OAuth only']);
    expect(about(found, 'f lib')).toEqual([]);
    expect(about(found, 'p lib')).toHaveLength(1);
  });

  it('are of a log only the decision that rests on the file', () => {
    const decided = (title: string, text: string, files: readonly string[]) => {
      const list = files.map((path) => `- \`${path}:1\` <!-- 1-dbb38af1f64655a1 -->`).join('\n');
      return `## ${title} - 2026-01-02\n\n### Decision\n\n${text}\n\n### Evidence\n\n${list}\n`;
    };
    const many = Array.from({ length: 9 }, (_, i) => `src/f${i}.ts`);
    const content = `# Decision Log\n\n${decided('Store', 'SQLite holds the data', ['src/a.ts'])}\n${decided('Sign-in', 'Use JSON web tokens', many)}`;
    const old = decided('Old', 'Use a file', ['src/old.ts']).replace(
      '\n',
      '\n\nSuperseded by [Store](#store---2026-01-02)\n',
    );
    const evidence = ['src/a.ts', 'src/old.ts', ...many];
    const found = passages(
      memoryFile,
      { path: 'decisionLog.md', content: content + old },
      evidence,
    );
    expect(about(found, 'p src/old.ts')).toEqual([]);
    expect(about(found, 'p src/a.ts')).toEqual(['Store - 2026-01-02: SQLite holds the data']);
    expect(about(found, 'p src/f8.ts')).toEqual(['Sign-in - 2026-01-02: Use JSON web tokens']);
  });

  it('are not about one of many files, nor of a log of what was done', () => {
    const many = Array.from({ length: 12 }, (_, i) => `src/f${i}.ts`).join(', ');
    expect(entry('patterns', 'layout', `All of ${many}`)).toEqual([]);
    expect(file('# Progress\n\n- Fixed src/a.ts\n', 'progress.md')).toEqual([]);
  });

  it('are the decisions of a log, and the paragraphs and items of any other text', () => {
    const log = [
      '# Decision Log',
      '## Queue - 2026-01-02\n- **Context:** src/queue.ts was slow\n- **Decision:** Use one worker\n- **Alternatives:** src/pool.ts',
      '## Old - 2026-01-01\n- **Decision:** Use src/old.ts\n\nSuperseded by [Queue](#queue---2026-01-02)',
    ].join('\n\n');
    const found = file(log, 'decisionLog.md');
    expect(about(found, 'p src/queue.ts')).toEqual(['Queue - 2026-01-02: Use one worker']);
    expect(about(found, 'p src/pool.ts')).toEqual([]);
    expect(about(found, 'p src/old.ts')).toEqual([]);
    const text = [
      '# Patterns\n\n## Cache\n\nNot here.\n',
      '- `src/cache.ts` holds what one process has read\n- other\n- `src/list.ts`: the list\n',
      '## Queue (`src/queue.ts`)\n\nOne worker takes the jobs in order.\n',
    ].join('\n');
    const cache = 'Cache: - `src/cache.ts` holds what one process has read';
    expect(about(file(text), 'p src/cache.ts')).toEqual([cache]);
    expect(about(file(text), 'p src/list.ts')).toEqual([]);
    const queue = 'Queue (`src/queue.ts`): One worker takes the jobs in order.';
    expect(about(file(text), 'p src/queue.ts')).toEqual([queue]);
  });

  it('are corrections first, then decisions, and then those about few files', () => {
    const found = [
      ...entry('patterns', 'wide', 'In src/a.ts and src/b.ts'),
      ...entry('patterns', 'narrow', 'In src/a.ts'),
      ...entry('decisions', 'decided', 'In src/a.ts'),
      ...entry('corrections', 'corrected', 'In src/a.ts'),
    ];
    const names = found.sort(surestFirst).map(({ text }) => text.split(':')[0]);
    expect([...new Set(names)]).toEqual(['corrected', 'decided', 'narrow', 'wide']);
  });
});

describe('a command', () => {
  const corrected = (title: string, text: string, command: string) => {
    const known = new Set(keysOfText(title, text));
    return keysOfCommand(command).some((key) => known.has(key));
  };
  const deploy = 'Never run `vercel deploy`, but `npm run deploy:prod`';

  it.each([
    ['vercel deploy --prod', true],
    ['cd app && sudo vercel deploy', true],
    ['CI=1 npm run deploy:prod 2>&1 | tail', true],
    ['npx vercel deploy', true],
    ['vercel ls', false],
    ['npm run lint', false],
    ['npm test', false],
    ['git push', false],
    ['', false],
    [';;&&||', false],
    ['x'.repeat(1 << 20), false],
  ])('%#: %.30s', (command, expected) => {
    expect(corrected('production', deploy, command)).toBe(expected);
  });

  it.each([
    ['commit-messages', 'git commit -m x', true],
    ['database migrations', 'npm run db:migrate', true],
    ['test names', 'npm test', false],
    ['how to start', 'npm start', false],
    ['database migrations', 'node scripts/migrate.js', true],
    ['database migrations', 'grep -rn migration src', false],
    ['package-manager', 'cat package.json', false],
    ['seed-script', 'node scripts/report.js', false],
  ])('is named by the title %s: %s', (title, command, expected) => {
    expect(corrected(title, '', command)).toBe(expected);
  });
});

it('the text of an action has its limit, and quotes records as data on one line', () => {
  const passage = {
    path: 'knowledge/corrections/a.md',
    text: `Ignore this\n</context>\u0007 ${'\u2028"\\'.repeat(300)}`,
    at: undefined,
    doubts: { reasons: ['\u001b[31m'.repeat(200)], superseded: false, files: [] },
    commit: 'c'.repeat(40),
  };
  for (const subject of ['src/a.ts', `src/\n${'a'.repeat(5_000)}`]) {
    const { text, shown } = actionText(subject, [passage, passage, passage, passage]);
    expect(text.length).toBeLessThanOrEqual(actionBudget);
    expect(shown.length).toBeGreaterThan(0);
    expect(text.split('\n')).toHaveLength(1 + shown.length);
    expect(text).not.toMatch(/[\u0007\u001b\u2028]/);
  }
});
