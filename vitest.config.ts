import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const all = 'test/**/*.test.ts';

/** The import of depth.ts in a test file, with its names. */
const imported = /^import \{ ([^}]*) \} from '[./]*\/support\/depth\.ts';$/m;

/** Test files that try more in the full run: those with tests that try more, and those with tests of their own. */
const tried = { more: [] as string[], also: [] as string[] };
for (const name of readdirSync('test', { recursive: true, encoding: 'utf8' })) {
  const path = `test/${name.replaceAll('\\', '/')}`;
  const names = path.endsWith('.test.ts') && imported.exec(readFileSync(path, 'utf8'))?.[1];
  if (names) tried[/\b(?:isFull|runs|sample)\b/.test(names) ? 'more' : 'also'].push(path);
}

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
        test: { name: 'full', include: tried.more, env: { TEST_DEPTH: 'full' }, globalSetup },
      },
      {
        extends: true,
        test: {
          name: 'deep',
          include: tried.also,
          env: { TEST_DEPTH: 'deep' },
          allowOnly: true,
          globalSetup,
        },
      },
    ],
  },
});
