import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;
beforeEach(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [memoryFile]);
});
afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function put(...paths: string[]): Promise<void> {
  return opened.call.store.change({ subject: 'write' }, async (transaction) => {
    for (const path of paths) await transaction.put(memoryFile, { path, content: path });
  });
}

/** Paths that some file systems do not tell apart. */
const twins = [
  ['notes.md', 'Notes.md'],
  ['caf\u00e9.md', 'cafe\u0301.md'],
  ['cafe\u0301.md', 'caf\u00e9.md'],
  ['caf\u00e9.md', 'CAFE\u0301.md'],
  ['caf\u00e9/a.md', 'cafe\u0301/a.md'],
] as const;

describe.each(twins)('%j and %j', (one, other) => {
  test('are not kept next to each other, by a write or a restoration', async () => {
    const refused = expect.objectContaining({ code: 'already_exists', data: { path: one } });
    await put(one);
    const first = repo.git('rev-parse', 'HEAD').trim();
    await expect(put(other)).rejects.toThrow(refused);
    await opened.call.store.change({ subject: 'rename' }, async (transaction) => {
      await transaction.remove(memoryFile, one);
      await transaction.put(memoryFile, { path: other, content: 'moved' });
    });
    const error = await opened.call.history.restore(one, first).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(MemoryError);
    expect(error).toMatchObject({ code: 'already_exists', data: { path: other } });
    expect(repo.read(`.memory-bank/${other}`)).toBe('moved');
    // Restoring everything leaves only one of them.
    await opened.call.history.restore(undefined, first);
    expect(repo.read(`.memory-bank/${one}`)).toBe(one);
    expect(repo.status()).toEqual([]);
  });

  test('are not written by one change', async () => {
    await expect(put(one, other)).rejects.toMatchObject({ code: 'already_exists' });
  });
});
