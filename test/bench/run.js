// `npm run bench -- [name] [options]`: runs one bench or all of them, prints the reports and saves them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundle, bundlePage } from '../../build.js';
import { benches } from './benches.js';

const [first = '', ...rest] = process.argv.slice(2);
const named = first !== '' && !first.startsWith('-');
if (named && !benches.has(first)) {
  const known = [...benches].map(([name, about]) => `  ${name.padEnd(10)} ${about}`);
  console.error([`Unknown bench "${first}"; choose one of:`, ...known].join('\n'));
  process.exit(2);
}
const options = named || first === '' ? rest : [first, ...rest];
const top = resolve(import.meta.dirname, '../..');
// Packages with files of their own, such as a browser, are found from here.
const cache = join(top, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'bench-'));
try {
  mkdirSync(join(folder, 'page'));
  await bundlePage(join(folder, 'page'));
  for (const name of named ? [first] : benches.keys()) {
    const outdir = join(folder, name);
    await bundle(`test/bench/${name}.ts`, outdir, ['playwright-core', 'esbuild']);
    const args = ['--enable-source-maps', join(outdir, `${name}.js`), ...options];
    // As many threads as `main.cjs` gives the program: some benches run parts of it themselves.
    const env = { UV_THREADPOOL_SIZE: '16', ...process.env };
    const { status } = spawnSync(process.execPath, args, { cwd: top, stdio: 'inherit', env });
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
