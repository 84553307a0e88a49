import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { deep, isFull } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const run = promisify(execFile);
const repos: Repo[] = [];
function newRepo(): Repo {
  const repo = Repo.create();
  repos.push(repo);
  return repo;
}
afterAll(() => {
  for (const repo of repos) repo.remove();
});

const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };

const isLinux = process.platform === 'linux';
const waiting = /Waiting for "git commit" \(process \d+\)/;
const written = (key: string) => ({ category: 'patterns', key, value: 'v' });

function remember(repo: Repo, key: string) {
  const args = Object.entries(written(key)).flatMap(([name, value]) => [`--${name}`, value]);
  return run(process.execPath, [main, 'memory-write', ...args], { cwd: repo.root, env });
}

/** Begins a commit that runs until it is released. */
async function begin(repo: Repo, path: string, args: readonly string[]) {
  const [running, editor] = [repo.path('.git/running'), repo.path('.git/editor')];
  const wait = `: > '${running}'; while [ -e '${running}' ]; do sleep 0.01; done`;
  repo.write(`.git/${path}`, `#!/bin/sh\n${wait}; [ -z "$1" ] || echo 'by hand' > "$1"\n`);
  chmodSync(repo.path(`.git/${path}`), 0o755);
  repo.write('README.md', 'edited\n');
  repo.git('add', 'README.md');
  const options = { cwd: repo.root, env: { ...gitEnv, GIT_EDITOR: editor } };
  const commit = run('git', ['commit', '-q', ...args], options);
  await vi.waitUntil(() => existsSync(running), { timeout: 20_000 });
  return () => {
    rmSync(running);
    return commit;
  };
}

deep.each([
  ['a hook', 'hooks/pre-commit', ['-m', 'by hand']],
  ['an editor', 'editor', []],
  ['an editor of "commit -a"', 'editor', ['-a']],
  ['an editor of "commit -- path"', 'editor', ['--', 'README.md']],
])(
  'a change during %s of a commit waits, which is said, and both succeed',
  async (_, path, args) => {
    const repo = newRepo();
    const end = await begin(repo, path, args);
    const change = remember(repo, 'during');
    let text = '';
    change.child.stderr?.on('data', (data) => {
      text += data;
    });
    // Elsewhere than on Linux, not every commit is seen.
    if (isLinux) await vi.waitUntil(() => waiting.test(text), { timeout: 20_000 });
    else await sleep(300);
    await end();
    await change;
    expect(repo.git('log', '-2', '--format=%s').trim().split('\n')).toEqual([
      'memory: remember "during" in patterns',
      'by hand',
    ]);
    expect(repo.status()).toEqual([]);
    expect(repo.fsck()).toBe('');
  },
);

test.runIf(isFull && isLinux)(
  'a client hears what its change waits for, and reads meanwhile',
  async () => {
    const repo = newRepo();
    const end = await begin(repo, 'hooks/pre-commit', ['-m', 'by hand', '--amend']);
    const client = new Client({ name: 'test', version: '1' });
    const server = { command: process.execPath, args: [main], cwd: repo.root };
    await client.connect(
      new StdioClientTransport({ ...server, env: { ...env, PATH: env.PATH ?? '' } }),
    );
    const call = { name: 'memory_write', arguments: written('during') };
    const message = await new Promise((hear) => {
      void client.callTool(call, undefined, { onprogress: ({ message }) => hear(message) });
    });
    expect(message).toMatch(waiting);
    const read = { name: 'memory_read', arguments: { category: 'patterns' } };
    expect(await client.callTool(read)).toMatchObject({ structuredContent: { entries: [] } });
    expect(repo.git('log', '--format=%s').trim()).toBe('Begin');
    await end();
    await client.close();
  },
);

describe.runIf(isLinux)('a hook of git', () => {
  /** Commits with a hook that remembers something. */
  function commitWith(hook: string) {
    const repo = newRepo();
    const program = `'${process.execPath}' '${main}'`;
    const call = `${program} memory-write --category patterns --key inside --value v`;
    repo.write(`.git/hooks/${hook}`, `#!/bin/sh\nenv HOME='${env.HOME}' ${call}\n`);
    chmodSync(repo.path(`.git/hooks/${hook}`), 0o755);
    repo.write('README.md', 'edited\n');
    const options = { cwd: repo.root, env: gitEnv, encoding: 'utf8' } as const;
    const git = spawnSync('git', ['commit', '-q', '-a', '-m', 'by hand'], options);
    return { repo, git };
  }

  deep('before its commit is refused a change, at once', () => {
    const { repo, git } = commitWith('pre-commit');
    expect(git.stderr).toContain('runs this change in its pre-commit hook');
    expect(git.stderr).toContain('Change the memory in the post-commit hook');
    expect(git.stderr).not.toContain('Waiting');
    expect(git.status).toBe(1);
    expect(repo.git('log', '--format=%s').trim()).toBe('Begin');
    expect(repo.status()).toEqual([' M README.md']);
  });

  deep('after its commit changes the memory, at once', () => {
    const { repo, git } = commitWith('post-commit');
    expect(git).toMatchObject({ status: 0, stderr: expect.not.stringContaining('Waiting') });
    const subjects = ['memory: remember "inside" in patterns', 'by hand'];
    expect(repo.git('log', '-2', '--format=%s').trim().split('\n')).toEqual(subjects);
  });
});
