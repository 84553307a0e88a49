import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deep, describeDeep } from '../support/depth.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';

let repo: Repo;
let served: Served;
beforeEach(async () => {
  repo = Repo.create();
  served = new Served(repo);
  await served.call('create_features', { features: [{ slug: 'auth', name: 'Auth' }] });
  await served.write('tabs', 'one\n\ntwo\n\nthree');
  repo.git('branch', 'other');
});
afterEach(async () => {
  await served.close();
  expect(repo.fsck()).toBe('');
  expect(readdirSync(repo.path('.git/memory-bank')).filter((name) => /-/.test(name))).toEqual(
    expect.not.arrayContaining([expect.stringMatching(/^(?:journal|index|owner)-\w+-/)]),
  );
  repo.remove();
});

const feature = '.memory-bank/graph/features/auth.yaml';
const tabs = '.memory-bank/knowledge/patterns/tabs.md';
const resolve = (args = {}) => served.call('resolve_conflicts', args);

/** Changes on both branches that native git cannot merge alone. */
async function work(branch: 'main' | 'other'): Promise<void> {
  repo.git('checkout', '-q', branch);
  const change = branch === 'main' ? { name: 'Sign-in' } : { description: 'Signing in' };
  await served.call('update_feature', { slug: 'auth', ...change });
  await served.call('log_decision', { title: `Of ${branch}`, context: 'c', decision: 'd' });
}

/** Runs git, which fails because of the conflict. */
function conflict(...args: string[]): void {
  const { status } = spawnSync('git', args, { cwd: repo.root, env: gitEnv });
  expect(status).toBe(1);
}

async function diverge(): Promise<void> {
  await work('other');
  await work('main');
}

function expectMerged(): void {
  const text = repo.read(feature);
  expect(text).toContain('name: Sign-in');
  expect(text).toContain('description: Signing in');
  expect(text).not.toContain('<<<<');
  expect(
    repo
      .read('.memory-bank/decisionLog.md')
      .match(/^## Of \w+/gm)
      ?.sort(),
  ).toEqual(['## Of main', '## Of other']);
}

describe('a conflicted merge', () => {
  deep('leaves a version that is too large in conflict, and resolves the rest', async () => {
    await diverge();
    repo.git('checkout', '-q', 'other');
    repo.write(tabs, Buffer.alloc(17 * 1024 * 1024));
    repo.git('commit', '-q', '-a', '-m', 'Make it large');
    repo.git('checkout', '-q', 'main');
    await served.write('tabs', 'one\n\ntwo\n\nfour');
    conflict('merge', 'other');
    expect(await resolve()).toMatchObject({
      resolved: ['decisionLog.md', 'graph/features/auth.yaml'],
      conflicts: [
        { path: 'knowledge/patterns/tabs.md', reasons: [expect.stringMatching(/large/)] },
      ],
    });
    repo.git('reset', '-q', '--hard', 'main');
  });

  deep('is finished from the index, and git commit concludes it', async () => {
    await diverge();
    const head = served.head();
    conflict('merge', 'other');
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    repo.write('README.md', '# Edited\n');
    expect(repo.git('ls-files', '-u')).not.toBe('');
    expect(await resolve()).toMatchObject({
      resolved: ['decisionLog.md', 'graph/features/auth.yaml'],
      conflicts: [],
      edited_by_hand: [],
      outside_memory: [],
      next: expect.stringContaining('git merge --continue'),
    });
    expectMerged();
    expect(repo.git('ls-files', '-u')).toBe('');
    expect(served.head()).toBe(head);
    // Everything of the merge is staged, and nothing else.
    expect(repo.git('diff', '--name-only').trim()).toBe('README.md');
    repo.git('commit', '-q', '--no-edit');
    expect(repo.git('log', '-1', '--format=%P').trim().split(' ')).toHaveLength(2);
    expect(repo.git('show', `HEAD:${feature}`)).toBe(repo.read(feature));
    expect(repo.git('show', 'HEAD:staged.txt')).toBe('staged\n');
    await served.write('next', 'goes on');
  });

  test.each([
    ['rebase', ['rebase', 'other']],
    ['cherry-pick', ['cherry-pick', 'other~1', 'other']],
  ])('of a %s', async (what, args) => {
    await diverge();
    conflict(...args);
    for (let step = 0; repo.git('ls-files', '-u') !== ''; step++) {
      expect(step).toBeLessThan(3);
      expect(await resolve()).toMatchObject({ conflicts: [], next: expect.stringContaining(what) });
      spawnSync('git', ['-c', 'core.editor=true', what, '--continue'], {
        cwd: repo.root,
        env: gitEnv,
      });
    }
    expectMerged();
    expect(repo.status()).toEqual([]);
  });

  test('of a stash', async () => {
    repo.write(feature, repo.read(feature).replace('name: Auth', 'name: Sign-in'));
    repo.git('stash', '-q');
    await served.call('update_feature', { slug: 'auth', description: 'Signing in' });
    conflict('stash', 'pop');
    expect(await resolve()).toMatchObject({
      resolved: ['graph/features/auth.yaml'],
      next: 'Nothing is left to resolve.',
    });
    expect(repo.read(feature)).toContain('name: Sign-in');
    expect(repo.read(feature)).toContain('description: Signing in');
  });

  deep('leaves code alone', async () => {
    for (const branch of ['other', 'main']) {
      repo.git('checkout', '-q', branch);
      repo.write('code.ts', `${branch}\n`);
      repo.git('add', '.');
      repo.git('commit', '-q', '-m', branch);
    }
    await diverge();
    conflict('merge', 'other');
    const code = repo.read('code.ts');
    const stages = repo.git('ls-files', '-s', 'code.ts');
    expect(await resolve()).toMatchObject({
      outside_memory: ['code.ts'],
      next: expect.stringContaining('outside the memory'),
    });
    expect(repo.read('code.ts')).toBe(code);
    expect(repo.git('ls-files', '-s', 'code.ts')).toBe(stages);
    expect(repo.git('ls-files', '-u').trim().split('\n')).toHaveLength(2);
    expectMerged();
  });
});

describeDeep('a real conflict', () => {
  beforeEach(async () => {
    repo.git('checkout', '-q', 'other');
    await served.call('update_feature', { slug: 'auth', name: 'Theirs', description: 'added' });
    repo.git('checkout', '-q', 'main');
    await served.call('update_feature', { slug: 'auth', name: 'Ours' });
    conflict('merge', 'other');
  });
  const path = 'graph/features/auth.yaml';

  test('is named, and is the only part with markers', async () => {
    expect(repo.read(feature)).toMatch(/>{7}/);
    expect(await resolve()).toMatchObject({
      resolved: [],
      conflicts: [
        {
          path,
          reasons: ['both sides changed name'],
          fields: [{ field: 'name', base: 'Auth', ours: 'Ours', theirs: 'Theirs' }],
        },
      ],
      next: expect.stringContaining('`ours` or `theirs`'),
    });
    expect(repo.read(feature)).toContain(
      '<<<<<<< ours\nname: Ours\n=======\nname: Theirs\n>>>>>>> theirs\ndescription: added\n',
    );
    expect(repo.git('ls-files', '-u')).toContain(feature);
  });

  test.each(['ours', 'theirs'])('is decided for %s, also by the field alone', async (side) => {
    await expect(resolve({ [side]: [`${path}#nome`] })).rejects.toThrow('In conflict: name.');
    expect(await resolve({ [side]: [`${path}#name`] })).toMatchObject({
      resolved: [path],
      conflicts: [],
    });
    expect(repo.read(feature)).toMatch(new RegExp(`^name: ${side}$`, 'im'));
    expect(repo.read(feature)).toContain('description: added');
    expect(repo.git('ls-files', '-u')).toBe('');
  });

  test('is shown and decided on the command line', () => {
    const run = (...args: string[]) =>
      runProgram(repo.root, ['resolve', ...args], { env: { ...gitEnv, HOME: repo.path('home') } });
    expect(run()).toMatchObject({
      status: 4,
      stdout: `conflict ${path}: both sides changed name\n  #name: ours "Ours", theirs "Theirs"\nDecide for a side with --ours <path> or --theirs <path>, a field with <path>#<field>, or edit the files and "git add" them.\n`,
    });
    const json = run('--output', 'json');
    expect({ status: json.status, ...JSON.parse(json.stdout) }).toMatchObject({
      status: 4,
      conflicts: [{ path }],
    });
    expect(run('--ours', feature)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(
        /^resolved .*\nNothing is left to resolve: finish with "git merge --continue"/,
      ),
    });
    expect(run()).toMatchObject({ status: 0 });
  });

  test('is left alone if a person has resolved it', async () => {
    repo.write(feature, 'name: Mended by hand\n');
    expect(await resolve()).toMatchObject({ edited_by_hand: [path] });
    expect(repo.read(feature)).toBe('name: Mended by hand\n');
  });

  test('is not decided for a path without one', async () => {
    const index = repo.git('ls-files', '-s');
    await expect(resolve({ ours: ['a.md'] })).rejects.toThrow(path);
    expect(repo.git('ls-files', '-s')).toBe(index);
  });
});

describeDeep('a deletion', () => {
  beforeEach(async () => {
    repo.git('checkout', '-q', 'other');
    await served.call('memory_delete', { category: 'patterns', key: 'tabs', confirm: true });
    repo.git('checkout', '-q', 'main');
    await served.write('tabs', 'changed');
    expect(await served.keys()).toEqual(['tabs']);
    conflict('merge', 'other');
  });
  const path = 'knowledge/patterns/tabs.md';

  test('against a change is decided by a person', async () => {
    expect(await resolve()).toMatchObject({
      conflicts: [{ path, reasons: [expect.stringContaining('deleted')] }],
    });
    expect(await resolve({ theirs: [path] })).toMatchObject({ resolved: [path] });
    expect(repo.git('ls-files', tabs)).toBe('');
    expect(existsSync(repo.path(tabs))).toBe(false);
    expect(await served.keys()).toEqual([]);
  });

  test('can be undone by the choice of the other side', async () => {
    expect(await resolve({ ours: [path] })).toMatchObject({ resolved: [path] });
    expect(repo.read(tabs)).toContain('changed');
  });
});

test('without a merge there is nothing to do', async () => {
  const before = { head: served.head(), index: repo.git('ls-files', '-s', '--debug') };
  expect(await resolve()).toMatchObject({ resolved: [], next: 'Nothing is left to resolve.' });
  expect({ head: served.head(), index: repo.git('ls-files', '-s', '--debug') }).toEqual(before);
});
