import type { Browser, Page } from 'playwright-core';

/**
 * Starts a browser: the one of the package, which runs on Linux, or an installed one.
 *
 * @returns undefined where there is none.
 */
export async function startBrowser(): Promise<Browser | undefined> {
  const { chromium } = await import('playwright-core');
  if (process.platform === 'linux' && process.arch === 'x64') {
    const { default: packed } = await import('@sparticuz/chromium');
    // Only what a container needs: the other switches of the package turn protections off.
    const args = ['--no-sandbox', '--disable-gpu', '--no-zygote'];
    const executablePath = await packed.executablePath();
    return chromium.launch({ executablePath, args });
  }
  for (const channel of ['chrome', 'msedge']) {
    const browser = await chromium.launch({ channel }).catch(() => undefined);
    if (browser) return browser;
  }
  return undefined;
}

/** Faults of a page: dialogs, errors on its console, and requests to other hosts. */
export class Misbehaviour {
  readonly found: string[] = [];

  constructor(page: Page, own: string) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.found.push(message.text());
    });
    page.on('pageerror', (error) => this.found.push(error.message));
    page.on('dialog', (dialog) => {
      this.found.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(own)) this.found.push(request.url());
    });
  }
}
