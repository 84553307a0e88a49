import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statNumbers, statSize } from '../../src/git/disk/file-layer.ts';
import { Folder } from '../../src/git/disk/folder.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';

const files = new NodeFiles();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stats-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Saves the stats of some names, most of them repeated, and then changes some of the files. */
function saved(count: number) {
  const names = ['equal', 'grown', 'touched', 'replaced', 'removed', 'link', 'é'];
  for (const name of names) writeFileSync(join(folder, name), 'text');
  const paths = Array.from({ length: count }, (_, at) => names[(at * at) % names.length] ?? '');
  const stats = new Float64Array(statSize * count);
  for (const [at, path] of paths.entries()) {
    const stat = files.lstat(join(folder, path));
    if (stat) stats.set(statNumbers(stat), statSize * at);
  }
  writeFileSync(join(folder, 'grown'), 'longer text');
  utimesSync(join(folder, 'touched'), 1, 1);
  for (const name of ['replaced', 'removed', 'link']) rmSync(join(folder, name));
  writeFileSync(join(folder, 'replaced'), 'text');
  symlinkSync('equal', join(folder, 'link'));
  return {
    paths,
    stats,
    expected: Uint8Array.from(paths, (path) => (['equal', 'é'].includes(path) ? 1 : 0)),
  };
}

describe('the comparison of many stats', () => {
  it('finds the files that have changed, were replaced or removed', () => {
    const { paths, stats, expected } = saved(1_000);
    expect(new Folder(files, folder).unchanged(paths, stats, () => true)).toEqual(expected);
  });

  it('leaves out files that are not wanted', () => {
    const { paths, stats, expected } = saved(1_000);
    const isWanted = (at: number) => at % 3 > 0;
    const found = new Folder(files, folder).unchanged(paths, stats, isWanted);
    expect(found).toEqual(expected.map((same, at) => (isWanted(at) ? same : 0)));
  });

  it('asks for each file once, also where all have changed', () => {
    const { paths, stats } = saved(2_000);
    let asked = 0;
    const isWanted = () => {
      asked += 1;
      return true;
    };
    const found = new Folder(files, folder).unchanged(paths, stats.fill(Number.NaN), isWanted);
    expect(found).toEqual(new Uint8Array(2_000));
    expect(asked).toBe(2_000);
  });
});
