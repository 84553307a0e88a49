import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, expect, vi } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const repos: Repo[] = [];
afterAll(() => {
  for (const repo of repos) repo.remove();
});

const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };

function remember(repo: Repo, key: string) {
  const args = ['memory-write', '--category', 'patterns', '--key', key, '--value', 'v'];
  const options = { cwd: repo.root, env, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, [main, ...args], options);
}

deep.each([
  ['a hook', 'hooks/pre-commit', ['-m', 'by hand']],
  ['an editor', 'editor', []],
  ['an editor of "commit -a"', 'editor', ['-a']],
  ['an editor of "commit -- path"', 'editor', ['--', 'README.md']],
])('a change during %s of a commit waits, and both succeed', async (_, path, args) => {
  const repo = Repo.create();
  repos.push(repo);
  expect(remember(repo, 'before').status).toBe(0);
  const script = ': > .git/running; sleep 1; [ -z "$1" ] || echo "by hand" > "$1"';
  repo.write(`.git/${path}`, `#!/bin/sh\n${script}\n`);
  chmodSync(repo.path(`.git/${path}`), 0o755);
  repo.write('README.md', 'edited\n');
  repo.git('add', 'README.md');
  const commit = promisify(execFile)('git', ['commit', '-q', ...args], {
    cwd: repo.root,
    env: { ...gitEnv, GIT_EDITOR: repo.path('.git/editor') },
  });
  await vi.waitUntil(() => existsSync(repo.path('.git/running')), { timeout: 20_000 });
  expect(remember(repo, 'during')).toMatchObject({ status: 0, stderr: '' });
  await commit;
  expect(repo.git('log', '-2', '--format=%s').trim().split('\n')).toEqual([
    'memory: remember "during" in patterns',
    'by hand',
  ]);
  expect(repo.status()).toEqual([]);
  expect(repo.fsck()).toBe('');
});
