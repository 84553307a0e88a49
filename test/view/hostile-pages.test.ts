import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePage } from '../../build.js';
import { openMemory } from '../../src/app/library.ts';
import { viewFace } from '../../src/server/view/view-face.ts';
import { findViolations } from '../support/axe.ts';
import { Misbehaviour, startBrowser } from '../support/browser.ts';
import { deep, isFull } from '../support/depth.ts';
import { fillHostile } from '../support/hostile-memory.ts';
import { type Served as HttpServed, serve } from '../support/http.ts';
import { newFolder } from '../support/process.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { Served } from '../support/served.ts';

const browser = isFull ? await startBrowser() : undefined;
const token = 'token-of-the-tests';

let server: HttpServed;
let memory: Served;

beforeAll(async () => {
  const folder = newFolder();
  await bundlePage(folder);
  const face = viewFace({ folder, version: '0.0.0', token });
  const home = newFolder();
  server = await serve({ keys: undefined }, { homeFolder: home }, {}, face);
  const user = await openMemory({ root: server.repo.root, home });
  await user.call('activate', { bank_type: 'global', bank_id: 'general' });
  await user.close();
  memory = new Served(server.repo);
  await fillRealistic((tool, args) => memory.call(tool, args), server.repo.root);
  server.repo.git('branch', 'idea', 'HEAD~2');
});

afterAll(async () => {
  await browser?.close();
  await memory.close();
  await server.close();
});

/** The addresses of all pages of a memory. */
async function addresses(): Promise<string[]> {
  const { body } = await server.ask('GET', '/memory/records?limit=1000');
  const paths = body.records.map(({ path }: { path: string }) => `/view/record/${path}`);
  const views = paths.flatMap((path: string) =>
    ['', '?show=source', '?show=history', '?show=lines', '?show=edit', '?show=edit&as=text'].map(
      (view) => path + view,
    ),
  );
  return [...others, ...views];
}

/** The pages of the memory as a whole. */
const others = [
  '/view/',
  '/view/timeline',
  '/view/branches',
  '/view/branches/idea',
  '/view/branches/idea?all=1',
  '/view/graph',
  '/view/modes',
  '/view/modes?at=HEAD~1',
  '/view/branches?at=HEAD~1',
  '/view/user/banks/global/general/context.md',
  '/view/tasks',
  '/view/records',
  '/view/records?toolset=documents',
  '/view/records?toolset=banks',
  '/view/conflicts',
  '/view/timeline?toolset=knowledge',
  '/view/search?q=alert+payment',
];

async function settled(page: Page, path: string): Promise<void> {
  await page.goto(server.url + path);
  await page.locator('main h1').first().waitFor();
  await page.locator('.loading').waitFor({ state: 'detached' });
}

/** Numbers the controls that are shown, in the order of the page; each needs a name. */
const numberControls = `(() => {
  const wanted = [];
  const unnamed = [];
  for (const one of document.querySelectorAll('a[href], button, input, select, textarea, summary')) {
    if (one.disabled || one.tabIndex < 0 || one.getClientRects().length === 0) continue;
    if (one.type === 'radio' && !one.checked) continue;
    one.dataset.number = String(wanted.length);
    const name = one.textContent || one.getAttribute('aria-label') || one.labels?.length || one.title;
    if (!name) unnamed.push(one.outerHTML);
    wanted.push(one.dataset.number);
  }
  return { wanted, unnamed };
})()`;

/** The control that has the focus, and whether the page shows it. */
const focusNow = `(() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one);
  // The browser marks the part of a date that has the focus.
  const isVisible = one instanceof SVGElement || one.type === 'date' || style.outlineStyle !== 'none' || style.boxShadow !== 'none';
  return { id: one.dataset.number ?? '', isVisible };
})()`;

describe.skipIf(isFull && !browser)('the pages', () => {
  const axeRuns = [
    ['light', 1200, 1],
    ['dark', 1200, 1],
    ['light', 360, 1],
    // A zoom of 200% on a screen of 1200 pixels: half of the CSS pixels, each of them twice as large.
    ['dark', 600, 2],
  ] as const;

  deep.each(axeRuns)(
    'follow the rules of accessibility in %s at a width of %i and a zoom of %i',
    async (colorScheme, width, zoom) => {
      const context = await browser?.newContext({
        colorScheme,
        viewport: { width, height: 800 / zoom },
        deviceScaleFactor: zoom,
      });
      if (!context) return;
      const page = await context.newPage();
      for (const path of [
        ...others,
        '/view/?at=HEAD~3',
        ...['', '?show=source', '?show=history', '?show=lines', '?show=edit'].map(
          (view) => `/view/record/decisionLog.md${view}`,
        ),
        '/view/record/graph/objectives/idempotent-payments.yaml',
        '/view/record/graph/objectives/idempotent-payments.yaml?show=edit',
        '/view/record/knowledge/user-preferences/small-commits.md?show=edit',
        '/view/record/knowledge/user-preferences/small-commits.md?show=edit&as=text',
      ]) {
        await settled(page, path);
        const violations = await findViolations(page);
        expect({ path, violations }).toEqual({ path, violations: [] });
        const overflow = await page.evaluate(
          () => Reflect.get(globalThis, 'document').documentElement.scrollWidth,
        );
        expect(overflow).toBeLessThanOrEqual(width);
      }
      await context.close();
    },
  );

  deep(
    'let the keyboard reach every control, in the order of the page and with a visible focus',
    async () => {
      const page = await browser?.newPage();
      if (!page) return;
      for (const path of [...others, '/view/record/decisionLog.md?show=edit']) {
        await settled(page, path);
        const { wanted, unnamed } = await page.evaluate<{ wanted: string[]; unnamed: string[] }>(
          numberControls,
        );
        expect({ path, unnamed }).toEqual({ path, unnamed: [] });
        const reached: string[] = [];
        // A control takes one key; a field of a date takes several.
        for (let i = 0; i < 3 * wanted.length + 20 && reached.length < wanted.length; i++) {
          await page.keyboard.press('Tab');
          const focus = await page.evaluate<{ id: string; isVisible: boolean } | null>(focusNow);
          // After the last control, the next one is the first.
          if (focus === null) continue;
          expect({ path, ...focus }).toMatchObject({ path, isVisible: true });
          if (focus.id !== '' && !reached.includes(focus.id)) reached.push(focus.id);
        }
        expect({ path, reached }).toEqual({ path, reached: wanted });
      }
      await page.close();
    },
  );

  deep('run, load and post nothing that a record contains', async () => {
    await fillHostile(memory);
    const page = await browser?.newPage();
    if (!page) return;
    const bad = new Misbehaviour(page, server.url);
    for (const path of await addresses()) {
      await settled(page, path);
      const found = await page.evaluate(() => {
        const { document } = globalThis as unknown as {
          document: {
            querySelectorAll(s: string): { length: number; getAttribute(n: string): string }[];
          };
        };
        const inserted = document.querySelectorAll(
          'main :is(script, img, svg:not(.chart, .graph), iframe, style, base, form:not(.edit, .row), object, [onclick], [onerror])',
        );
        const links = [...document.querySelectorAll('main a[href]')].map((link) =>
          link.getAttribute('href'),
        );
        return {
          inserted: inserted.length,
          links,
          headers: document.querySelectorAll('header, #page, #main').length,
        };
      });
      expect({ path, inserted: found.inserted, headers: found.headers }).toEqual({
        path,
        inserted: 0,
        headers: 3,
      });
      expect(
        found.links.filter(
          (link) => !/^(?:https?:\/\/|\/\/|\/|\.\.\/|mailto:|[\w.-]+$)/i.test(link),
        ),
      ).toEqual([]);
    }
    expect(bad.found).toEqual([]);
    await page.close();
  });
});

test('the files of the pages are at most 150 kB, compressed', async () => {
  const sizes = ['/view/', '/view/page.js', '/view/style.css', '/view/icon.svg'].map(
    async (path) => {
      const response = await fetch(server.url + path);
      return gzipSync(await response.text()).length;
    },
  );
  const all = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(all).toBeLessThan(150_000);
});
