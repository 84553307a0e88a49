import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Frame } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePage } from '../../build.js';
import { showsViews, toResult } from '../../src/server/mcp/methods.ts';
import { findViolations } from '../support/axe.ts';
import { Misbehaviour, startBrowser } from '../support/browser.ts';
import { deep, isFull } from '../support/depth.ts';
import { fillHostile } from '../support/hostile-memory.ts';
import { modernMeta } from '../support/modern.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';

const browser: Browser | undefined = isFull ? await startBrowser() : undefined;
const folder = newFolder();
const repo = Repo.create();
const memory = new Served(repo);

beforeAll(async () => {
  if (!isFull) return;
  await bundlePage(folder);
  await memory.write('first', 'The first text.');
  await memory.write('first', 'The second text.');
});

afterAll(async () => {
  await browser?.close();
  await memory.close();
  repo.remove();
});

test('views are for clients that show them', () => {
  const uiClient = (settings: object) => ({
    extensions: { 'io.modelcontextprotocol/ui': settings },
  });
  expect(showsViews(uiClient({ mimeTypes: ['text/html;profile=mcp-app'] }))).toBe(true);
  expect(showsViews(uiClient({ mimeTypes: ['text/other'] }))).toBe(false);
  expect(showsViews({ extensions: {} })).toBe(false);
  expect(showsViews(undefined)).toBe(false);
});

/** Asks a server of the built program, which a client of each era starts; returns its answers by id. */
function ask(...requests: readonly object[]): Map<unknown, Answer> {
  const input = requests.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join('');
  const { stdout } = runProgram(repo.root, [], { env: { ...gitEnv, HOME: folder }, input });
  const lines = stdout.trim().split('\n');
  return new Map(lines.map((line) => [JSON.parse(line).id, JSON.parse(line).result]));
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of which the test asserts every part
type Answer = any;

deep.each(['legacy', 'modern'])('tools name their views to a %s client that shows them', (era) => {
  const ui = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
  const viewsOf = (extensions: object) => {
    const meta = modernMeta({ clientCapabilities: { extensions } });
    const params = era === 'modern' ? { _meta: meta } : {};
    const start = {
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { extensions },
        clientInfo: { name: 'test', version: '1' },
      },
    };
    const answers = ask(
      ...(era === 'modern' ? [] : [start, { method: 'notifications/initialized' }]),
      { id: 1, method: 'tools/list', params },
      { id: 2, method: 'resources/read', params: { uri: 'ui://memory-bank/timeline', ...params } },
      { id: 3, method: 'resources/list', params },
    );
    const tools: { name: string; _meta?: { ui?: { resourceUri: string } } }[] =
      answers.get(1).tools;
    const uris = tools.flatMap(({ name, _meta }) =>
      _meta?.ui ? [[name, _meta.ui.resourceUri]] : [],
    );
    expect(JSON.stringify(answers.get(3))).not.toContain('ui://');
    return { uris: Object.fromEntries(uris), view: answers.get(2).contents[0] };
  };
  const { uris, view } = viewsOf(ui);
  expect(uris).toEqual({
    record_history: 'ui://memory-bank/timeline',
    diff_memory: 'ui://memory-bank/diff',
    search_memory: 'ui://memory-bank/records',
    build_context: 'ui://memory-bank/context',
  });
  expect(view.mimeType).toBe('text/html;profile=mcp-app');
  expect(view._meta.ui.csp).toEqual({ connectDomains: [], resourceDomains: [] });
  expect(view.text).not.toMatch(/<(?:script|link|img)[^>]* (?:src|href)=/);
  expect(viewsOf({}).uris).toEqual({});
});

/** A host as the specification has it: it speaks by messages with a view in a frame without an origin. */
const hostScript = `
  const frame = document.querySelector('iframe');
  const sent = [];
  addEventListener('message', async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    sent.push(data.method);
    const answer = (rest) => frame.contentWindow.postMessage({ jsonrpc: '2.0', id: data.id, ...rest }, '*');
    if (data.method === 'ui/initialize') {
      answer({ result: {
        protocolVersion: data.params.protocolVersion,
        hostInfo: { name: 'test', version: '1' },
        hostCapabilities: { serverTools: {} },
        hostContext: { theme: 'dark' },
      } });
    } else if (data.method === 'ui/notifications/initialized') {
      const result = await callTool(...firstCall);
      frame.contentWindow.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: result }, '*');
    } else if (data.method === 'tools/call') {
      answer({ result: await callTool(data.params.name, data.params.arguments) });
    }
  });
`;

async function show(
  tool: string,
  args: object,
  work: (view: Frame) => Promise<void>,
): Promise<void> {
  const page = await browser?.newPage();
  if (!page) return;
  const bad = new Misbehaviour(page, 'about:');
  await page.exposeFunction('callTool', async (name: string, given: object) =>
    toResult(await memory.try(name, JSON.parse(JSON.stringify(given)))),
  );
  const html = readFileSync(join(folder, 'app.html'), 'utf8');
  const call = JSON.stringify([tool, args]);
  await page.setContent(
    `<title>host</title><script>const firstCall = ${call};</script>
    <iframe title="view" sandbox="allow-scripts" width="700" height="600"></iframe>
    <script>${hostScript}</script>`,
  );
  await page.evaluate((text) => {
    const document: { querySelector(s: string): { srcdoc: string } } = Reflect.get(
      globalThis,
      'document',
    );
    document.querySelector('iframe').srcdoc = text;
  }, html);
  await expect.poll(() => page.frames().length).toBe(2);
  const view = page.frames()[1];
  if (!view) return;
  await work(view);
  expect(bad.found).toEqual([]);
  await page.close();
}

describe.skipIf(isFull && !browser)('a view in a client', () => {
  deep('shows the history of a record, and a change of it on demand', () =>
    show('record_history', { path: 'knowledge/patterns/first.md' }, async (view) => {
      await view.getByRole('heading', { name: 'History' }).waitFor();
      await view.getByText('2 of 2 commits').waitFor();
      await view
        .getByRole('button', { name: /^Show the change/ })
        .first()
        .click();
      await view.locator('ins, .added', { hasText: 'second' }).first().waitFor();
      await view.getByRole('button', { name: 'Back' }).click();
      await view.getByText('2 of 2 commits').waitFor();
      const scheme = await view.evaluate(() => {
        const document: { documentElement: { style: { colorScheme: string } } } = Reflect.get(
          globalThis,
          'document',
        );
        return document.documentElement.style.colorScheme;
      });
      expect(scheme).toBe('dark');
    }),
  );

  deep('shows the difference of two states', () =>
    show('diff_memory', { from: 'HEAD~1' }, async (view) => {
      await view.locator('del, .removed', { hasText: 'first' }).first().waitFor();
    }),
  );

  deep('shows what a search found, opens a record, and says what is wrong', async () => {
    await show('search_memory', { query: 'second' }, async (view) => {
      await view.getByRole('button', { name: 'Open first' }).click();
      await view.locator('pre', { hasText: 'The second text.' }).waitFor();
      expect(await findViolations(view)).toEqual([]);
    });
    await show('record_history', { path: 'nowhere.md' }, async (view) => {
      await view.getByRole('alert').getByText('nowhere.md').waitFor();
    });
  });

  deep('runs nothing that a record contains', async () => {
    await fillHostile(memory);
    for (const [tool, args] of [
      ['record_history', { limit: 50 }],
      ['diff_memory', { from: 'HEAD~15' }],
      ['search_memory', { query: 'alert evil' }],
    ] as const) {
      await show(tool, args, async (view) => {
        await view.locator('h1').waitFor();
        const inserted = view.locator('main :is(script, img, svg, iframe, style, base, form, a)');
        expect(await inserted.count()).toBe(0);
      });
    }
  });
});
