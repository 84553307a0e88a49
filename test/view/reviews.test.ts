import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

describe.skipIf(!opened)('the page of a review', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const repo = () => own().server.repo;
  const decide = (title: string) => ({ title, context: 'C', decision: `Do ${title}.` });
  const alike = 'Keep all new orders in a queue on disk.';
  const logged = () =>
    [
      ...repo()
        .read('.memory-bank/decisionLog.md')
        .matchAll(/^## (.*) - /gm),
    ].map(([, one]) => one);
  let agent: Awaited<ReturnType<typeof openMemory>>;
  const note = (key: string, value: string) =>
    agent.call('memory_write', { category: 'patterns', key, value });
  const waiting = async () => (await own().server.ask('GET', '/memory/reviews')).body.reviews;

  /** Opens the page of the only review. */
  async function visit(work: (page: Page) => Promise<void>): Promise<void> {
    const [{ branch }] = await waiting();
    const page = await own().context.newPage();
    await page.goto(`${own().server.url}/view/branches/${encodeURIComponent(branch)}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await work(page);
    await page.close();
  }

  /** Goes to a record by the key for the next one. */
  async function show(page: Page, name: string | RegExp) {
    const record = page.getByRole('region', { name });
    const first = page.locator('main section.change');
    await first.waitFor();
    for (let left = 9; left > 0 && (await record.count()) === 0; left--) {
      const before = await first.getAttribute('aria-label');
      await page.keyboard.press('j');
      await vi.waitFor(async () => {
        expect(await first.getAttribute('aria-label')).not.toBe(before);
      }, 30_000);
    }
    return record;
  }

  beforeAll(async () => {
    await own().memory.call('log_decision', decide('Before'));
    await own().memory.call('log_decision', { ...decide('Alike'), decision: alike });
    const config = repo().read('.memory-bank/config.yaml');
    repo().write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo().git('commit', '-qam', 'Require reviews');
    agent = await openMemory({ root: repo().root, agent: 'claude-code/2' });
    for (const title of ['One', 'Two', 'Three']) {
      const decision = title === 'Two' && { decision: `${alike} Do Two.` };
      await agent.call('log_decision', { ...decide(title), ...decision });
    }
    repo().write('retry.ts', 'export const retries = 3;\n');
    repo().git('add', 'retry.ts');
    repo().git('commit', '-qm', 'Add retries');
    await note('note', 'The first text, as in `retry.ts:1`.');
    await own().memory.call('log_decision', decide('Meanwhile'));
  });
  afterAll(async () => {
    await agent?.close();
    await own().close();
  });

  deep('confirms a record and one of its entries by buttons', async () => {
    const page = await own().context.newPage();
    await page.goto(`${own().server.url}/view/record/decisionLog.md`);
    const confirmations = page.getByRole('region', { name: 'Confirmations' });
    await confirmations.getByText('Its entries').click();
    await confirmations.getByRole('button', { name: /^Confirm Before/ }).click();
    await confirmations.locator('li', { hasText: 'confirmed' }).waitFor();
    await confirmations.getByRole('button', { name: 'Confirm this record' }).click();
    await confirmations.getByText('confirmed', { exact: false }).nth(2).waitFor();
    expect(repo().git('log', '-2', '--format=%s').trim().split('\n')).toEqual([
      'memory: confirm decisionLog.md',
      expect.stringMatching(/^memory: confirm decisionLog\.md#Before - /),
    ]);
    await page.close();
  });

  deep(
    'accepts one entry of a log by keys, undoes that, and keeps what the memory has learnt',
    () =>
      visit(async (page) => {
        await page.getByText('Proposed by claude-code/2').waitFor();
        await page.getByText('0 of 4 decided').waitFor();
        await page.getByRole('region', { name: /#One/ }).getByText('Do One.').waitFor();
        const two = await show(page, /#Two/);
        const alike = two.getByRole('complementary', { name: 'Nearly the same' });
        await alike.getByRole('link', { name: 'Alike' }).waitFor();
        await two.getByText(/Do Two\.$/).waitFor();
        expect(await two.getByText('Do One.').count()).toBe(0);
        await two.getByLabel('Comment').fill('As agreed');
        await two.getByRole('button', { name: 'Accept' }).click();
        await page.getByText('1 of 4 decided').waitFor();
        expect(logged()).toEqual(['Before', 'Alike', 'Meanwhile', 'Two']);
        const message = repo().git('log', '-1', '--format=%B');
        expect(message).toMatch(/^Memory-Agent: claude-code\/2$/m);
        expect(message).toMatch(/^Memory-Reviewed: [0-9a-f]{40,64}$/m);
        expect(message).toMatch(/^Memory-Comment: As agreed$/m);
        await page.getByRole('button', { name: 'Undo the last step' }).click();
        await page.getByText('0 of 4 decided').waitFor();
        expect(logged()).toEqual(['Before', 'Alike', 'Meanwhile']);
        for (const [done, title] of ['One', 'Two', 'Three'].entries()) {
          // The entry that comes next is wherever the last one was.
          for (let back = 0; back < 3; back++) await page.keyboard.press('k');
          await show(page, `#${title}`);
          await page.keyboard.press('a');
          await page.getByText(`${done + 1} of 4 decided`).waitFor();
        }
        expect(logged().sort()).toEqual(['Alike', 'Before', 'Meanwhile', 'One', 'Three', 'Two']);
      }),
  );

  deep('corrects a text before it is accepted', () =>
    visit(async (page) => {
      const record = await show(page, 'knowledge/patterns/note.md');
      await record.getByText('export const retries = 3;').waitFor();
      await record.getByRole('button', { name: 'Edit' }).click();
      const field = record.getByRole('textbox', { name: 'Text of' });
      await field.fill((await field.inputValue()).replace('The first text', 'A corrected text'));
      await record.getByRole('button', { name: 'Save in the review' }).click();
      await page.getByText('It still waits for you to accept it').waitFor();
      await record.getByText('A corrected text').first().waitFor();
      expect(repo().git('ls-files', '.memory-bank/knowledge')).toBe('');
    }),
  );

  deep('does not replace the text that a person reads by another one of the agent', () =>
    visit(async (page) => {
      const record = await show(page, 'knowledge/patterns/note.md');
      await record.waitFor();
      await note('note', 'The second text.');
      await page.getByText('The review has changed meanwhile.').waitFor();
      await page.keyboard.press('a');
      expect((await waiting())[0].changes).toHaveLength(1);
      await page.getByRole('button', { name: 'Show it as it is now' }).click();
      await record.getByText('The second text.').first().waitFor();
    }),
  );

  deep('does not accept a text that it does not show, and says so until the next step', () =>
    visit(async (page) => {
      const record = await show(page, 'knowledge/patterns/note.md');
      await record.waitFor();
      // As if the event of the change came late: what the page asks for again gets no answer.
      await page.route('**/memory/compare*', () => undefined);
      await page.route('**/memory/reviews', () => undefined);
      await note('note', 'The third text.');
      await record.getByRole('button', { name: 'Accept' }).click();
      await page.getByText('has got another change meanwhile').waitFor();
      expect(repo().git('ls-files', '.memory-bank/knowledge')).toBe('');
    }),
  );

  deep('keeps the refusal when another window has decided the record', async () => {
    await note('other', 'Another note.');
    await visit(async (first) => {
      await visit(async (second) => {
        const dropped = await show(first, 'patterns/other.md');
        const accepted = await show(second, 'patterns/other.md');
        await second.route('**/memory/reviews', () => undefined);
        await dropped.getByRole('button', { name: 'Drop' }).click();
        await first.getByText('1 of 2 decided').waitFor();
        await accepted.getByRole('button', { name: 'Accept' }).click();
        await second.getByRole('alert').getByText('another change meanwhile').waitFor();
      });
    });
    expect(repo().git('ls-files', '.memory-bank/knowledge')).toBe('');
  });

  deep('shows both versions of a field in conflict, and accepts the chosen one', async () => {
    const path = '.memory-bank/knowledge/patterns/note.md';
    const [{ branch }] = await waiting();
    const text = repo().git('show', `${branch}:${path}`);
    repo().write(path, text.replace('The third text.', 'The text of a person.'));
    repo().git('add', path);
    repo().git('commit', '-qm', 'Write a note by hand');
    await visit(async (page) => {
      const record = await show(page, 'knowledge/patterns/note.md');
      await record.getByRole('button', { name: 'Accept' }).click();
      await record.getByText('The text of a person.').first().waitFor();
      expect(repo().read(path)).toContain('The text of a person.');
      await record.getByText('knowledge/patterns/note.md#value').waitFor();
      await record.getByLabel('The review', { exact: true }).check();
      // The choice is about another text than the memory now has.
      repo().write(path, text.replace('The third text.', 'Another text of a person.'));
      repo().git('commit', '-qam', 'Write it again');
      await record.getByRole('button', { name: 'Accept' }).click();
      await page.getByText('has changed since it was decided').waitFor();
      expect(repo().read(path)).toContain('Another text of a person.');
      await record.getByRole('button', { name: 'Accept' }).click();
      await record.getByText('Another text of a person.').first().waitFor();
      await record.getByLabel('The review', { exact: true }).check();
      await record.getByRole('button', { name: 'Accept' }).click();
      await page.getByText('It has nothing new.').waitFor();
    });
    expect(repo().read(path)).toContain('The third text.');
    expect(repo().status()).toEqual([]);
  });
});
