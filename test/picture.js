// `npm run picture`: draws the pictures of the documentation: a terminal, and pages in a browser.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle, bundlePage } from '../build.js';

await import('./terminal.js');

const top = resolve(import.meta.dirname, '..');
// The browser is a package, which the bundle finds from here.
const cache = join(top, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'pictures-'));
try {
  await bundle('test/pictures.ts', folder, ['playwright-core']);
  const pages = join(folder, 'page');
  mkdirSync(pages);
  await bundlePage(pages);
  const args = [join(folder, 'pictures.js'), pages, join(top, 'docs')];
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
