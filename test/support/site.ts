import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { bundlePage } from '../../build.js';
import type { CopyParts } from '../../src/server/copy/copy-parts.ts';
import { bytesIn } from '../../src/server/copy/part-letters.ts';
import { siteFiles } from '../../src/server/view/site.ts';
import { Misbehaviour, startBrowser } from './browser.ts';
import { isFull } from './depth.ts';
import { newFolder } from './process.ts';
import { projectApp } from './project-app.ts';
import type { Repo } from './repo.ts';

type Browser = Awaited<ReturnType<typeof startBrowser>>;

/** Copies of the pages of a memory, and a browser that opens them from files. */
export class Sites {
  readonly #repo: Repo;
  readonly #pages: string;
  readonly #browser: Browser;

  private constructor(repo: Repo, pages: string, browser: Browser) {
    this.#repo = repo;
    this.#pages = pages;
    this.#browser = browser;
  }

  /** Bundles the pages; the short run opens no browser, so that their script is only a text. */
  static async of(repo: Repo): Promise<Sites> {
    const pages = newFolder();
    if (isFull) await bundlePage(pages);
    else {
      for (const name of ['index.html', 'icon.svg', 'style.css']) {
        copyFileSync(join('src/server/page', name), join(pages, name));
      }
      for (const name of ['copy.js', 'copy-start.js']) {
        writeFileSync(join(pages, name), '"the script"');
      }
    }
    return new Sites(repo, pages, isFull ? await startBrowser() : undefined);
  }

  get hasBrowser(): boolean {
    return this.#browser !== undefined;
  }

  /** Returns the files of a copy. */
  async files(
    single?: string,
    branches: readonly string[] = [],
  ): Promise<ReadonlyMap<string, string>> {
    const app = projectApp(this.#repo.root);
    const settings = { folder: this.#pages, single, branches };
    try {
      return await siteFiles(app, app.connect(), settings, {});
    } finally {
      await app.close();
    }
  }

  /** Writes a copy and returns the address of its first page. */
  async write(single?: string, branches: readonly string[] = []): Promise<string> {
    const folder = newFolder();
    for (const [name, content] of await this.files(single, branches)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return pathToFileURL(join(folder, single ?? 'index.html')).href;
  }

  /** Opens a copy, which must show no error and load nothing from elsewhere. */
  async visit(address: string, work: (page: Page) => Promise<void>): Promise<void> {
    const page = await this.#browser?.newPage();
    if (!page) return;
    const bad = new Misbehaviour(page, new URL('.', address).href);
    await page.goto(address);
    await work(page);
    expect(bad.found).toEqual([]);
    await page.close();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }
}

/** Returns the parts of a copy in several files, as the page reads them. */
export function partsOf(files: ReadonlyMap<string, string>): CopyParts {
  const parts = [...files].flatMap(([file, text]) => {
    const [, name = '', packed = ''] = /^memoryPart\("([\w-]+)","(.*)"\);\n$/.exec(text) ?? [];
    if (!file.startsWith('data/')) return [];
    const bytes = inflateRawSync(bytesIn(packed));
    return [[name, name === 'vectors' ? new Uint8Array(bytes) : JSON.parse(bytes.toString())]];
  });
  // Each part was written with the type of its name.
  return Object.fromEntries(parts) as CopyParts;
}
