import { readFileSync, writeFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

const guide = readFileSync('docs/view.md', 'utf8');

/** A person who begins on Home and does one job; each click, key and typed text is a step. */
class Visitor {
  readonly page: Page;
  steps = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.steps += 1;
    await target.click();
  }

  async press(key: string): Promise<void> {
    this.steps += 1;
    await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    this.steps += 1;
    await this.page.keyboard.type(text);
  }
}

describe.skipIf(!opened)('the jobs of a person in the window', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const repo = () => own().server.repo;
  const subject = () => repo().git('log', '-1', '--format=%s').trim();
  const decide = (title: string, decision: string) => ({ title, context: 'It came up.', decision });

  beforeAll(async () => {
    const { memory } = own();
    const commit = (text: string, message: string) => {
      writeFileSync(repo().path('retry.ts'), text);
      repo().git('add', 'retry.ts');
      repo().git('commit', '-qm', message);
    };
    commit('export const retries = 3;\n', 'Add retries');
    await memory.write('retries', 'We try three times: `retry.ts:1`.');
    await memory.write('indent', 'We indent by tabs.');
    await memory.write('indent', 'We indent by spaces.');
    await memory.call(
      'log_decision',
      decide('Use an idempotency key', 'Each payment sends the number of its order as its key.'),
    );
    await memory.call('create_objective', { slug: 'pay', name: 'Pay once', status: 'in_progress' });
    await memory.call('create_tasks', { objective_slug: 'pay', tasks: [{ text: 'Send a key' }] });
    commit('export const attempts = 7;\n', 'Count attempts');
    repo().git('branch', 'idea');
    repo().checkout('idea');
    await memory.write('ideas', 'An idea of another branch.');
    repo().checkout('main');
    const config = repo().read('.memory-bank/config.yaml');
    repo().write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo().git('commit', '-qam', 'Require reviews');
    const agent = await openMemory({ root: repo().root, agent: 'fast-coder/2.0' });
    for (const title of ['One', 'Two', 'Three']) {
      await agent.call('log_decision', decide(title, `Do ${title}.`));
    }
    await agent.close();
  });
  afterAll(() => own().close());

  /** Does a job, and compares its steps with those that the table of the guide promises. */
  const job = (name: string, work: (visitor: Visitor) => Promise<void>) =>
    deep(name, () =>
      own().visit('/view/', async (page) => {
        const visitor = new Visitor(page);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await work(visitor);
        const [, steps] = new RegExp(`^\\| ${name} \\| (\\d+) \\|`, 'm').exec(guide) ?? [];
        expect(visitor.steps).toBe(Number(steps));
      }),
    );
  job('find a decision', async (visitor) => {
    const { page } = visitor;
    await visitor.press('/');
    await visitor.type('idempotency of payments');
    await visitor.click(page.getByRole('link', { name: /^Decision Log/ }).first());
    await page.getByRole('heading', { name: /^Use an idempotency key/ }).waitFor();
    expect(new URL(page.url()).hash).toContain('#use-an-idempotency-key');
  });

  job('review three decisions of an agent and accept two', async (visitor) => {
    const { page } = visitor;
    const needs = page.getByRole('region', { name: 'Needs a person' });
    await visitor.click(needs.getByRole('link', { name: /^fast-coder\/2\.0/ }));
    for (const [done, title] of ['One', 'Two'].entries()) {
      await page.getByRole('region', { name: new RegExp(`#${title}`) }).waitFor();
      await visitor.press('a');
      await page.getByText(`${done + 1} of 3 decided`).waitFor();
    }
    const log = repo().read('.memory-bank/decisionLog.md');
    expect([log.includes('Do One.'), log.includes('Do Two.'), log.includes('Do Three.')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  job('see why a record is stale and renew it', async (visitor) => {
    const { page } = visitor;
    const needs = page.getByRole('region', { name: 'Needs a person' });
    await visitor.click(needs.getByText('1 record by code that Count attempts has changed'));
    await visitor.click(needs.getByRole('link', { name: /retries\.md$/ }));
    const notice = page.getByRole('region', { name: /^Code has changed/ });
    await notice.getByText('export const attempts = 7;').first().waitFor();
    await visitor.click(notice.getByRole('button', { name: 'Still true' }));
    await notice.waitFor({ state: 'detached' });
    expect(subject()).toMatch(/^memory: verify .*retries/);
  });

  job('restore an older version of a record', async (visitor) => {
    const { page } = visitor;
    await visitor.press('/');
    await visitor.type('indent');
    await visitor.click(page.getByRole('link', { name: /^indent/ }).first());
    await visitor.click(page.getByRole('link', { name: 'History' }));
    await visitor.click(page.getByRole('button', { name: 'Restore' }).last());
    await visitor.click(page.getByRole('button', { name: 'Restore as a new commit' }));
    await expect.poll(subject).toMatch(/^memory: restore/);
    expect(repo().read('.memory-bank/knowledge/patterns/indent.md')).toContain('by tabs');
  });

  job('move a task', async (visitor) => {
    const { page } = visitor;
    await visitor.click(page.getByRole('link', { name: 'Tasks' }));
    await visitor.click(page.getByRole('button', { name: 'Move “Send a key” to in progress' }));
    await page.getByText('“Send a key” is in progress now.').waitFor();
    expect(subject()).toBe('memory: update status of task "Send a key"');
  });

  job('compare a branch with the current one', async (visitor) => {
    const { page } = visitor;
    await visitor.click(page.getByRole('link', { name: 'Branches' }));
    await visitor.click(page.getByRole('link', { name: 'idea', exact: true }));
    await page.getByText('knowledge/patterns/ideas.md').first().waitFor();
  });
});
