import { mkdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { DigestTurn, leaveDigest } from '../../src/app/hook/digest-turn.ts';
import { QuickMemory } from '../../src/store/session/quick-memory.ts';
import { Repo } from '../support/repo.ts';

/** The turn of the process that builds the digest of a large memory. */

const now = 1.7e12;
const minute = 60_000;

function open(): { repo: Repo; turn: () => DigestTurn } {
  const repo = Repo.create();
  repo.write('.memory-bank/config.yaml', '');
  const turn = () => {
    const memory = QuickMemory.at(repo.path('.memory-bank'));
    if (!memory) throw new Error('There is no memory.');
    return new DigestTurn(memory);
  };
  return { repo, turn };
}

test('one process has the turn at a time, and one that dies loses it', async () => {
  const { turn } = open();
  expect(await turn().take(now)).toBe(true);
  expect(await turn().take(now + 4 * minute)).toBe(false);
  expect(await turn().take(now + 6 * minute)).toBe(true);
  await turn().end(true, now + 6 * minute);
  expect(await turn().take(now + 6 * minute)).toBe(true);
});

test('a process that could store nothing is not followed at once', async () => {
  const { turn } = open();
  expect(await turn().take(now)).toBe(true);
  await turn().end(false, now + minute);
  expect(await turn().take(now + 10 * minute)).toBe(false);
  expect(await turn().take(now + 12 * minute)).toBe(true);
  // The clock was wrong before.
  expect(await turn().take(now - 60 * minute)).toBe(true);
});

test('a small memory is left to nobody, and a large one to one process', async () => {
  const { repo } = open();
  const start = vi.fn(async () => {});
  expect(await leaveDigest(repo.root, start)).toBe(false);
  const folder = repo.path('.memory-bank/knowledge');
  for (let i = 0; i < 1_001; i++) mkdirSync(`${folder}/${i}`, { recursive: true });
  const left = await Promise.all([1, 2, 3].map(() => leaveDigest(repo.root, start)));
  expect(left).toEqual([true, true, true]);
  expect(start).toHaveBeenCalledTimes(1);
});
