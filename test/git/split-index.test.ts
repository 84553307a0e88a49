import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { readBitmap } from '../../src/git/index/bitmap.ts';
import { loadIndex } from '../../src/git/index/known-index.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { objectFormat, Repo } from '../support/repo.ts';
import { expectClean, open, put } from './repository-at.ts';

const repos: Repo[] = [];
afterAll(() => {
  for (const repo of repos) repo.remove();
});

/** A repository whose index git divides, with some files in it. */
function divided(version: number, maxChange: number): Repo {
  const repo = Repo.create();
  repos.push(repo);
  for (let i = 0; i < 40; i++) repo.write(`part-${i % 3}/${'ab'.repeat(i % 4)}${i}`, `${i}\n`);
  repo.commitAll('Files');
  repo.git('update-index', '--index-version', `${version}`);
  repo.git('config', 'core.splitIndex', 'true');
  repo.git('config', 'splitIndex.maxPercentChange', `${maxChange}`);
  repo.git('update-index', '--split-index');
  return repo;
}

/** The lines as git lists them, with the flag of files that are not in the work tree. */
function listed(repo: Repo): string {
  return repo.git('ls-files', '--stage', '-t', '-z');
}

function read(repo: Repo): string {
  const gitDir = repo.path('.git');
  return [...loadIndex(new NodeFiles(), { gitDir, commonDir: gitDir }).lines()]
    .map(({ name, mode, oid, stage, skipWorktree }) => {
      const tag = stage > 0 ? 'M' : skipWorktree ? 'S' : 'H';
      return `${tag} ${mode.toString(8)} ${oid} ${stage}\t${name.toString('utf8')}\0`;
    })
    .join('');
}

const path = fc.integer({ min: 0, max: 60 }).map((i) => `part-${i % 3}/${'ab'.repeat(i % 4)}${i}`);
const step = fc.oneof(
  fc.record({ act: fc.constantFrom('change', 'remove', 'hide', 'unmerge', 'memory'), path }),
  fc.record({ act: fc.constantFrom('commit', 'share', 'status'), path }),
);

function act(repo: Repo, kind: string, name: string, i: number): void {
  const isThere = repo.git('ls-files', '--', name) !== '';
  if (kind === 'change') {
    repo.write(name, `changed ${i}\n`);
    repo.git('update-index', '--add', '--', name);
  }
  if (kind === 'remove' && isThere) repo.git('rm', '-q', '--cached', '-f', '--', name);
  const isMerged = isThere && !repo.git('ls-files', '-u', '--', name);
  if (kind === 'hide' && isMerged) repo.git('update-index', '--skip-worktree', name);
  if (kind === 'unmerge') {
    const blob = repo.git('rev-parse', 'HEAD:README.md').trim();
    const none = '0'.repeat(objectFormat.digits);
    const lines = [`0 ${none}\t${name}`, ...[1, 3].map((n) => `100644 ${blob} ${n}\t${name}`)];
    repo.gitWith({ input: lines.join('\n') }, 'update-index', '--index-info');
  }
  if (kind === 'commit' && !repo.git('ls-files', '-u'))
    repo.git('commit', '-qm', `${i}`, '--allow-empty');
  if (kind === 'share') repo.git('update-index', '--split-index');
  if (kind === 'status') repo.git('status');
}

describe.each([2, 4])('a split index of version %i', (version) => {
  test('has the lines that git lists, also after changes of both', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 10 }),
        fc.constantFrom(0, 50, 100),
        async (steps, maxChange) => {
          const repo = divided(version, maxChange);
          for (const [i, { act: kind, path }] of steps.entries()) {
            if (kind !== 'memory') act(repo, kind, path, i);
            else if (!repo.git('ls-files', '-u')) {
              const staged = repo.git('diff', '--cached', '--name-status');
              await put(open(repo.root), { 'm/a.md': `${i}` });
              expect(repo.git('diff', '--cached', '--name-status')).toBe(staged);
              expect(repo.git('show', '--format=', '--name-only', 'HEAD')).toBe('m/a.md\n');
            }
            expect(read(repo)).toBe(listed(repo));
          }
          expectClean(repo);
        },
      ),
      { numRuns: runs(10) },
    );
  });
});

test('a change keeps what is staged and marked in a split index', async () => {
  const repo = divided(2, 100);
  repo.write('part-0/0', 'staged\n');
  repo.git('add', 'part-0/0');
  repo.git('rm', '-q', 'part-1/ab1');
  repo.git('update-index', '--skip-worktree', 'part-2/abab2');
  const [before, status] = [listed(repo), repo.status()];
  await put(open(repo.root), { 'm/a.md': 'a' });
  repo.git('update-index', '--refresh', '-q');
  expect(repo.status()).toEqual(status);
  const others = listed(repo).replace(/[^\0]*\tm\/a\.md\0/, '');
  expect(others).toBe(before);
  expectClean(repo);
});

test('a split index without its shared one is damaged', async () => {
  const repo = divided(2, 100);
  const files = new NodeFiles();
  for (const { name } of files.list(repo.path('.git')) ?? []) {
    if (name.startsWith('sharedindex.')) files.unlink(join(repo.path('.git'), name));
  }
  await expect(put(open(repo.root), { 'm/a.md': 'a' })).rejects.toMatchObject({ code: 'damaged' });
});

test.each([
  ['a bit without a line', '00000040 00000001 0000000000000003 00000000'],
  ['fewer words than it says', '00000040 00000009 0000000000000003 00000000'],
  ['literal words that are not there', '00000040 00000001 ffffffff00000000 00000000'],
  ['a repetition without end', '00000040 00000001 00000001ffffffff 00000000'],
])('a bitmap with %s is damaged', (_, text) => {
  const bytes = Buffer.from(text.replaceAll(' ', ''), 'hex');
  expect(() => readBitmap(bytes, 0, 40)).toThrow(/damaged/);
});
