import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { LayoutMemory } from '../support/layout-memory.ts';

deep('a session note is left out of the active context alone, and comes back', async () => {
  const [single, files] = [await LayoutMemory.in('log'), await LayoutMemory.in('entries')];
  const both = async (tool: string, args: object) => {
    for (const memory of [single, files])
      expect(await memory.call(tool, args)).toContain('success');
  };
  const track = (description: string, updateActiveContext = true) =>
    both('track_progress', { action: 'Fix', description, updateActiveContext });
  /** Compares both memories; returns the numbers of the notes. */
  const notes = async () => {
    const text = await files.content('activeContext.md');
    // A log that has lost all its notes keeps a blank line.
    expect(text.trim()).toBe((await single.content('activeContext.md')).trim());
    expect(await files.call('Progress')).toBe(await single.call('Progress'));
    return [...text.matchAll(/Fix: (\d+)/g)].map(([, n]) => Number(n));
  };
  /** Writes the active context without some notes. */
  const without = async (pattern: RegExp) => {
    const content = await single.content('activeContext.md');
    const filename = 'activeContext.md';
    await both('write_memory_bank_file', { filename, content: content.replaceAll(pattern, '') });
    return content;
  };
  for (let n = 1; n <= 4; n++) await track(String(n));
  await track('5', false);
  expect(await notes()).toEqual([4, 3, 2, 1]);
  const before = await without(/^- .*Fix: 3\n/gm);
  expect(await notes()).toEqual([4, 2, 1]);
  await files.convert('log');
  expect(await files.convert('entries')).toBeDefined();
  expect(await notes()).toEqual([4, 2, 1]);
  await both('write_memory_bank_file', { filename: 'activeContext.md', content: before });
  expect(await notes()).toEqual([4, 3, 2, 1]);
  for (let n = 6; n <= 25; n++) await track(String(n));
  expect(await notes()).toHaveLength(20);
  await without(/^- .*Fix: (?:1\d|2[0-3])\n/gm);
  expect(await notes()).toEqual([25, 24, 9, 8, 7, 6]);
  await without(/^- .*Fix: \d+\n/gm);
  await track('26');
  expect(await notes()).toEqual([26]);
  const ends = () => files.repo.git('grep', '-h', 'notes end above', 'HEAD').trim();
  for (const last of ['25', '24']) {
    expect(ends()).toContain(`Fix: ${last} <!--`);
    const gone = { record: 'progress.md', section: `Fix: ${last}`, reason: 'Wrong' };
    await both('forget_memory', gone);
    expect(await notes()).toEqual([26]);
  }
  await single.close();
  await files.close();
});
