import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { findViolations } from '../support/axe.ts';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

describe.skipIf(!opened)('the board', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const repo = () => own().server.repo;
  const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const card = (page: Page, state: string, text: string) =>
    column(page, state).getByRole('listitem').filter({ hasText: text });
  const subject = () => repo().git('log', '-1', '--format=%s').trim();
  const objective = async (slug: string, name: string, texts: readonly string[]) => {
    const { memory } = own();
    await memory.call('create_objective', { slug, name, status: 'in_progress' });
    const tasks = texts.map((text) => ({ text }));
    const created = await memory.call('create_tasks', { objective_slug: slug, tasks });
    return JSON.stringify(created).match(/(?<="id":")[^"]+/g) ?? [];
  };
  let ids: readonly string[] = [];

  beforeAll(async () => {
    const { memory } = own();
    ids = await objective('pay-once', 'Pay only once', ['Send a key', 'Store the answer']);
    await objective('search', 'Search in orders', ['Index the orders']);
    await memory.call('create_tickets', { tickets: [{ key: 'SHOP-17' }] });
    await memory.call('link_objective_to_tickets', {
      objective_slug: 'pay-once',
      ticket_keys: ['SHOP-17'],
    });
  });
  afterAll(() => own().close());

  deep('moves a task by a button, a key and a drag, each as a commit of the tool', () =>
    own().visit('/view/tasks', async (page) => {
      const move = page.getByRole('button', { name: 'Move “Send a key” to in progress' });
      await move.click();
      await page.getByText('“Send a key” is in progress now.').waitFor();
      const link = card(page, 'in progress', 'Send a key').getByRole('link', { name: /^Send/ });
      await expect.poll(() => link.evaluate((one) => one.matches(':focus'))).toBe(true);
      expect(subject()).toBe('memory: update status of task "Send a key"');
      const message = repo().git('log', '-1', '--format=%B');
      expect(message).toMatch(/^Memory-Tool: update_task$/m);
      expect(message).toMatch(/^Memory-Agent: memory-bank-view\//m);
      await page.keyboard.press('Shift+ArrowRight');
      await card(page, 'completed', 'Send a key').waitFor();
      await card(page, 'pending', 'Store the answer').dragTo(column(page, 'in progress'));
      await card(page, 'in progress', 'Store the answer').waitFor();
      expect(await findViolations(page)).toEqual([]);
    }),
  );

  deep('finds tasks by their ticket, shows names, and hides what is completed', () =>
    own().visit('/view/tasks', async (page) => {
      const find = page.getByLabel('Text or ticket');
      await card(page, 'pending', 'Index the orders').waitFor();
      await find.fill('shop-17');
      await card(page, 'pending', 'Index the orders').waitFor({ state: 'detached' });
      const shown = page.getByRole('listitem').filter({ hasText: 'Store the answer' });
      await shown.getByRole('link', { name: 'Pay only once' }).waitFor();
      expect(await shown.getByText('pay-once').count()).toBe(0);
      await page.getByLabel('Hide completed').check();
      await column(page, 'completed').waitFor({ state: 'detached' });
      await find.fill('');
      await page.getByLabel('Objective').selectOption('Search in orders');
      await shown.waitFor({ state: 'detached' });
      await card(page, 'pending', 'Index the orders').waitFor();
      await page.reload();
      expect(await page.getByLabel('Hide completed').isChecked()).toBe(true);
    }),
  );

  deep('adds a task to the objective that is shown, and keeps a text that is refused', async () => {
    const page = await own().page('/view/tasks?objective=search');
    const field = page.getByLabel('New task');
    await field.fill('Rank the orders');
    await page.route('**/memory/tasks/create', (route) => route.abort(), { times: 1 });
    await field.press('Enter');
    await page.getByRole('alert').getByText('The server does not answer').first().waitFor();
    expect(await field.inputValue()).toBe('Rank the orders');
    await field.press('Enter');
    const added = card(page, 'pending', 'Rank the orders');
    await added.getByRole('link', { name: 'Search in orders' }).waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
    expect(subject()).toBe('memory: create task "Rank the orders" of objective "search"');
    await page.close();
  });

  deep('shows a move and a claim of somebody else without losing what is typed', () =>
    own().visit('/view/tasks', async (page) => {
      const find = page.getByLabel('Text or ticket');
      await page.getByLabel('New task').fill('Half a thought');
      await find.pressSequentially('sto');
      const agent = await openMemory({ root: repo().root, agent: 'fast-coder/2.0' });
      await agent.call('claim_task', { id: ids[1] ?? '' });
      await page.getByText('claimed by fast-coder/2.0').waitFor();
      await agent.call('update_task', { id: ids[1] ?? '', status: 'completed' });
      const moved = card(page, 'completed', 'Store the answer');
      await moved.waitFor();
      await page.keyboard.type('re');
      expect(await find.inputValue()).toBe('store');
      expect(await page.getByLabel('New task').inputValue()).toBe('Half a thought');
      // The claim of another session ends only after a question.
      await moved.getByRole('button', { name: 'Release “Store the answer”' }).click();
      await moved.getByRole('button', { name: 'End the claim of fast-coder/2.0' }).click();
      await page.getByText('“Store the answer” is free again.').waitFor();
      await moved.getByRole('button', { name: 'Claim “Store the answer”' }).click();
      await moved.getByText('claimed by Ada Lovelace').waitFor();
      await moved.getByRole('button', { name: 'Release' }).click();
      await moved.getByText('claimed by').waitFor({ state: 'detached' });
      await agent.close();
    }),
  );

  deep('refuses a move of a task that another window has moved', async () => {
    const [first, second] = [await own().page('/view/tasks'), await own().page('/view/tasks')];
    await card(second, 'pending', 'Index the orders').waitFor();
    // As if the event of the change came late.
    await second.route('**/memory/board*', () => undefined);
    await first.getByRole('button', { name: 'Move “Index the orders” to in progress' }).click();
    await card(first, 'in progress', 'Index the orders').waitFor();
    const before = repo().git('rev-parse', 'HEAD');
    await second.getByRole('button', { name: 'Move “Index the orders” to in progress' }).click();
    await second.getByRole('alert').getByText('The task is in_progress now').waitFor();
    expect(repo().git('rev-parse', 'HEAD')).toBe(before);
    await first.close();
    await second.close();
  });

  deep('says so where no server may write, and where the server is gone', async () => {
    const page = await own().page('/view/tasks');
    const move = page.getByRole('button', { name: 'Move “Index the orders” to completed' });
    await move.waitFor();
    await own().context.setOffline(true);
    await move.click();
    await page.getByRole('alert').getByText('The server does not answer').first().waitFor();
    await own().context.setOffline(false);
    await page.reload();
    const config = repo().read('.memory-bank/config.yaml');
    const later = config.replace(/^format: \d+/m, 'format: 99\nrequires: 9.1.0');
    repo().write('.memory-bank/config.yaml', later);
    await move.click();
    await page.getByRole('alert').getByText('9.1.0').waitFor();
    await card(page, 'in progress', 'Index the orders').waitFor();
    repo().write('.memory-bank/config.yaml', config);
    await page.close();
  });

  deep('has no steps in a past state', () =>
    own().visit('/view/tasks?at=HEAD', async (page) => {
      await card(page, 'in progress', 'Index the orders').waitFor();
      expect(await column(page, 'in progress').getByRole('button').count()).toBe(0);
    }),
  );
});
