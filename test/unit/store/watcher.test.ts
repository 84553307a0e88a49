import { mkdirSync, mkdtempSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NodeFiles } from '../../../src/git/disk/node-files.ts';
import { Watcher } from '../../../src/store/records/watcher.ts';

/** A memory with a folder in a folder, and its watcher. */
function watched(folders: readonly string[], platform?: NodeJS.Platform) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'watched-')));
  mkdirSync(join(root, 'notes', 'by'), { recursive: true });
  let hints = 0;
  const watcher = new Watcher(
    root,
    () => {
      hints += 1;
    },
    platform,
  );
  onTestFinished(() => watcher.close());
  const files = new NodeFiles();
  const add = () => {
    const stats = folders.flatMap((folder) => {
      const stat = files.lstat(join(root, folder));
      return stat ? [[folder, { stat }] as const] : [];
    });
    return watcher.setFolders(new Map(stats));
  };
  return { root, watcher, add, hints: () => hints };
}

test('on Windows, the root alone is watched, with all folders below it', async () => {
  const { root, add, hints } = watched(['', 'notes', 'notes/by'], 'win32');
  expect(add()).toEqual(['']);
  expect(add()).toEqual([]);
  writeFileSync(join(root, 'notes/by/hand.md'), 'text');
  await expect.poll(hints).toBeGreaterThan(0);
});

test.runIf(process.platform === 'linux')('elsewhere, each folder is watched', async () => {
  const { root, watcher, add } = watched(['', 'notes', 'notes/by']);
  expect(add()).toEqual(['', 'notes', 'notes/by']);
  writeFileSync(join(root, 'notes/by/hand.md'), 'text');
  expect([...(await watcher.take(2)).paths]).toEqual(['notes/by/hand.md']);
});

test('a memory that takes the place of another one is watched', async () => {
  const { root, add, hints } = watched([''], 'win32');
  add();
  renameSync(root, `${root}-away`);
  mkdirSync(root);
  expect(add()).toEqual(['']);
  const before = hints();
  writeFileSync(join(root, 'new.md'), 'text');
  await expect.poll(hints).toBeGreaterThan(before);
});
