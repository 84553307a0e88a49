import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sample } from '../support/depth.ts';
import { refFile } from '../support/ref-form.ts';
import { hasTables, type Repo } from '../support/repo.ts';
import { create } from './create.ts';
import { open, put } from './repository-at.ts';

/** The permissions of files that a commit makes or replaces. */
function modes(repo: Repo, record: string): Record<string, string> {
  const mode = (path: string) => (statSync(repo.path(path)).mode & 0o7777).toString(8);
  const oid = repo.git('rev-parse', 'HEAD').trim();
  const folder = `.git/objects/${oid.slice(0, 2)}`;
  const object = `${folder}/${readdirSync(repo.path(folder))[0] ?? ''}`;
  const parts = { folder, object, ref: refFile('side'), index: '.git/index' };
  const [table] = hasTables ? repo.read(refFile('side')).trim().split('\n').reverse() : [];
  const logs = { log: table ? `.git/reftable/${table}` : '.git/logs/refs/heads/side' };
  const found = Object.entries({ ...parts, ...logs }).map(([what, path]) => [what, mode(path)]);
  return Object.fromEntries([...found, ['record', mode(record)]]);
}

const values = ['group', '0640', 'umask', 'all', 'true', '1', '2', '0660', '0664', '0600'];

test.each(sample(values, 2))(
  'new files have the permissions of git with core.sharedRepository %s',
  async (value) => {
    const [native, ours] = [create(), create()];
    for (const repo of [native, ours]) {
      // A folder of objects that exists keeps its permissions.
      repo.git('gc', '-q');
      repo.git('config', 'core.sharedRepository', value);
      repo.git('symbolic-ref', 'HEAD', 'refs/heads/side');
    }
    native.write('m.md', '1');
    native.git('add', 'm.md');
    native.git('commit', '-qm', 'm');
    await put(open(ours.root), { 'm/a.md': '1' });
    const { record, ...made } = modes(ours, 'm/a.md');
    const { record: _, ...expected } = modes(native, 'm.md');
    expect(made).toEqual(expected);
    // Git leaves the work tree to the umask; the memory is shared as well.
    expect(record).toBe(made.ref);
    const own = statSync(ours.path('.git/memory-bank')).mode & 0o7777;
    expect(own.toString(8)).toBe(expected.folder);
  },
);
