import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { bundlePage } from '../../build.js';
import { viewFace } from '../../src/server/view/view-face.ts';
import { findViolations } from '../support/axe.ts';
import { startBrowser } from '../support/browser.ts';
import { deep } from '../support/depth.ts';
import { type Served, serve } from '../support/http.ts';
import { Issuer } from '../support/issuer.ts';
import { newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const browser = await startBrowser();
if (!browser) console.warn('There is no browser: the tests of the pages are skipped.');

const scope = 'memory:read memory:write memory:review';
const folder = newFolder();

let issuer: Issuer;
let server: Served;
let context: BrowserContext;
let page: Page;

/** The issuer has to know the address before the server listens on it. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function start(projects?: { name: string; app: ReturnType<typeof projectApp> }[]) {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const oauth = { issuer: issuer.url, publicUrl, client: { id: 'window', scope } };
  const face = viewFace({ folder, version: '0.0.0' });
  return serve({ port, oauth, ...(projects && { projects }) }, {}, {}, face);
}

beforeAll(async () => {
  await bundlePage(folder);
});

beforeEach(async () => {
  if (!browser) return;
  issuer = await Issuer.start();
  server = await start();
  context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
  page = await context.newPage();
});

afterEach(async () => {
  if (!browser) return;
  await context.close();
  await server.close();
  await issuer.close();
});

afterAll(() => browser?.close());

const button = () => page.getByRole('button', { name: `Sign in with ${new URL(issuer.url).host}` });

/** Returns what the browser keeps for the pages of the server. */
async function kept(name: string): Promise<string | undefined> {
  const { origins } = await context.storageState();
  const own = origins.find(({ origin }) => origin === server.url);
  return own?.localStorage.find((item) => item.name === name)?.value;
}

/** Returns the headers with which the page sends its requests. */
async function pageHeaders() {
  const cookies = await context.cookies();
  return {
    authorization: '',
    'x-memory-page': (await kept('memory-bank-session')) ?? '',
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
  };
}

describe.skipIf(!browser)('a person who signs in by the issuer', () => {
  deep('returns to the page, and changes the memory in the own name', async () => {
    issuer.person = { name: 'Ann', email: 'ann@example.com' };
    const body = { filename: 'note.md', content: '# A note\n\nOld.\n' };
    await server.ask('POST', '/memory-bank/file', { body });
    await page.goto(`${server.url}/view/record/note.md?at=main`);
    await button().click();
    await page.getByRole('heading', { name: 'A note' }).first().waitFor();
    expect(page.url()).toBe(`${server.url}/view/record/note.md?at=main`);
    expect(await kept('memory-bank-sign-in')).toBeUndefined();
    const headers = await pageHeaders();
    const changed = { ...body, content: '# A note\n\nNew.\n' };
    const written = await server.ask('POST', '/memory-bank/file', { headers, body: changed });
    expect(written.status).toBe(200);
    expect(server.repo.git('log', '-1', '--format=%an <%ae>').trim()).toBe('Ann <ann@example.com>');
  });

  deep('reads why it has failed, and can begin again', async () => {
    issuer.grants.refusal = { error: 'access_denied' };
    await page.goto(`${server.url}/view/timeline`);
    await button().click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await page.getByText('has refused the sign-in: access_denied').waitFor();
    expect(page.url()).toBe(`${server.url}/view/sign-in`);
    issuer.grants.refusal = undefined;
    await page.getByRole('button', { name: 'Begin again' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(page.url()).toBe(`${server.url}/view/timeline`);
  });

  deep('is not signed in by a link to the sign-in of somebody else', async () => {
    const headers = { authorization: '', 'x-memory-page': 'the-secret-of-the-page-of-an-attacker' };
    const begun = await server.ask('POST', '/sign-in/begin', { headers });
    const back = await fetch(begun.body.location, { redirect: 'manual' });
    await page.goto(back.headers.get('location') ?? '');
    await page.getByText('This browser did not begin this sign-in').waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(issuer.grants.redeemed).toEqual([]);
    expect(page.url()).toBe(`${server.url}/view/sign-in`);
  });

  deep.each(['https://evil.example/view/', '//evil.example/view', '/docs', '/view/sign-in'])(
    'does not go on to %s, even if that was kept',
    async (elsewhere) => {
      await page.addInitScript(`if (location.pathname === '/view/sign-in') {
        const [attempt] = JSON.parse(localStorage.getItem('memory-bank-sign-in') ?? '[{}]');
        attempt.page = ${JSON.stringify(elsewhere)};
        localStorage.setItem('memory-bank-sign-in', JSON.stringify([attempt]));
      }`);
      await page.goto(`${server.url}/view/timeline`);
      await button().click();
      await page.getByRole('link', { name: 'Timeline' }).waitFor();
      expect(page.url()).toBe(`${server.url}/view/`);
    },
  );

  deep('gets pages that keep the rules of accessibility', async () => {
    issuer.grants.refusal = { error: 'access_denied' };
    await page.goto(`${server.url}/view/timeline`);
    await button().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await button().click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  deep('at an address that the issuer does not know is led to the other one', async () => {
    const { port } = new URL(server.url);
    await page.goto(`http://localhost:${port}/view/timeline`);
    const link = page.getByRole('link', { name: server.url });
    expect(await link.getAttribute('href')).toBe(`${server.url}/view/timeline`);
    expect(await button().count()).toBe(0);
  });

  deep('sees all projects that the token names', async () => {
    const projects = ['api', 'web'].map((name) => ({ name, app: projectApp(Repo.create().root) }));
    const several = await start(projects);
    await page.goto(`${several.url}/p/web/view/records`);
    await button().click();
    await page.getByRole('heading', { name: 'Records' }).waitFor();
    expect(page.url()).toBe(`${several.url}/p/web/view/records`);
    await page.goto(`${several.url}/p/api/view/records`);
    await page.getByRole('heading', { name: 'Records' }).waitFor();
    await page.goto('about:blank');
    await several.close();
    for (const { app } of projects) await app.close();
  });
});
