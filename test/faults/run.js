// `npm run test:faults -- [seed] [part...]`: tries every fault at every point and prints the violations.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from '../../build.js';
import { bundleDriver } from './bundle.js';

const top = resolve(import.meta.dirname, '../..');
// In memory if possible, because there are thousands of repositories.
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folder = mkdtempSync(join(base, 'memory-bank-faults-'));
try {
  const driver = await bundleDriver(folder);
  await bundle('test/faults/full.ts', join(folder, 'full'));
  const seed = process.argv[2] ?? `${Date.now() % 1_000_000}`;
  const program = join(folder, 'full', 'full.js');
  const args = ['--enable-source-maps', program, driver, seed, ...process.argv.slice(3)];
  const { status } = spawnSync(process.execPath, args, {
    cwd: top,
    env: { ...process.env, TMPDIR: folder },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
