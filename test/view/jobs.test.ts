import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { deep, isFull } from '../support/depth.ts';
import { fillWeeks, proposed, spreadOverWeeks } from '../support/shop-weeks.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

const guide = readFileSync('docs/view.md', 'utf8');

/** The folder for the pictures of the guide, which `npm run picture` gives; a test draws none. */
const folder = process.env.PICTURES_FOLDER;
/** Maximum size of one picture, in bytes. */
const maxBytes = 170_000;

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

  async choose(field: Locator, label: string): Promise<void> {
    this.steps += 1;
    await field.selectOption({ label });
  }

  /** Draws the page as the guide shows it. */
  async draw(name: string): Promise<void> {
    if (folder === undefined) return;
    await this.page.locator('.loading').waitFor({ state: 'detached' });
    // The project has the name of its temporary folder.
    await this.page.evaluate(`document.querySelector('.project').textContent = 'shop'`);
    const picture = await this.page.screenshot();
    if (picture.length > maxBytes) throw new Error(`${name} has ${picture.length} bytes.`);
    writeFileSync(join(folder, `pages-${name}.png`), picture);
  }
}

describe.skipIf(!opened)('the jobs of a person in the window', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const repo = () => own().server.repo;
  const subject = () => repo().git('log', '-1', '--format=%s').trim();

  beforeAll(async () => {
    await fillWeeks(own().memory);
    if (folder !== undefined) spreadOverWeeks(repo());
    const config = repo().read('.memory-bank/config.yaml');
    repo().write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo().git('commit', '-qam', 'Require reviews');
    const agent = await openMemory({ root: repo().root, agent: 'claude-code/2.1' });
    for (const decision of proposed) await agent.call('log_decision', decision);
    await agent.close();
  });
  afterAll(() => own().close());

  /** Does a job, and compares its steps with those that the table of the guide promises. */
  const job = (name: string, work: (visitor: Visitor) => Promise<void>) =>
    deep(name, () =>
      own().visit('/view/', async (page) => {
        const visitor = new Visitor(page);
        await page.setViewportSize({ width: 1040, height: 640 });
        await page.getByRole('region', { name: 'Recent changes' }).waitFor();
        await work(visitor);
        const [, steps] = new RegExp(`^\\| ${name} \\| (\\d+) \\|`, 'm').exec(guide) ?? [];
        expect(visitor.steps).toBe(Number(steps));
      }),
    );

  job('find a decision', async (visitor) => {
    const { page } = visitor;
    await visitor.press('/');
    await visitor.type('idempotency of payments');
    await visitor.click(page.getByRole('link', { name: /^The order number is the/ }).first());
    await page.getByRole('heading', { name: /^The order number is the/ }).waitFor();
    expect(new URL(page.url()).hash).toContain('#the-order-number-is-the');
  });

  job('review three decisions of an agent and accept two', async (visitor) => {
    const { page } = visitor;
    const needs = page.getByRole('region', { name: 'Needs a person' });
    const review = needs.getByRole('link', { name: /^claude-code\/2\.1: \d/ });
    await review.waitFor();
    await needs.getByText(/that Count attempts has changed/).waitFor();
    await visitor.draw('home');
    await visitor.click(review);
    for (const [done, { title }] of proposed.slice(0, 2).entries()) {
      await page.getByRole('region', { name: new RegExp(`#${title}`) }).waitFor();
      if (done === 1) await visitor.draw('review');
      await visitor.press('a');
      await page.getByText(`${done + 1} of 3 decided`).waitFor();
    }
    const log = repo().read('.memory-bank/decisionLog.md');
    const isAccepted = proposed.map(({ decision }) => log.includes(String(decision)));
    expect(isAccepted).toEqual([true, true, false]);
  });

  job('see why a record is stale and renew it', async (visitor) => {
    const { page } = visitor;
    const needs = page.getByRole('region', { name: 'Needs a person' });
    await visitor.click(needs.getByText('1 record by code that Count attempts has changed'));
    await visitor.click(needs.getByRole('link', { name: /retry-budget\.md$/ }));
    const notice = page.getByRole('region', { name: /^Code has changed/ });
    await notice.getByText('export const attempts = 7;').first().waitFor();
    await visitor.draw('stale');
    await visitor.click(notice.getByRole('button', { name: 'Still true' }));
    await notice.waitFor({ state: 'detached' });
    expect(subject()).toMatch(/^memory: verify .*retry-budget/);
  });

  job('see what one agent has changed', async (visitor) => {
    const { page } = visitor;
    await visitor.click(page.getByRole('link', { name: 'Timeline' }));
    const agents = page.getByLabel('agent');
    await agents.getByRole('option', { name: /^cursor/ }).waitFor({ state: 'attached' });
    await page.locator('.entry').first().waitFor();
    await visitor.draw('timeline');
    await visitor.choose(agents, 'cursor');
    await page.getByText('4 commits', { exact: true }).waitFor();
  });

  job('restore an older version of a record', async (visitor) => {
    const { page } = visitor;
    await visitor.press('/');
    await visitor.type('provider timeout');
    await visitor.click(page.getByRole('link', { name: /^provider-timeout/ }).first());
    await visitor.click(page.getByRole('link', { name: 'History' }));
    await page.locator('.differences').waitFor();
    await visitor.draw('history');
    await visitor.click(page.getByRole('button', { name: 'Restore' }).last());
    await visitor.click(page.getByRole('button', { name: 'Restore as a new commit' }));
    await expect.poll(subject).toMatch(/^memory: restore/);
    const path = '.memory-bank/knowledge/project-learnings/provider-timeout.md';
    expect(repo().read(path)).toContain('gives up after 30');
  });

  job('move a task', async (visitor) => {
    const { page } = visitor;
    const task = 'Report a refused card without a retry';
    await visitor.click(page.getByRole('link', { name: 'Tasks' }));
    await visitor.click(page.getByRole('button', { name: `Move “${task}” to in progress` }));
    await page.getByText(`“${task}” is in progress now.`).waitFor();
    expect(subject()).toBe(`memory: update status of task "${task}"`);
  });

  job('compare a branch with the current one', async (visitor) => {
    const { page } = visitor;
    await visitor.click(page.getByRole('link', { name: 'Branches' }));
    await visitor.click(page.getByRole('link', { name: 'retry-queue', exact: true }));
    await page.locator('.change', { hasText: 'patterns/queue.md' }).waitFor();
    await visitor.draw('branch');
  });

  job('see what rests on a feature', async (visitor) => {
    const { page } = visitor;
    await visitor.click(page.getByRole('link', { name: 'Graph' }));
    await page.locator('svg.graph a').first().waitFor();
    await visitor.draw('graph');
    await visitor.click(page.getByRole('link', { name: /^around Payment/ }).first());
    const others = page.getByRole('region', { name: 'What rests on it' });
    await others.getByRole('link', { name: /^Make payments idempotent/ }).waitFor();
  });
});
