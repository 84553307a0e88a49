import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeFiles, statNumbers, statSize } from '../../src/git/disk/file-layer.ts';
import {
  batchSize,
  leastForThread,
  type SavedStats,
  StatThread,
  unchangedFiles,
} from '../../src/git/disk/stat-comparison.ts';

const files = new NodeFiles();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stats-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Saves the stats of some names, most of them repeated, and then changes some of the files. */
function saved(count: number): { readonly state: SavedStats; readonly expected: Uint8Array } {
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
    state: { paths, stats },
    expected: Uint8Array.from(paths, (path) => (['equal', 'é'].includes(path) ? 1 : 0)),
  };
}

describe('the comparison of many stats', () => {
  it('finds the files that have changed, were replaced or removed', () => {
    const { state, expected } = saved(2 * batchSize + 3);
    expect(unchangedFiles(files, `${folder}/`, state, () => true)).toEqual(expected);
  });

  it('leaves out files that are not wanted', () => {
    const { state, expected } = saved(batchSize + 3);
    const isWanted = (at: number) => at % 3 > 0;
    const found = unchangedFiles(files, `${folder}/`, state, isWanted);
    expect(found).toEqual(expected.map((same, at) => (isWanted(at) ? same : 0)));
  });

  it('finds the same with the help of a second thread', { retry: 2 }, () => {
    const { state, expected } = saved(leastForThread + 3);
    // The paths are a part of a larger buffer, as in a saved index.
    const json = Buffer.from(JSON.stringify(state.paths));
    const whole = Buffer.concat([Buffer.from('head'), json, Buffer.from('tail')]);
    const part = whole.subarray(4, 4 + json.length);
    const thread = StatThread.start(`${folder}/`, part, state.stats);
    const slow = new SlowFiles();
    const found = unchangedFiles(slow, `${folder}/`, { ...state, thread }, () => true);
    expect(found).toEqual(expected);
    expect(whole.toString('utf8', 0, 4)).toBe('head');
    const all = Math.ceil(expected.length / batchSize);
    if (availableParallelism() > 1) expect(slow.batches).toBeLessThan(all);
    else expect(slow.batches).toBe(all);
    // The thread has helped once; a later comparison does not get its results again.
    writeFileSync(join(folder, 'equal'), 'other text');
    const again = unchangedFiles(files, `${folder}/`, { ...state, thread }, () => true);
    expect(again.reduce((sum, one) => sum + one, 0)).toBe(
      state.paths.filter((path) => path === 'é').length,
    );
  });
});

/** A disk on which a thread has time to start while the first batches are compared. */
class SlowFiles extends NodeFiles {
  readonly #seen = new Set<number>();

  get batches(): number {
    return this.#seen.size;
  }

  override firstChanged(
    ...[prefix, paths, stats, start, end]: Parameters<NodeFiles['firstChanged']>
  ): number {
    const batch = Math.floor(start / batchSize);
    if (!this.#seen.has(batch)) {
      this.#seen.add(batch);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
    return super.firstChanged(prefix, paths, stats, start, end);
  }
}
