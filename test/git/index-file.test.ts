import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NodeFiles } from '../../src/git/files.ts';
import { IndexFile } from '../../src/git/index-file.ts';
import { Repo } from '../support/repo.ts';

test('a changed line makes the cached trees above it invalid, whoever knows of the new ones', () => {
  const repo = Repo.create();
  repo.write('a/b/one.txt', 'old\n');
  repo.write('a/two.txt', 'two\n');
  repo.git('add', '.');
  repo.git('commit', '-qm', 'two folders');
  const oid = repo.gitWith({ input: 'new\n' }, 'hash-object', '-w', '--stdin').trim();
  const index = new IndexFile(new NodeFiles().read(repo.path('.git/index')));
  const change = { path: 'a/b/one.txt', oid, mode: 0o100644, stat: undefined };
  writeFileSync(repo.path('.git/index'), index.splice([change], [], []));
  // git takes a cached tree for the truth when it writes one.
  const tree = repo.git('write-tree').trim();
  expect(repo.git('rev-parse', `${tree}:a/b/one.txt`).trim()).toBe(oid);
  repo.remove();
});
