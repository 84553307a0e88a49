import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const all = 'test/**/*.test.ts';

/** Test files that try more in the full run: those that import depth.ts. */
const deep = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(name, 'utf8').includes('/support/depth.ts'));

/** Of each project: that of the whole would run in addition. */
const globalSetup = join(import.meta.dirname, 'test/temporary-folder.ts');

export default defineConfig({
  test: {
    pool: 'forks',
    // One process for each core of a small machine; each loads the modules once.
    maxWorkers: 2,
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A busy machine may take long for what a test waits for.
    expect: { poll: { timeout: 60_000 } },
    // Fails on a missing snapshot instead of writing it; `--update` writes.
    update: 'none',
    includeTaskLocation: true,
    reporters: ['default', './test/reporter.ts'],
    projects: [
      { extends: true, test: { name: 'short', include: [all], globalSetup } },
      // The suites of the toolset, with each entry of a log in a file of its own.
      {
        extends: true,
        test: {
          name: 'entries',
          include: ['test/unit/memory-bank/*.test.ts'],
          env: { TEST_LAYOUT: 'entries' },
          globalSetup,
        },
      },
      {
        extends: true,
        test: { name: 'full', include: deep, env: { TEST_DEPTH: 'full' }, globalSetup },
      },
    ],
  },
});
