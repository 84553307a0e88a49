import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is waited for comes when the machine has time for it.
    expect: { poll: { timeout: 60_000 } },
    // Fails on a missing snapshot instead of writing it; `--update` writes.
    update: 'none',
    reporters: ['default', './test/reporter.ts'],
  },
});
