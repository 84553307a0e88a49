import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NodeFiles } from '../../../src/git/disk/file-layer.ts';
import { Watcher } from '../../../src/store/records/watcher.ts';
import { notOnWindows } from '../../support/windows.ts';

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

const returning = notOnWindows('Wine 8 does not tell that a watched folder is removed');

returning('a memory that was removed is watched again when it is back', async () => {
  const { root, add, hints } = watched([''], 'win32');
  add();
  rmSync(root, { recursive: true });
  await expect.poll(hints).toBeGreaterThan(0);
  mkdirSync(root);
  await expect.poll(add).toEqual(['']);
  const before = hints();
  writeFileSync(join(root, 'new.md'), 'text');
  await expect.poll(hints).toBeGreaterThan(before);
});
