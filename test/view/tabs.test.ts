import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

/** A script of a page whose tab can be hidden by a test. */
const visibility = `
  let state = 'visible';
  Object.defineProperty(document, 'visibilityState', { get: () => state });
  globalThis.setVisibility = (next) => {
    state = next;
    document.dispatchEvent(new Event('visibilitychange'));
  };
`;
const withoutLocks = `Object.defineProperty(navigator, 'locks', { value: undefined });`;

/** The streams that are open in a browser. */
class Streams {
  open = 0;

  constructor(context: BrowserContext) {
    const isStream = (url: string) => url.includes('/memory/events');
    context.on('request', (request) => {
      if (isStream(request.url())) this.open++;
    });
    for (const event of ['requestfailed', 'requestfinished'] as const) {
      context.on(event as 'requestfailed', (request) => {
        if (isStream(request.url())) this.open--;
      });
    }
  }
}

describe.skipIf(!opened)('ten tabs', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const pages: Page[] = [];
  const set = (page: Page | undefined, state: string) =>
    page?.evaluate((next) => Reflect.get(globalThis, 'setVisibility')(next), state);
  const openTen = async (scripts: readonly string[]) => {
    for (let i = 0; i < 10; i++) {
      const page = await own().context.newPage();
      for (const script of scripts) await page.addInitScript(script);
      await page.goto(`${own().server.url}/view/`);
      await page.getByText('Recent changes').waitFor();
      pages.push(page);
      if (scripts.includes(withoutLocks)) {
        // The browser hides a tab when another one is opened.
        await set(pages.at(-2), 'hidden');
      }
    }
  };
  const closeAll = async () => {
    for (const page of pages.splice(0)) await page.close();
  };

  beforeAll(() => own().memory.write('first', 'The first text.'));
  afterAll(() => own().close());

  deep('ask again after a change, also while an earlier request has no answer', async () => {
    const page = await own().page('/view/');
    await page.getByText('remember "first"').waitFor();
    // Two components of the page share the request, and its answer has no change after it was read.
    let sent = 0;
    await page.route('**/memory/home*', async (route) => {
      if (++sent > 1) return route.continue();
      const response = await route.fetch();
      await expect.poll(() => sent).toBe(2);
      await route.fulfill({ response });
    });
    await own().memory.write('held', 'Its answer is held.');
    await expect.poll(() => sent).toBe(1);
    await own().memory.write('next', 'It is asked for anew.');
    await page.getByText('remember "next"').waitFor();
    await page.close();
  });

  deep('that are all visible share one stream, and pass it on', async () => {
    const streams = new Streams(own().context);
    await openTen([visibility]);
    await expect.poll(() => streams.open).toBe(1);
    await own().memory.write('shared', 'All of them show it.');
    for (const page of pages) await page.getByText('remember "shared"').waitFor();
    await set(pages[0], 'hidden');
    await pages[1]?.close();
    await expect.poll(() => streams.open).toBe(1);
    await own().memory.write('later', 'The visible ones show it.');
    for (const page of pages.slice(2)) await page.getByText('remember "later"').waitFor();
    expect(await pages[0]?.getByText('remember "later"').count()).toBe(0);
    // A tab that is shown again has the changes meanwhile.
    await set(pages[0], 'visible');
    await pages[0]?.getByText('remember "later"').waitFor();
    await closeAll();
  });

  deep('of a browser that cannot share one have a stream only where they are visible', async () => {
    const streams = new Streams(own().context);
    await openTen([visibility, withoutLocks]);
    await expect.poll(() => streams.open).toBe(1);
    await own().memory.write('alone', 'The last tab shows it.');
    await pages.at(-1)?.getByText('remember "alone"').waitFor();
    await set(pages[0], 'visible');
    await pages[0]?.getByText('remember "alone"').waitFor();
    await expect.poll(() => streams.open).toBe(2);
    await closeAll();
  });
});
