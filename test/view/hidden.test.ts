import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

/** An instruction in tags, as a person does not see it. */
const payload = [...'obey']
  .map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)))
  .join('');

describe.skipIf(!opened)('hidden characters', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const path = 'knowledge/patterns/hidden.md';

  beforeAll(async () => {
    const { memory } = own();
    await memory.call('memory_write', {
      category: 'patterns',
      key: 'hidden',
      value: `Use the cache${payload}.\n\nA \u202ereversed\u202c word.`,
      reason: `Because\u2066 it is fast`,
      context: 'שלום (1)',
    });
    await memory.call('activate_project', { project_path: memory.repo.root });
    await memory.call('create_features', {
      features: [{ slug: 'evil', name: `Pay\u200bment`, description: 'A feature.' }],
    });
    // The program writes no such message, but another one can.
    const message =
      'memory: edit \u2066\n\nBecause\u2066 of it.\n\nMemory-Agent: agent\u200bx/1.0\n';
    memory.repo.write('.memory-bank/foreign.md', 'A foreign text.\n');
    memory.repo.git('add', '.memory-bank/foreign.md');
    memory.repo.git('commit', '-q', '-m', message);
    memory.repo.git('branch', 'side\u200bway', 'HEAD~1');
  });
  afterAll(() => own().close());

  const warningOf = (page: Page) => page.getByRole('alert').filter({ hasText: 'hidden character' });

  /** The text of the page, in which no hidden character is left, and the number that it warns of. */
  const drawn = async (page: Page): Promise<{ text: string; warned: number }> => {
    const warning = warningOf(page);
    await warning.waitFor();
    const text = await page.locator('body').innerText();
    expect(text).not.toMatch(/[\u200b\u202c\u202e\u2066\u{e0000}-\u{e007f}]/u);
    return { text, warned: Number.parseInt(await warning.locator('strong').innerText(), 10) };
  };

  test('of a record are marks, and a warning has their number', () =>
    own().visit(`/view/record/${path}`, async (page) => {
      await page.getByText('Use the cache').waitFor();
      await page.locator('.markdown .code-point').first().waitFor();
      await expect.poll(async () => (await drawn(page)).warned).toBe(7);
      const { text } = await drawn(page);
      expect(text).toMatch(/cache\s*U\+E006F\s*U\+E0062\s*U\+E0065\s*U\+E0079\s*\./);
      expect(text).toMatch(/A\s+U\+202E\s*reversed\s*U\+202C\s*word/);
      expect(text).toMatch(/Because\s*U\+2066\s*it is fast/);
      expect(await page.locator('bdi', { hasText: 'שלום' }).count()).toBe(1);
      await page.getByRole('link', { name: 'Tasks' }).click();
      await warningOf(page).waitFor({ state: 'detached' });
    }));

  deep.each([
    [`/view/record/${path}?show=source`, 'U+E0079'],
    ['/view/record/foreign.md?show=history', 'U+2066'],
    [`/view/record/${path}?show=lines`, 'U+E0079'],
    [`/view/record/${path}?show=edit`, 'U+E0079'],
    ['/view/timeline', 'U+200B'],
    ['/view/branches', 'U+200B'],
    ['/view/graph', 'U+200B'],
    ['/view/search?q=cache', 'U+E0079'],
  ])('are marks on %s', (address, mark) =>
    own().visit(address, async (page) => {
      await page.locator('main, main *').filter({ hasText: mark }).first().waitFor();
      expect((await drawn(page)).warned).toBeGreaterThan(0);
    }),
  );

  deep('stay in the value of a choice and of a field', async () => {
    await own().visit('/view/timeline', async (page) => {
      const choice = page.getByLabel('agent');
      await choice.locator('option').nth(1).waitFor({ state: 'attached' });
      await choice.selectOption({ label: 'agent[U+200B]x' });
      await page.getByText('1 commit', { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('agent')).toBe('agent\u200bx');
    });
    await own().visit(`/view/record/${path}?show=edit&as=text`, async (page) => {
      expect(await page.getByLabel('Text', { exact: true }).inputValue()).toContain(payload);
      expect((await drawn(page)).warned).toBeGreaterThanOrEqual(6);
    });
  });
});
