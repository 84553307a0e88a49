import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePage } from '../../build.js';
import { viewFace } from '../../src/server/view/view-face.ts';
import { Misbehaviour, startBrowser } from '../support/browser.ts';
import { deep, isFull } from '../support/depth.ts';
import { type Served as HttpServed, serve } from '../support/http.ts';
import { newFolder } from '../support/process.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { Served } from '../support/served.ts';

const browser = isFull ? await startBrowser() : undefined;
const token = 'token-of-the-tests';
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Texts that run a script in a page that inserts them without care. */
const attacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '"><iframe srcdoc="<script>alert(1)</script>">',
  '<style>header{display:none}</style>',
  '<base href="https://evil.example/">',
  '<form action="https://evil.example/"><button>Sign in</button></form>',
  '[click](javascript:alert(1))',
  '[click](JaVaScRiPt&colon;alert(1))',
  '[click](data:text/html,<script>alert(1)</script>)',
  '[click](vbscript:alert(1))',
  '![pixel](https://evil.example/pixel.png)',
  '<https://evil.example/" onclick="alert(1)>',
  '[a]: javascript:alert(1)\n\n[a]',
  "{{constructor.constructor('alert(1)')()}}",
  '``` "><script>alert(1)</script>\ncode\n```',
  '<a href="/memory/restore" id="page" name="main">x</a>',
  '[up](../../../../memory/home)',
  '[other](//evil.example/x.md)',
  '\u202Eevil\u202C \u0000 <\u200Bscript>',
];

let server: HttpServed;
let memory: Served;

beforeAll(async () => {
  const folder = newFolder();
  await bundlePage(folder);
  const face = viewFace({ folder, version: '0.0.0', token });
  server = await serve({ keys: undefined }, {}, {}, face);
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
    ['', '?show=source', '?show=history', '?show=lines', '?show=edit'].map((view) => path + view),
  );
  return [...others, ...views];
}

/** The pages of the memory as a whole. */
const others = [
  '/view/',
  '/view/timeline',
  '/view/branches',
  '/view/branches/idea',
  '/view/graph',
  '/view/modes',
  '/view/tasks',
  '/view/records',
  '/view/search?q=alert+payment',
];

async function settled(page: Page, path: string): Promise<void> {
  await page.goto(server.url + path);
  await page.locator('main h1').first().waitFor();
  await page.locator('.loading').waitFor({ state: 'detached' });
}

describe.skipIf(isFull && !browser)('the pages', () => {
  const axeRuns = [
    ['light', 1200],
    ['dark', 1200],
    ['light', 360],
  ] as const;

  deep.each(axeRuns)(
    'follow the rules of accessibility in %s at a width of %i',
    async (colorScheme, width) => {
      const context = await browser?.newContext({ colorScheme, viewport: { width, height: 800 } });
      if (!context) return;
      const page = await context.newPage();
      for (const path of [
        ...others,
        '/view/?at=HEAD~3',
        ...['', '?show=source', '?show=history', '?show=lines', '?show=edit'].map(
          (view) => `/view/record/decisionLog.md${view}`,
        ),
        '/view/record/graph/objectives/idempotent-payments.yaml',
      ]) {
        await settled(page, path);
        // The policy of the page keeps it from loading a script; the driver inserts it.
        await page.evaluate(readFileSync(axe, 'utf8'));
        const violations = await page.evaluate(async () => {
          const run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> =
            Reflect.get(globalThis, 'axe').run;
          return (await run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
        });
        expect({ path, violations }).toEqual({ path, violations: [] });
        const overflow = await page.evaluate(
          () => Reflect.get(globalThis, 'document').documentElement.scrollWidth,
        );
        expect(overflow).toBeLessThanOrEqual(width);
      }
      await context.close();
    },
  );

  deep('run, load and post nothing that a record contains', async () => {
    const all = attacks.join('\n\n');
    await memory.call('write_memory_bank_file', { filename: 'evil.md', content: all });
    await memory.call('activate_project', { project_path: server.repo.root });
    await memory.call('store_memory', { title: attacks[1] ?? '', type: 'rules', content: all });
    await memory.call('create_features', {
      features: [{ slug: 'evil', name: attacks[0] ?? '', description: all.slice(0, 9000) }],
    });
    for (const [i, attack] of attacks.entries()) {
      const value = `${attack} ${i}`.replaceAll('\u0000', '');
      await memory.call('memory_write', {
        category: 'patterns',
        key: `attack-${i}`,
        value,
        reason: value,
        context: value,
      });
    }
    await memory.call('log_decision', { title: attacks[2] ?? '', context: all, decision: all });
    writeFileSync(join(server.repo.root, '.memory-bank/knowledge/patterns/broken.md'), all);
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
          'main :is(script, img, svg:not(.chart, .graph), iframe, style, base, form:not(.edit), object, [onclick], [onerror])',
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
