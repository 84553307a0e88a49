import { afterAll, describe, expect } from 'vitest';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

describe.skipIf(!opened)('a difference in the window', () => {
  afterAll(() => opened?.close());

  deep('has no fingerprint, and says that evidence was verified again', async () => {
    if (!opened) return;
    const { memory } = opened;
    memory.repo.write('queue.ts', 'export const queue = 1;\n');
    memory.repo.git('add', 'queue.ts');
    memory.repo.git('commit', '-qm', 'Add a queue');
    const evidence = ['queue.ts:1'];
    const decision = { title: 'Use a queue', context: 'Load.', decision: 'Take it.', evidence };
    await memory.call('log_decision', decision);
    memory.repo.write('queue.ts', 'export const queue = 2;\n');
    memory.repo.git('commit', '-qam', 'Change the queue');
    await memory.call('verify_memory', { path: 'decisionLog.md' });
    await opened.visit('/view/record/decisionLog.md?show=history', async (page) => {
      const drawn = page.locator('.differences');
      await drawn.getByText('Evidence verified again: queue.ts:1').waitFor();
      expect(await drawn.innerText()).not.toMatch(/<!--|[0-9a-f]{16}/);
    });
  });
});
