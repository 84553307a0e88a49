import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** The file system in memory of Linux, and its type by statfs(2). */
const inMemory = { path: '/dev/shm', type: 0x1021994 };
/** The room in bytes that it must have for the files of a run, and that must be left in memory next to them. */
const room = 2 ** 32;

/**
 * Gives a run of the tests a temporary folder of its own, and removes it after the last test.
 *
 * A test and the programs that it starts create their folders there, so that a test that fails
 * leaves nothing behind either. They create and remove so many files that the short run has the folder in
 * memory; the full run has it on the disk that a user has.
 */
export default function setUp({ name }: TestProject): () => void {
  const fast = newFolderInMemory();
  const folder = name === 'short' && fast ? fast : newFolder(tmpdir());
  // Some tests start a program as another user.
  chmodSync(folder, 0o1777);
  for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder;
  // For the tests with thousands of repositories.
  process.env.TEST_FAST_FOLDER = fast ?? folder;
  return () => {
    remove(folder);
    if (fast !== undefined) remove(fast);
  };
}

/** @returns undefined if the user has chosen another folder, or memory is short or runs no programs. */
function newFolderInMemory(): string | undefined {
  if (process.env.TMPDIR || process.platform !== 'linux') return undefined;
  if (process.availableMemory() < 2 * room) return undefined;
  let folder: string | undefined;
  try {
    const { type, bavail, bsize } = statfsSync(inMemory.path);
    if (type !== inMemory.type || bavail * bsize < room) return undefined;
    folder = newFolder(inMemory.path);
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    rmSync(program);
    return folder;
  } catch {
    if (folder !== undefined) remove(folder);
    return undefined;
  }
}

function newFolder(parent: string): string {
  return mkdtempSync(join(parent, 'memory-bank-test-'));
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
