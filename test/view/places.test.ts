import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

describe.skipIf(!opened)('the place of a person in the window', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const log = '/view/record/decisionLog.md';

  beforeAll(async () => {
    const { memory } = own();
    memory.repo.write('queue.ts', 'export const queue = 1;\n');
    memory.repo.git('add', 'queue.ts');
    memory.repo.git('commit', '-qm', 'Add a queue');
    const context = 'Because of it. '.repeat(400);
    for (const title of ['Use a queue', 'Use a stream', 'Use a table', 'Use a topic']) {
      const evidence = title === 'Use a table' ? ['queue.ts:1'] : [];
      await memory.call('log_decision', { title, context, decision: 'Take it.', evidence });
    }
    await memory.call('log_decision', {
      title: 'Use a list',
      context: 'It is short.',
      decision: 'Take it.',
      supersedes: ['Use a stream'],
    });
    await memory.write('to-the-log', 'See [the table](../../decisionLog.md#use-a-table).');
  });
  afterAll(() => own().close());

  const scrolled = (page: Page): Promise<number> => page.evaluate('scrollY');
  const focused = (page: Page): Promise<string> =>
    page.evaluate('document.activeElement.innerText');

  deep('is the section that a link names, in a new tab as well', async () => {
    await own().visit(`${log}#use-a-table`, async (page) => {
      await expect.poll(() => focused(page)).toMatch(/^Use a table/);
      expect(await scrolled(page)).toBeGreaterThan(1000);
    });
    await own().visit('/view/record/knowledge/patterns/to-the-log.md', async (page) => {
      await page.getByRole('link', { name: 'the table' }).click();
      await expect.poll(() => focused(page)).toMatch(/^Use a table/);
      const link = page.getByRole('link', { name: /^Link to the section Use a topic/ });
      expect(await link.getAttribute('href')).toMatch(
        /^\/view\/record\/decisionLog\.md#use-a-topic/,
      );
      await link.click();
      await expect.poll(() => focused(page)).toMatch(/^Use a topic/);
    });
  });

  deep('is the decision that supersedes another one, in a tab of its own', () =>
    own().visit(log, async (page) => {
      const text = await page.locator('.markdown').innerText();
      expect(text).toContain('queue.ts:1');
      expect(text).not.toMatch(/<!--|[0-9a-f]{16}/);
      const link = page.getByRole('link', { name: /^Use a list/ });
      const address = await link.getAttribute('href');
      await own().visit(address ?? '', async (other) => {
        await expect.poll(() => focused(other)).toMatch(/^Use a list/);
      });
    }),
  );

  deep('is the heading of a page that a link leads to, when its title is there', () =>
    own().visit('/view/records', async (page) => {
      await page.route('**/memory/record/**', async (route) => {
        await new Promise((done) => setTimeout(done, 100));
        await route.continue();
      });
      const said: string[] = [];
      await page.exposeFunction('say', (text: string) => said.push(text));
      await page.evaluate(
        "addEventListener('focusin', ({ target }) => target.tagName === 'H1' && say(target.innerText))",
      );
      await page.locator('a[href="/view/record/knowledge/patterns/to-the-log.md"]').first().click();
      await expect.poll(() => said).toEqual(['to-the-log']);
      await page.getByRole('link', { name: 'Tasks' }).click();
      await expect.poll(() => focused(page)).toBe('Tasks');
    }),
  );

  deep('is the heading of a page whose link is followed just after a filter was chosen', () =>
    own().visit('/view/timeline', async (page) => {
      await page.getByLabel('toolset').waitFor();
      // The link is followed when the page with the filter is drawn, and not yet painted.
      await page.evaluate(`(async () => {
        const filter = document.querySelector('main select');
        filter.dispatchEvent(new Event('change', { bubbles: true }));
        for (let turns = 0; turns < 20; turns++) await undefined;
        document.querySelector('header nav a[href$=tasks]').click();
      })()`);
      await expect.poll(() => focused(page)).toBe('Tasks');
    }),
  );

  deep('is found again by Back, by Forward and by a reload', () =>
    own().visit(log, async (page) => {
      await page.getByRole('heading', { name: /^Use a topic/ }).scrollIntoViewIfNeeded();
      const before = await scrolled(page);
      expect(before).toBeGreaterThan(1000);
      await page.evaluate("document.querySelector('header nav a[href$=tasks]').click()");
      await expect.poll(() => focused(page)).toBe('Tasks');
      expect(await scrolled(page)).toBe(0);
      await page.goBack();
      await expect.poll(() => scrolled(page)).toBe(before);
      expect(await focused(page)).toBe('Tasks');
      expect(await page.evaluate('document.activeElement.tagName')).toBe('A');
      await page.reload();
      await expect.poll(() => scrolled(page)).toBe(before);
      await page.goForward();
      await expect.poll(() => scrolled(page)).toBe(0);
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    }),
  );

  deep('is the content for the link that skips the navigation', () =>
    own().visit(log, async (page) => {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
      expect(page.url()).not.toContain('#');
    }),
  );

  deep('is no state that does not exist', async () => {
    const page = await own().page('/view/?at=nosuch');
    await page.getByRole('status').getByText('There is no state nosuch').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('You see');
    await page.getByRole('link', { name: 'Show the present' }).click();
    await page.goto(`${own().server.url}/view/?at=HEAD~1`);
    await page.getByRole('status').getByText('You see the memory as of HEAD~1').waitFor();
    await page.close();
  });
});
