import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deep, describeDeep } from '../support/depth.ts';
import { LayoutMemory } from '../support/layout-memory.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv } from '../support/repo.ts';

let memory: LayoutMemory;
beforeEach(async () => {
  memory = await LayoutMemory.in('log');
});
afterEach(() => memory.close());

const program = (...args: string[]) => runProgram(memory.repo.root, args, { env: gitEnv });

/** Runs git, which may fail. */
function git(...args: string[]) {
  return spawnSync('git', args, { cwd: memory.repo.root, env: gitEnv, encoding: 'utf8' });
}

async function log(title: string): Promise<void> {
  await memory.decide(title);
  await memory.call('track_progress', { action: 'Fix', description: `it ${title}` });
}

/** A branch `old` from before the conversion of `main`; both log something. */
async function diverge(): Promise<void> {
  await log('Base');
  memory.repo.git('checkout', '-q', '-b', 'old');
  await log('Theirs');
  memory.repo.git('checkout', '-q', 'main');
  await memory.convert('entries');
  await log('Ours');
}

/** Expects each entry once, in the log, the progress and the session notes. */
async function expectOnce(...titles: string[]): Promise<void> {
  const text = await memory.content('decisionLog.md');
  expect(text.match(/(?<=^## )\w+/gm)?.sort()).toEqual([...titles].sort());
  for (const file of ['progress.md', 'activeContext.md']) {
    const found = (await memory.content(file)).match(/(?<=Fix: it )\w+/g) ?? [];
    expect([file, ...found.sort()]).toEqual([file, ...[...titles].sort()]);
  }
}

/** Expects that what is left in the logs is found, and that the command of the finding moves it. */
async function expectMended(): Promise<void> {
  const found = await memory.findings();
  expect(found.map(({ kind }) => kind)).toEqual(['layout', 'layout']);
  const [{ mend = '' } = {}] = found;
  expect(program(...mend.split(' ').slice(1))).toMatchObject({ status: 0 });
  expect(await memory.findings()).toEqual([]);
  expect(memory.repo.read('.memory-bank/decisionLog.md')).toBe('# Decision Log\n');
  expect(await memory.convert('entries')).toBeUndefined();
}

describeDeep('a branch from before the conversion', () => {
  const ways = {
    'a merge': () => git('merge', '-q', '--no-edit', 'old'),
    'a merge into the branch': () => {
      memory.repo.git('checkout', '-q', 'old');
      return git('merge', '-q', '--no-edit', 'main');
    },
    'a rebase': () => git('rebase', '-q', 'main', 'old'),
    'a rebase of the conversion': () => git('rebase', '-q', 'old', 'main'),
    'a cherry-pick': () => git('cherry-pick', 'main..old'),
    'a squash': () => {
      git('merge', '-q', '--squash', 'old');
      return git('commit', '-q', '-m', 'Squash');
    },
  };

  test.each(Object.entries(ways))('is joined by %s of git', async (_, join) => {
    program('install-merge-driver');
    await diverge();
    const { status, stdout, stderr } = join();
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
    await expectOnce('Base', 'Ours', 'Theirs');
    await expectMended();
    await expectOnce('Base', 'Ours', 'Theirs');
  });

  test('conflicts in a merge without the driver, and resolve merges it', async () => {
    await diverge();
    expect(git('merge', '-q', 'old').status).toBe(1);
    expect(program('resolve')).toMatchObject({ status: 0 });
    expect(git('commit', '-q', '--no-edit').status).toBe(0);
    await expectOnce('Base', 'Ours', 'Theirs');
    await expectMended();
  });
});

deep('a conflict of an entry is decided by the name of its log', async () => {
  await memory.convert('entries');
  await memory.decide('One');
  const { repo } = memory;
  const [entry = ''] = memory.files.filter((path) => path.includes('-one-'));
  const file = entry.slice('.memory-bank/'.length);
  /** Makes both branches change the entry, or one remove it, and merges them. */
  const merge = async (theirs: string | undefined) => {
    repo.git('checkout', '-q', '-B', 'other');
    if (theirs === undefined) repo.git('rm', '-q', entry);
    else repo.write(entry, repo.read(entry).replace('Do One.', theirs));
    memory.commit('Theirs');
    repo.git('checkout', '-q', 'main');
    repo.write(entry, repo.read(entry).replace(/(?:Do One|Theirs)\.\n/, 'Ours.\n\nReally.\n'));
    memory.commit('Ours');
    expect(git('merge', '-q', 'other').status).toBe(1);
  };
  await merge('Theirs.');
  const [finding, ...others] = await memory.findings();
  expect(finding).toMatchObject({
    kind: 'conflict',
    mend: 'memory-bank resolve',
    stored: { path: file },
  });
  expect(others).toEqual([]);
  expect(program('resolve').status).toBe(4);
  expect(program('resolve', '--theirs', 'progress.md').stderr).toContain('is not in conflict');
  expect(program('resolve', '--theirs', 'decisionLog.md')).toMatchObject({ status: 0 });
  expect(repo.read(entry)).toContain('\nTheirs.\n');
  expect(git('commit', '-q', '--no-edit').status).toBe(0);
  expect(await memory.findings()).toEqual([]);

  await merge(undefined);
  expect(program('resolve', '--ours', 'decisionLog.md')).toMatchObject({ status: 0 });
  expect(await memory.content('decisionLog.md')).toContain('Really.');
  repo.git('reset', '-q', '--hard');
  expect(git('merge', '-q', 'other').status).toBe(1);
  expect(program('resolve', '--theirs', 'decisionLog.md')).toMatchObject({ status: 0 });
  expect(git('commit', '-q', '--no-edit').status).toBe(0);
  expect(await memory.content('decisionLog.md')).toBe('# Decision Log\n');
});
