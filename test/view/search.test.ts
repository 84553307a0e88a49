import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/values/json.ts';
import { deep } from '../support/depth.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

describe.skipIf(!opened)('the search of the window', () => {
  /** The window; the group is skipped where there is none. */
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const ask = async (query: string) =>
    (await own().server.ask('GET', `/memory/search?${query}`)).body;
  const namesOf = (hits: readonly JsonObject[]) =>
    hits.map(({ path, section = '' }) => `${path} ${section}`);

  beforeAll(async () => {
    const { memory, server } = own();
    await fillRealistic((tool, args) => memory.call(tool, args), server.repo.root);
    memory.actAs('fast-coder/2.0');
    await memory.write(
      'card-refused',
      'A refused card is reported to the customer, not charged again.',
    );
    memory.actAs(undefined);
  });
  afterAll(() => own().close());

  test('finds what search_memory finds, in its order: the decision before a log that mentions it', async () => {
    const questions = ['order number idempotency key', 'retry', 'provider', 'refused card'];
    for (const query of questions) {
      const { results } = await own().memory.call('search_memory', { query, limit: 30 });
      const { hits } = await ask(`query=${encodeURIComponent(query)}`);
      expect(namesOf(hits)).toEqual(namesOf(results as JsonObject[]));
    }
    const { hits } = await ask('query=order+number+idempotency+key');
    const decision = hits.find(({ path }: JsonObject) => path === 'decisionLog.md');
    expect(decision).toMatchObject({
      section: expect.stringContaining('The order number is the idempotency key'),
      snippet: expect.stringContaining('carries the order number'),
      standing: expect.stringContaining('Ada Lovelace'),
      anchor: expect.stringMatching(/^the-order-number-is-the-idempotency-key/),
    });
    const mentions = hits.findIndex(({ path }: JsonObject) => path === 'activeContext.md');
    expect(mentions < 0 || hits.indexOf(decision) < mentions).toBe(true);
  });

  test('keeps to a kind, an author, a time and the literal text', async () => {
    const paths = async (query: string) => namesOf((await ask(query)).hits).join(' ');
    const ofAgent = 'knowledge/patterns/card-refused.md';
    expect((await ask('query=card')).makers).toEqual(['Ada Lovelace', 'fast-coder']);
    expect(await paths('query=card&agent=fast-coder')).toBe(`${ofAgent} `);
    expect(await paths('query=card&maker=agent')).toBe(`${ofAgent} `);
    expect(await paths('query=card&maker=person')).not.toContain(ofAgent);
    expect(await paths('query=card&after=2001-01-01')).toContain(ofAgent);
    expect(await paths('query=card&after=9999-01-01')).toBe('');
    expect(await paths('query=card&type=requirement')).toMatch(/^(graph\/requirements\/\S+ ?)+$/);
    expect(await paths('query=card+refused&exact=true')).toBe('');
    expect(await paths('query=refused+card+is&exact=true')).toBe(`${ofAgent} `);
    const none = await ask('query=card&type=requirement&agent=fast-coder');
    expect(none).toMatchObject({ hits: [], total: 0, searched: 2 });
    expect(await ask('query=zzzz&at=HEAD~1')).toMatchObject({ searched: expect.any(Number) });
  });

  deep('begins with the key / on any page, and opens a hit at its section', () =>
    own().visit('/view/tasks', async (page) => {
      await page.getByRole('heading', { name: 'Tasks' }).waitFor();
      await page.keyboard.press('/');
      const field = page.getByRole('searchbox', { name: 'Search the memory' });
      await page.keyboard.type('order number idempotency key');
      const hit = page.getByRole('listitem').filter({ hasText: 'decisionLog.md' }).first();
      await hit.getByText('Every request to the provider carries').waitFor();
      // The person goes on typing, and one step back leads to the page before.
      expect(await field.evaluate((one) => one.matches(':focus'))).toBe(true);
      expect(new URL(page.url()).searchParams.get('q')).toBe('order number idempotency key');
      await hit.getByRole('link', { name: /^The order number is the idempotency key/ }).click();
      const heading = page.getByRole('heading', { name: /^The order number is the/ });
      await heading.waitFor();
      await expect.poll(() => heading.evaluate((one) => one.matches(':focus'))).toBe(true);
      const marked = await page.evaluate('[...CSS.highlights.get("found")].map(String)');
      expect(marked).toContain('idempotency');
      expect(await field.inputValue()).toBe('');
      await page.goBack();
      await hit.waitFor();
      expect(await field.inputValue()).toBe('order number idempotency key');
      await page.goBack();
      await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    }),
  );

  deep('has filters in its address, and without a hit says what was searched', () =>
    own().visit('/view/search?q=refused+card', async (page) => {
      const hits = page.locator('.hits > li');
      await hits.nth(1).waitFor();
      await page.getByRole('combobox', { name: 'by', exact: true }).selectOption('fast-coder');
      await expect.poll(() => hits.count()).toBe(1);
      await page.getByText(/by fast-coder \(agent\), not confirmed/).waitFor();
      await page
        .getByRole('combobox', { name: 'changed', exact: true })
        .selectOption('in the last week');
      await page.getByRole('combobox', { name: 'kind', exact: true }).selectOption('requirement');
      await page.getByText('in 2 requirement records, with these filters').waitFor();
      await page.getByRole('link', { name: 'Search without filters' }).click();
      await hits.nth(1).waitFor();
      await page.getByRole('searchbox').fill('qwxz');
      await page.getByText(/^Nothing was found for “qwxz” in \d+ records\.$/).waitFor();
      await page.getByRole('searchbox').fill('refused card is');
      await page.getByLabel('exactly as written').check();
      await expect.poll(() => hits.count()).toBe(1);
      await page.getByRole('searchbox').fill('qwxz');
      await page.getByText(/in \d+ records, as a literal text\.$/).waitFor();
      await page.getByRole('button', { name: 'Search for the words' }).click();
      await page.getByRole('button', { name: 'Search for exactly this text' }).waitFor();
    }),
  );

  deep('shows what is found so far while the index is made', () =>
    own().visit('/view/search', async (page) => {
      let isFirst = true;
      await page.route('**/memory/search?*', async (route) => {
        const json = await (await route.fetch()).json();
        const part = { ...json, hits: json.hits.slice(0, 1), total: 1, unread: 9, isPart: true };
        await route.fulfill({ json: isFirst ? part : json });
        isFirst = false;
      });
      await page.getByRole('searchbox').fill('card');
      await page.getByText('1 found so far; 9 records are still being read').waitFor();
      await page.getByText(/^\d+ found$/).waitFor();
      await page.locator('.hits > li').nth(1).waitFor();
    }),
  );
});
