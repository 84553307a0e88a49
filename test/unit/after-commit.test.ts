import { expect, test } from 'vitest';
import { afterCommit } from '../../src/core/memory/after-commit.ts';
import { linkedTo } from '../../src/core/memory/supersede.ts';
import { MemoryError } from '../../src/core/values/error.ts';

const fails = async () => {
  throw new MemoryError('cancelled', 'The caller cancelled the call.');
};

test('an error after a commit is a note, and not a failed change', async () => {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  expect(await afterCommit({ note }, async () => 1, 2)).toBe(1);
  expect(notes).toEqual([]);
  expect(await afterCommit({ note }, fails, 2)).toBe(2);
  expect(await linkedTo({ note, history: { evidence: fails } }, ['a.md'])).toEqual([]);
  expect(notes).toEqual(
    Array(2).fill(expect.stringMatching(/^The change is committed.*cancelled/)),
  );
  const defect = async () => expect.unreachable();
  await expect(afterCommit({ note }, defect, 2)).rejects.toThrow();
});
