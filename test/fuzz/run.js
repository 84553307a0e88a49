// `npm run fuzz -- <target> [seconds] [seed]`: feeds one parser with broken input until the time is over.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from '../../build.js';

const top = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'memory-bank-fuzz-'));
try {
  await bundle('test/fuzz/fuzz.ts', folder);
  const args = ['--enable-source-maps', join(folder, 'fuzz.js'), ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, args, { cwd: top, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
