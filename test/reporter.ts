import type { Reporter, TestModule } from 'vitest/node';

/** Begins the note of a test that is skipped only on Windows. */
export const windowsMark = 'not on Windows: ';

/**
 * Ends the output with a machine-readable line: `12 passed, 0 failed, 3 skipped`. On Windows, a line before it
 * has the number of tests that are skipped only there, where all cases of a table are one test. The lines before that
 * have their reasons.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const unsupported = new Map<string, string>();
    let broken = errors.length;
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) {
        const result = test.result();
        count[result.state] += 1;
        if (result.state !== 'skipped' || !result.note?.startsWith(windowsMark)) continue;
        const place = `${module.moduleId}:${test.location?.line}`;
        unsupported.set(place, `${result.note} (${test.fullName})`);
      }
      // A file that cannot be loaded, or whose hook fails, has no failed test.
      if (module.state() === 'failed' && count.failed === before) broken += 1;
    }
    const { passed, failed, skipped, pending } = count;
    const line = `${passed} passed, ${failed + broken} failed, ${skipped + pending} skipped`;
    // At exit, because the other reporters print until then.
    process.on('exit', () => {
      if (process.platform === 'win32') {
        for (const reason of unsupported.values()) process.stdout.write(`${reason}\n`);
        process.stdout.write(`${unsupported.size} tests are not for Windows\n`);
      }
      process.stdout.write(`${line}\n`);
    });
  }
}
