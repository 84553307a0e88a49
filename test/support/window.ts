import type { Browser, BrowserContext, Page } from 'playwright-core';
import { bundlePage } from '../../build.js';
import { viewFace } from '../../src/server/view/view-face.ts';
import { Misbehaviour, startBrowser } from './browser.ts';
import { type Served as HttpServed, key, serve } from './http.ts';
import { newFolder } from './process.ts';
import { Served } from './served.ts';

const token = 'token-of-the-tests';

/** The pages of a new memory in a browser, with the session of a person. */
export class Window {
  readonly server: HttpServed;
  /** Another server of the same memory, such as that of an agent. */
  readonly memory: Served;
  readonly context: BrowserContext;
  readonly #browser: Browser;

  private constructor(server: HttpServed, browser: Browser, context: BrowserContext) {
    this.server = server;
    this.memory = new Served(server.repo);
    this.#browser = browser;
    this.context = context;
  }

  /** @returns undefined where there is no browser. */
  static async open(): Promise<Window | undefined> {
    const browser = await startBrowser();
    if (!browser) {
      console.warn('There is no browser: the tests of the pages are skipped.');
      return undefined;
    }
    const folder = newFolder();
    await bundlePage(folder);
    const server = await serve(
      { personKeys: [key] },
      {},
      {},
      viewFace({ folder, version: '0.0.0', token }),
    );
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(`${server.url}/view?token=${token}`);
    await page.close();
    return new Window(server, browser, context);
  }

  /** Opens a page. */
  async page(path: string): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(this.server.url + path);
    return page;
  }

  /** Opens a page that must show no error, send nothing elsewhere and open no dialog. */
  async visit(path: string, work: (page: Page) => Promise<void>): Promise<void> {
    const page = await this.context.newPage();
    const bad = new Misbehaviour(page, this.server.url);
    await page.goto(this.server.url + path);
    await work(page);
    const { found } = bad;
    if (found.length > 0) throw new Error(`The page misbehaves: ${found.join('; ')}`);
    await page.close();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.memory.close();
    await this.server.close();
  }
}
