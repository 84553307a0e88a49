import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { findViolations } from '../support/axe.ts';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;
/** The records that one commit makes stale. */
const stale = 18;

describe.skipIf(!opened)('home', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const region = (page: Page, name: string) => page.getByRole('region', { name });

  beforeAll(async () => {
    const { memory, server } = own();
    const { repo } = server;
    const file = repo.path('retry.ts');
    writeFileSync(file, 'export const retries = 3;\n');
    repo.git('add', 'retry.ts');
    repo.git('commit', '-qm', 'Add retries');
    for (let i = 0; i < stale; i++) await memory.write(`retry-${i}`, `See \`retry.ts:1\`, ${i}.`);
    await memory.call('memory_write', {
      category: 'user-preferences',
      key: 'small-commits',
      value: 'One change in one commit.',
    });
    await memory.call('log_decision', {
      title: 'Use a queue',
      context: 'Orders were lost.',
      decision: `Each order goes through a queue. ${'It is on disk. '.repeat(200)}`,
    });
    await memory.call('update_active_context', {
      tasks: Array.from({ length: 12 }, (_, i) => `Step ${i}`),
    });
    writeFileSync(file, 'export const attempts = 7;\n');
    repo.git('commit', '-qam', 'Count attempts');
  });
  afterAll(() => own().close());

  deep('groups what is stale by the commit, and keeps the rest on the second screen', () =>
    own().visit('/view/', async (page) => {
      const needs = region(page, 'Needs a person');
      await needs.getByText(`${stale} records by code that Count attempts has changed`).waitFor();
      expect(await needs.getByRole('listitem').count()).toBe(1);
      for (const [width, height] of [
        [1280, 800],
        [390, 844],
      ] as const) {
        await page.setViewportSize({ width, height });
        for (const name of ['Current work', 'Recent changes']) {
          const place = await region(page, name).boundingBox();
          expect(place?.y).toBeLessThan(2 * height);
        }
      }
      expect(await findViolations(page)).toEqual([]);
      await needs.getByText(`${stale} records`).click();
      await needs
        .getByText('retry.ts:1 was changed')
        .nth(stale - 1)
        .waitFor();
      await needs.getByRole('link', { name: /retry-7\.md$/ }).click();
      await page.getByRole('heading', { name: 'retry-7' }).waitFor();
    }),
  );

  deep('lists as decisions only those, each with a link to itself', () =>
    own().visit('/view/', async (page) => {
      const decisions = region(page, 'Latest decisions');
      await decisions.getByText('Use a queue: Each order').waitFor();
      expect(await decisions.getByRole('listitem').count()).toBe(1);
      await decisions.getByRole('link').click();
      await page.getByRole('heading', { name: 'Use a queue' }).waitFor();
      expect(new URL(page.url()).hash).toContain('#use-a-queue');
    }),
  );

  deep('says what has changed since the person was last here, by agent and session', async () => {
    const { memory } = own();
    await own().visit('/view/', async (page) => {
      const news = region(page, 'Recent changes');
      await news.getByText(/commits, \d+ records/).waitFor();
      // An hour later, by the clock of the browser.
      await page.evaluate(() => {
        const storage: {
          readonly length: number;
          key(at: number): string;
          getItem(key: string): string;
          setItem(key: string, value: string): void;
        } = Reflect.get(globalThis, 'localStorage');
        for (let i = 0; i < storage.length; i++) {
          const key = storage.key(i);
          if (!key.startsWith('memory-visit')) continue;
          const visit = JSON.parse(storage.getItem(key));
          storage.setItem(key, JSON.stringify({ ...visit, at: visit.at - 3_600_000 }));
        }
      });
    });
    memory.actAs('fast-coder/2.0');
    await memory.write('by-an-agent', 'The first text.');
    await memory.write('by-an-agent', 'The second text.');
    memory.actAs(undefined);
    await own().visit('/view/', async (page) => {
      const news = region(page, 'Recent changes');
      await news.getByText('Changes since you were last here').waitFor();
      expect(await news.getByRole('listitem').count()).toBe(1);
      await news.getByText(/fast-coder in session .*: 2 commits, 1 record/).click();
      await news.getByRole('link', { name: 'knowledge/patterns/by-an-agent.md' }).first().waitFor();
      await memory.write('by-a-person', 'It arrives by itself.');
      await news.getByText('remember "by-a-person"').first().waitFor();
      // The other line stays open.
      const link = news.getByRole('link', { name: 'knowledge/patterns/by-an-agent.md' });
      expect(await link.first().isVisible()).toBe(true);
    });
  });

  deep('links each review that waits', async () => {
    const { repo } = own().server;
    const config = repo.read('.memory-bank/config.yaml');
    repo.write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo.git('commit', '-qam', 'Require reviews');
    const agent = await openMemory({ root: repo.root, agent: 'fast-coder/2.0' });
    await agent.call('memory_write', { category: 'patterns', key: 'proposed', value: 'It waits.' });
    await agent.close();
    await own().visit('/view/', async (page) => {
      const needs = region(page, 'Needs a person');
      await needs.getByText('The changes of an agent wait for a review').waitFor();
      await needs.getByRole('link', { name: 'fast-coder/2.0: 1 record' }).click();
      await page.getByText('Proposed by fast-coder/2.0').waitFor();
    });
  });
});
