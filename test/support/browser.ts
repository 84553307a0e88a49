import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

/**
 * Unpacks the browser of the package once for all processes of a run.
 *
 * The package unpacks in place, and another test process would start the file while it is being
 * written. A process of its own writes into a folder of its own, so that nobody else has the file
 * open, and the rename makes it visible.
 *
 * @returns the path of the program.
 */
function unpackBrowser(): string {
  const folder = join(tmpdir(), 'memory-bank-browser');
  const program = join(folder, 'chromium');
  if (existsSync(program)) return program;
  const own = mkdtempSync(`${folder}-`);
  const script = 'await (await import("@sparticuz/chromium")).default.executablePath()';
  execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: own },
  });
  try {
    renameSync(own, folder);
  } catch (error) {
    // Another process was first.
    if (!existsSync(program)) throw error;
    rmSync(own, { recursive: true });
  }
  return program;
}

/**
 * Starts a browser: the one of the package, which runs on Linux, or an installed one.
 *
 * @returns undefined where there is none.
 */
export async function startBrowser(): Promise<Browser | undefined> {
  const { chromium } = await import('playwright-core');
  if (process.platform === 'linux' && process.arch === 'x64') {
    // Only what a container needs: the other switches of the package turn protections off.
    const args = ['--no-sandbox', '--disable-gpu', '--no-zygote'];
    return chromium.launch({ executablePath: unpackBrowser(), args });
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
