import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { projectPath, readMemoryFile } from '../../src/app/project/project-file.ts';
import { create } from '../git/create.ts';
import { deep } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { open } from '../support/open.ts';
import type { Repo } from '../support/repo.ts';

/** Commits a symbolic link and checks it out as git does where there are none: as a file with its target. */
function addLink(repo: Repo, path: string, target: string): void {
  repo.git('config', 'core.symlinks', 'false');
  const oid = repo.gitWith({ input: target }, 'hash-object', '-w', '--stdin').trim();
  repo.git('update-index', '--add', '--cacheinfo', `120000,${oid},${path}`);
  repo.git('commit', '-q', '-m', `Link ${path}`);
  repo.git('checkout', '--', path);
  expect(repo.read(path)).toBe(target);
  expect(repo.status()).toEqual([]);
}

test('a text for agents that is a link to another one leads to it', () => {
  const repo = create();
  repo.write('docs/AGENTS.md', '# Agents\n');
  repo.git('add', '.');
  addLink(repo, 'CLAUDE.md', 'docs/CLAUDE.md');
  addLink(repo, 'docs/CLAUDE.md', 'AGENTS.md');
  expect(projectPath(repo.root, repo.path('CLAUDE.md'))).toBe(repo.path('docs/AGENTS.md'));
  // Somebody has replaced the link by a text.
  repo.write('CLAUDE.md', 'AGENTS.md\n');
  expect(projectPath(repo.root, repo.path('CLAUDE.md'))).toBe(repo.path('CLAUDE.md'));
});

deep.each([
  ['out of the project', '..', /is a symbolic link to .*, outside of/],
  ['nowhere', 'missing.md', /is a symbolic link whose target does not exist/],
  ['to itself', 'CLAUDE.md', /is a symbolic link that leads to itself/],
  ['into the git directory', '.git/config', /\.git.config, in a git directory/],
])('one that leads %s is refused', (_, target, message) => {
  const repo = create();
  addLink(repo, 'CLAUDE.md', target);
  expect(() => projectPath(repo.root, repo.path('CLAUDE.md'))).toThrow(message);
});

test('a record that is a link is neither shown nor written', async () => {
  const repo = create();
  const opened = await open(repo.root, [note]);
  const put = (key: string) =>
    opened.call.store.change({ subject: 'm' }, (tx) => tx.put(note, { key, tags: [], text: 'a' }));
  await put('a');
  addLink(repo, '.memory-bank/notes/b.yaml', '../../README.md');
  expect(() => readMemoryFile(repo.root, repo.path('.memory-bank'), 'notes/b.yaml')).toThrow(
    'is a symbolic link',
  );
  const before = repo.git('rev-parse', 'HEAD');
  await expect(put('b')).rejects.toMatchObject({ code: 'damaged' });
  expect(repo.git('rev-parse', 'HEAD')).toBe(before);
  expect(repo.status()).toEqual([]);
  await opened.workspace.close();
});

test('a memory folder that is a link is refused, and nothing is written through it', async () => {
  const repo = create();
  repo.write('real/notes/a.yaml', 'key: a\ntags: []\ntext: t\n');
  repo.git('add', '.');
  addLink(repo, '.memory-bank', 'real');
  const opened = await open(repo.root, [note]);
  const refusal = {
    code: 'cannot_create',
    message: expect.stringContaining('.memory-bank is a file where a folder should be'),
  };
  await expect(opened.call.store.list(note)).rejects.toMatchObject(refusal);
  const put = opened.call.store.change({ subject: 'm' }, (tx) =>
    tx.put(note, { key: 'b', tags: [], text: 'a' }),
  );
  await expect(put).rejects.toMatchObject({ code: 'cannot_create' });
  await opened.workspace.close();
  expect(existsSync(repo.path('real/notes/b.yaml'))).toBe(false);
  expect(repo.status()).toEqual([]);
});
