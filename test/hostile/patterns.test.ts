import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stage } from './stage.ts';

let stage: Stage;
/** CPU time of a typical call, in microseconds. */
let usual = 0;

beforeAll(async () => {
  stage = new Stage();
  await stage.succeed('initialize_memory_bank', { path: '.' });
  const long = { filename: `${'a'.repeat(180)}.md`, content: 'aaaaaaaa '.repeat(100) };
  await stage.succeed('write_memory_bank_file', long);
  for (const glob of ['*.md', '**/a*.md', '*.md']) await spent(() => search(glob));
  usual = Math.max(await spent(() => search('*.md')), await spent(() => search('**/a*.md')), 5000);
});
afterAll(() => stage.close());

async function spent(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** Expects work to be quick at least once; one slow run may be due to the machine. */
async function isQuick(work: () => Promise<unknown>): Promise<void> {
  const times = [await spent(work), await spent(work)];
  expect(Math.min(...times)).toBeLessThan(30 * usual);
}

const search = (path: string) => stage.call('search_memory', { query: 'aaaaaaaa', path });

const globs = [
  '*a'.repeat(127),
  '**/'.repeat(85),
  '**/*a'.repeat(50),
  '*'.repeat(256),
  '?*'.repeat(128),
  '{a,'.repeat(64),
  '{a,b}'.repeat(51),
  '{1..999999999}',
  '{a..z}{a..z}{a..z}{a..z}{a..z}',
  '{{{{{{{{{{a,b}}}}}}}}}}',
  '+(a|aa|aaa)+(a|aa|aaa)b',
  '!(a|b)!(c|d)!(e|f)',
  '@(*(*(*(*(*(a))))))',
  '['.repeat(255),
  `${'['.repeat(250)}*`,
  `(x|(y)${'[[[[[[[[{2,}'.repeat(18)}*)+`,
  '[!a]'.repeat(64),
  '[[:alpha:]]*'.repeat(20),
  '\\'.repeat(255),
  '[\\'.repeat(100),
  '#comment',
  '!negated',
  '../**',
  '/**',
  'a\0*',
  '\ud800*',
  '*a'.repeat(50_000),
];

describe('a glob of a client', () => {
  test.each(globs.map((glob) => [glob.slice(0, 40), glob]))(
    'takes no time: %s',
    async (_, glob) => {
      await isQuick(() => search(glob));
    },
  );
});

describe('a glob of a rule file', () => {
  test.each(globs.map((glob) => [glob.slice(0, 40), glob]))(
    'takes no time: %s',
    async (_, glob) => {
      const lists = { files_to_read: [glob], files_to_update: [glob] };
      const rule = { mode: 'evil', instructions: { general: [], memory_bank: lists } };
      let round = 0;
      await isQuick(async () => {
        // A new file is compiled each time.
        const text = JSON.stringify({ ...rule, round: round++ });
        stage.repo.write('.memory-bank/rules/evil.json', text);
        await stage.call('switch_mode', { mode: 'evil' });
        await stage.call('read_memory_bank_file', { filename: `${'a'.repeat(180)}.md` });
        await stage.call('write_memory_bank_file', {
          filename: `${'a'.repeat(150)}b.md`,
          content: '',
        });
      });
      await stage.succeed('switch_mode', { mode: 'none' });
      stage.repo.git('clean', '-fdq');
    },
  );
});

const triggers = [
  '^(a+)+$',
  '(a*)*b',
  '(a|a)*b',
  '(a|aa)+$',
  '(.*a){20}',
  '(((((((((((a*)*)*)*)*)*)*)*)*)*)*b',
  '((a?){50}){50}b',
  'a{1,100}{1,100}',
  '(?=(a+)+b)',
  '(a)\\1\\1\\1\\1b',
  '('.repeat(256),
  '(?:'.repeat(80),
  '[a-z]*'.repeat(40),
  '(x|'.repeat(80),
  '\\p{L}*\\p{L}*b',
];

describe('the trigger of a rule file', () => {
  test.each(triggers.map((trigger) => [trigger.slice(0, 40), trigger]))(
    'takes no time: %s',
    async (_, trigger) => {
      const rule = { mode: 'evil', instructions: { general: [], umb: { trigger } } };
      stage.repo.write('.memory-bank/rules/evil.json', JSON.stringify(rule));
      await stage.succeed('switch_mode', { mode: 'evil' });
      await isQuick(() => stage.call('process_umb_command', { command: `${'a'.repeat(200)}!` }));
      await isQuick(() =>
        stage.call('process_umb_command', { command: `${'a'.repeat(500_000)}!` }),
      );
      await stage.succeed('switch_mode', { mode: 'none' });
      stage.repo.git('clean', '-fdq');
    },
  );
});

describe('a query', () => {
  test.each(
    [
      'a'.repeat(1_000_000),
      'a '.repeat(200_000),
      Array.from({ length: 50_000 }, (_, i) => `w${i}`).join(' '),
      '"'.repeat(100_000),
      '(a+)+$',
      '%_%_%',
      "' OR 1=1 --",
      '\0',
      '\u0301'.repeat(100_000),
      '\ud800',
      '__proto__ constructor toString',
      '日本語'.repeat(50_000),
    ].map((query) => [query.slice(0, 30), query]),
  )('takes no time: %s', async (_, query) => {
    await isQuick(async () => {
      await stage.call('search_memory', { query });
      await stage.call('search_memory', { query, fuzzy: false });
      await stage.call('memory_search', { query });
      await stage.call('find_relevant_paths', { query });
    });
  });
});
