import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
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

  beforeAll(async () => {
    await own().memory.call('log_decision', decide('Before'));
    const config = repo().read('.memory-bank/config.yaml');
    repo().write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo().git('commit', '-qam', 'Require reviews');
    agent = await openMemory({ root: repo().root, agent: 'claude-code/2' });
    for (const title of ['One', 'Two', 'Three']) await agent.call('log_decision', decide(title));
    await note('note', 'The first text.');
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

  deep('accepts one decision of a log, and keeps what the memory has learnt since', () =>
    visit(async (page) => {
      const log = page.locator('.change', { hasText: 'decisionLog.md' });
      await log.getByRole('button', { name: /^Accept Two/ }).click();
      await log.getByRole('button', { name: 'as a new commit' }).click();
      await log.getByRole('button', { name: /^Accept Two/ }).waitFor({ state: 'detached' });
      expect(logged()).toEqual(['Before', 'Meanwhile', 'Two']);
      await log.getByRole('button', { name: 'Accept', exact: true }).click();
      await log.getByRole('button', { name: 'as a new commit' }).click();
      await log.waitFor({ state: 'detached' });
      expect(logged()).toEqual(['Before', 'Meanwhile', 'One', 'Two', 'Three']);
      const message = repo().git('log', '-1', '--format=%B');
      expect(message).toMatch(/^Memory-Agent: claude-code\/2$/m);
      expect(message).toMatch(/^Memory-Reviewed: [0-9a-f]{40,64}$/m);
    }),
  );

  deep('disarms its button when the agent changes the text', () =>
    visit(async (page) => {
      const record = page.locator('.change', { hasText: 'knowledge/patterns/note.md' });
      await record.getByRole('button', { name: 'Accept', exact: true }).click();
      const armed = record.getByRole('button', { name: 'as a new commit' });
      await armed.waitFor();
      await note('note', 'The second text.');
      await armed.waitFor({ state: 'detached' });
      await record.getByText('It has changed meanwhile').waitFor();
      expect((await waiting())[0].changes).toHaveLength(1);
    }),
  );

  deep('does not accept a text that it does not show', () =>
    visit(async (page) => {
      const record = page.locator('.change', { hasText: 'knowledge/patterns/note.md' });
      // As if the event of the change came late: what the page asks for again gets no answer.
      await page.route('**/memory/compare*', () => undefined);
      await page.route('**/memory/reviews', () => undefined);
      await record.getByRole('button', { name: 'Accept', exact: true }).click();
      const [{ name, tip }] = await waiting();
      await note('note', 'The third text.');
      const sent = { name, seen: tip, records: ['knowledge/patterns/note.md'] };
      const { status, body } = await own().server.ask('POST', '/memory/reviews/accept', {
        body: sent,
      });
      expect([status, body.error.message]).toEqual([400, expect.stringContaining('meanwhile')]);
      await record.getByRole('button', { name: 'as a new commit' }).click();
      await record.getByText('has got another change meanwhile').waitFor();
      expect(repo().git('ls-files', '.memory-bank/knowledge')).toBe('');
    }),
  );

  deep('shows both versions of a field in conflict, and accepts the chosen one', async () => {
    const path = '.memory-bank/knowledge/patterns/note.md';
    const [{ branch }] = await waiting();
    const text = repo().git('show', `${branch}:${path}`);
    repo().write(path, text.replace('The third text.', 'The text of a person.'));
    repo().git('add', path);
    repo().git('commit', '-qm', 'Write a note by hand');
    await visit(async (page) => {
      const record = page.locator('.change', { hasText: 'knowledge/patterns/note.md' });
      await record.getByRole('button', { name: 'Accept', exact: true }).click();
      await record.getByRole('button', { name: 'as a new commit' }).click();
      await record.getByText('The text of a person.').first().waitFor();
      expect(repo().read(path)).toContain('The text of a person.');
      await record.getByText('knowledge/patterns/note.md#value').waitFor();
      await record.getByLabel('The review', { exact: true }).check();
      // The choice is about another text than the memory now has.
      repo().write(path, text.replace('The third text.', 'Another text of a person.'));
      repo().git('commit', '-qam', 'Write it again');
      await record.getByRole('button', { name: 'Accept', exact: true }).click();
      await record.getByRole('button', { name: 'as a new commit' }).click();
      await record.getByText('has changed since it was decided').waitFor();
      expect(repo().read(path)).toContain('Another text of a person.');
      await record.getByRole('button', { name: 'Accept', exact: true }).click();
      await record.getByRole('button', { name: 'as a new commit' }).click();
      await record.getByText('Another text of a person.').first().waitFor();
      await record.getByLabel('The review', { exact: true }).check();
      await record.getByRole('button', { name: 'Accept', exact: true }).click();
      await record.getByRole('button', { name: 'as a new commit' }).click();
      await page.getByText('It has nothing new.').waitFor();
    });
    expect(repo().read(path)).toContain('The third text.');
    expect(repo().status()).toEqual([]);
  });
});
