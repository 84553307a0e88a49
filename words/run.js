// `npm run words -- <folder of texts>`: makes the table of word vectors that ships with the program.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle } from '../build.js';

const top = resolve(import.meta.dirname, '..');
const cache = join(top, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'words-'));
try {
  await bundle('words/make-table.ts', folder);
  const args = ['--max-old-space-size=6000', join(folder, 'make-table.js')];
  const { status } = spawnSync(process.execPath, [...args, ...process.argv.slice(2)], {
    cwd: top,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
