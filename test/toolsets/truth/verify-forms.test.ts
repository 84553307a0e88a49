import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import type { Session } from '../../../src/core/memory/session.ts';
import { logOfEntry } from '../../../src/store/layout/log-paths.ts';
import { deep, isFull } from '../../support/depth.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

beforeEach(() => {
  repo = Repo.create();
  repo.write('src/code.ts', 'a\nb\nc\nd\ne\n');
  commit('Begin');
  app = projectApp(repo.root);
  session = app.connect({ isAgent: true });
  session.agent = 'tester/1.0';
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

async function call(tool: string, args: object) {
  const reply = await app.call(session, tool, args);
  const { message, ...body } = reply?.body ?? {};
  return { ...body, message, note: reply?.note };
}

const place = 'src/code.ts:1-3';
const given = [place];

/** The kinds of records, each with a statement about the code, and the ways to verify it. */
const decision = (decision: string, evidence?: string[]) =>
  call('log_decision', { title: 'T', context: 'C', decision, ...(evidence && { evidence }) });
const other = () => call('log_decision', { title: 'Other', context: 'C', decision: 'D' });
const log = ['decisionLog.md', 'decisionLog.md#T', 'T', '.memory-bank/decisionLog.md#T'];
const note = (value: string, evidence?: string[]) =>
  call('memory_write', { category: 'patterns', key: 'lock', value, ...(evidence && { evidence }) });
const page = (content: string) =>
  call('write_memory_bank_file', {
    filename: 'notes.md',
    content: `# Notes\n\n## Lock\n\n${content}\n`,
  });
const feature = (description: string) =>
  call('create_features', { features: [{ slug: 'a', name: 'A', description }] });

const kinds: readonly (readonly [
  name: string,
  path: string,
  make: () => Promise<unknown>,
  forms: readonly string[],
  isInText: boolean,
])[] = [
  ['a decision with evidence', 'decisionLog.md', () => decision('D', given), log, true],
  [
    'a decision that mentions code',
    'decisionLog.md',
    () => decision(`See \`${place}\`.`),
    log,
    true,
  ],
  ['a decision with a plain mention', 'decisionLog.md', () => decision(`See ${place}.`), log, true],
  [
    'a decision with a mention in code',
    'decisionLog.md',
    () => decision(`See:\n\n\`\`\`\n\`${place}\`\n\`\`\``),
    log,
    true,
  ],
  [
    'a decision with both',
    'decisionLog.md',
    () => decision(`See \`src/code.ts:2\`.`, given),
    log,
    true,
  ],
  ['an entry with evidence', 'knowledge/patterns/lock.md', () => note('V', given), [], false],
  [
    'an entry that mentions code',
    'knowledge/patterns/lock.md',
    () => note(`See ${place}.`),
    [],
    false,
  ],
  [
    'a page that mentions code',
    'notes.md',
    () => page(`See \`${place}\`.`),
    ['notes.md#Lock'],
    false,
  ],
  ['a feature', 'graph/features/a.yaml', () => feature(`See ${place}.`), [], false],
];

const problems = async () => {
  const { records } = await app.run(session, 'check', {}, ({ history }) => history.evidence({}));
  return records.flatMap(({ findings }) =>
    findings.filter(({ severity }) => severity === 'error' || severity === 'warning'),
  );
};

const head = () => repo.git('rev-parse', 'HEAD').trim();

const cases = kinds
  .flatMap(([name, path, make, forms, isInText]) =>
    [...new Set([path, ...forms])].flatMap((form) =>
      [undefined, given].map((evidence) => ({ name, path, make, form, evidence, isInText })),
    ),
  )
  .filter(({ form, evidence }) => isFull || (!evidence && form.endsWith('.md')))
  .filter((_, i) => isFull || i % 5 === 0);

describe('verify_memory', () => {
  test.each(cases)('makes the check green, once: $name, by $form, $evidence', async (one) => {
    const { path, make, form, evidence } = one;
    const isInText = one.isInText || form.includes('#');
    await make();
    if (path === 'decisionLog.md' && (evidence === undefined || form.includes('T'))) await other();
    expect(await problems()).toEqual([]);
    repo.write('src/code.ts', 'a\nB\nc\nd\ne\n');
    commit('Change b');
    expect(await problems()).not.toEqual([]);
    const before = head();
    const args = { path: form, ...(evidence && { evidence }) };
    expect(await call('verify_memory', args)).toMatchObject({ success: true });
    expect(await problems()).toEqual([]);
    expect(repo.git('rev-list', '--count', `${before}..`).trim()).toBe('1');
    const [, file] = repo.git('diff', '--numstat', before).trim().split('.memory-bank/');
    expect(logOfEntry(file ?? '') ?? file).toBe(path);
    if (isInText) {
      expect(repo.read(`.memory-bank/${path}`)).not.toMatch(/^---/);
      expect(repo.git('diff', before)).not.toMatch(/^[-+]## /m);
    }
    const after = head();
    for (const client of ['tester/1.0', 'tester/1.1', 'other/1.0']) {
      session.agent = client;
      expect(await call('verify_memory', args)).toMatchObject({ success: true });
      expect(head(), client).toBe(after);
    }
  });

  deep(
    'refuses evidence for a log of several decisions, and a section whose code is gone',
    async () => {
      await decision('See `src/code.ts`.');
      await other();
      const refused = await call('verify_memory', { path: 'decisionLog.md', evidence: given });
      expect(refused).toMatchObject({ success: false, error: 'invalid_input' });
      expect(refused.message).toMatch(/has 2 decisions.*decisionLog\.md#Other/);
      repo.git('rm', '-q', 'src/code.ts');
      commit('Remove the code');
      const before = head();
      const gone = await call('verify_memory', { path: 'decisionLog.md#T' });
      expect(gone).toMatchObject({ success: false, error: 'invalid_input' });
      expect(gone.message).toContain('src/code.ts was removed');
      const nothing = await call('verify_memory', { path: 'decisionLog.md#Other' });
      expect(nothing).toMatchObject({
        success: true,
        note: expect.stringContaining('Nothing was'),
      });
      expect(head()).toBe(before);
    },
  );
});
