import { execSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importSources } from '../../src/app/exchange/importer.ts';
import { deep } from '../support/depth.ts';
import { LayoutMemory } from '../support/layout-memory.ts';
import { newFolder } from '../support/process.ts';
import { notOnWindows } from '../support/windows.ts';

const distinct = notOnWindows('its file system keeps one of such names');
const own = '.memory-bank/decisionLog';

let memory: LayoutMemory;
beforeEach(async () => {
  memory = await LayoutMemory.in('entries');
  await memory.decide('One');
});
afterEach(() => memory.close());

/** Expects one finding, and that its command of git mends it. */
async function expectMended(kind: string, path: string): Promise<void> {
  const found = await memory.findings();
  expect(found).toEqual([expect.objectContaining({ kind })]);
  const [{ mend = '', stored } = {}] = found;
  expect(stored?.path).toBe(path);
  execSync(mend, { cwd: memory.repo.root });
  expect(await memory.findings()).toEqual([]);
  memory.commit('Mend it');
}

distinct(
  'the check finds entry files whose names differ in letter case, and names the command',
  async () => {
    memory.repo.write(`${own}/2026-01-02-Case.md`, '## A - 2026-01-02\n\na\n');
    memory.repo.write(`${own}/2026-01-02-case.md`, '## B - 2026-01-02\n\nb\n');
    memory.commit('By hand');
    const before = await memory.content('decisionLog.md');
    const [first, second] = await memory.findings();
    expect(second).toMatchObject({
      kind: 'case',
      stored: { path: 'decisionLog/2026-01-02-case.md' },
    });
    execSync(first?.mend ?? '', { cwd: memory.repo.root });
    expect(await memory.findings()).toEqual([]);
    memory.commit('Mend it');
    expect((await memory.content('decisionLog.md')).length).toBe(before.length);
  },
);

test.each([true, false])(
  'the command of a finding leaves out an entry file that was never text (committed: %s)',
  async (isCommitted) => {
    const bytes = Buffer.from('## Caf\u00e9 - 2026-01-02\n', 'latin1');
    memory.repo.write(`${own}/2026-01-02-x.md`, bytes);
    if (isCommitted) memory.commit('By hand');
    await expectMended('unreadable', 'decisionLog/2026-01-02-x.md');
    expect(memory.repo.git('show', `HEAD:${own}/2026-01-02-x.md.txt`)).toContain('## Caf');
    expect(await memory.content('decisionLog.md')).toContain('Do One.');
  },
);

test('versions of a decision that a merge has left in a log do not hide each other', async () => {
  const file = '.memory-bank/decisionLog.md';
  await memory.convert('log');
  const before = memory.repo.read(file);
  const [, decision = ''] = before.split(/(?=^## )/m);
  const theirs = decision.replace('Do One.', 'Do another.');
  const marked = `<<<<<<< HEAD\n${decision}=======\n${theirs}>>>>>>> side\n`;
  memory.repo.write(file, before.replace(decision, marked));
  memory.commit('Leave the markers');
  expect(await memory.findings()).toEqual([
    expect.objectContaining({ kind: 'conflict', mend: 'memory-bank edit decisionLog.md' }),
  ]);
});

deep(
  'a decision that a log has as well as an entry file is one, and another version stays',
  async () => {
    const file = '.memory-bank/decisionLog.md';
    const before = await memory.content('decisionLog.md');
    const [, decision = ''] = before.split(/(?=^## )/m);
    const other = decision.replace('Do One.', 'Do another.');
    memory.repo.write(file, `${memory.repo.read(file)}\n${decision}\n${other}`);
    memory.commit('Leave both in the log');
    const expectBoth = async () => {
      const text = await memory.content('decisionLog.md');
      expect(text.match(/^## One - /gm)).toHaveLength(2);
      expect(text.match(/Do (?:One|another)\./g)?.sort()).toEqual(['Do One.', 'Do another.']);
    };
    await expectBoth();
    const kinds = async () => (await memory.findings()).map(({ kind }) => kind);
    // The two versions have one heading, with and without files.
    expect(await kinds()).toEqual(['hidden', 'layout']);
    expect(await memory.convert('entries')).toBeDefined();
    expect(memory.files.filter((path) => path.includes('-one-'))).toHaveLength(2);
    expect(await kinds()).toEqual(['hidden']);
    await expectBoth();
  },
);

deep('decisions of one title and date that two branches add do not collide', async () => {
  const { repo } = memory;
  repo.git('checkout', '-q', '-b', 'theirs');
  for (const title of ['Same', 'same', 'Same 😀', 'x'.repeat(200)]) await memory.decide(title);
  await memory.decide('Own', { context: 'Theirs.' });
  repo.git('checkout', '-q', 'main');
  for (const title of ['Same', 'same', 'Same 😀', 'x'.repeat(200)]) await memory.decide(title);
  await memory.decide('Own', { context: 'Ours.' });
  // Without the driver, as a server merges.
  repo.git('merge', '-q', '--no-edit', 'theirs');
  const text = await memory.content('decisionLog.md');
  expect(text.match(/^## Own - /gm)).toHaveLength(2);
  for (const title of ['Same', 'same', 'Same 😀', 'x'.repeat(200)]) {
    expect(text.split(`## ${title} - `), title).toHaveLength(2);
  }
});

deep.each([
  ['renamed', 'decisionLog/mine.md'],
  ['moved', 'decisionLog/2025/one.md'],
])('an entry file that one side has %s and the other changed stays one entry', async (_, path) => {
  const { repo } = memory;
  const [entry = ''] = memory.files.filter((one) => one.includes('-one-'));
  repo.git('checkout', '-q', '-b', 'theirs');
  const content = (await memory.content('decisionLog.md')).replace('Do One.', 'Do it.');
  await memory.call('write_memory_bank_file', { filename: 'decisionLog.md', content });
  repo.git('checkout', '-q', 'main');
  mkdirSync(repo.path('.memory-bank/decisionLog/2025'), { recursive: true });
  repo.git('mv', entry, `.memory-bank/${path}`);
  memory.commit('Rename it');
  repo.git('merge', '-q', '--no-edit', 'theirs');
  const text = await memory.content('decisionLog.md');
  expect(text.match(/^## /gm)).toHaveLength(1);
  expect(text).toContain('Do it.');
  expect(repo.read(`.memory-bank/${path}`)).toContain('Do it.');
});

test('an import leaves out pages that would be entries here, and says so', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'decisionLog'));
  writeFileSync(join(folder, 'decisionLog/mine.md'), '# Mine\n');
  writeFileSync(join(folder, 'productContext.md'), '# Product\n\nText.\n');
  writeFileSync(join(folder, 'decisionLog.md'), '# Decision Log\n\n## Two - 2026-01-02\n\nText.\n');
  const request = { path: folder, from: undefined, dryRun: false, overwrite: true };
  const [report] = await importSources(memory.app, memory.session, request, {});
  expect(report).toMatchObject({
    replaced: ['decisionLog.md', 'productContext.md'],
    left: [{ message: expect.stringContaining('would be an entry of decisionLog.md here') }],
  });
  expect(await memory.content('decisionLog.md')).toMatch(/^## Two/m);
});
