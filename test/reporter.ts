import type { Reporter, TestModule } from 'vitest/node';

/** Ends the output with a machine-readable line: `12 passed, 0 failed, 3 skipped`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    let broken = errors.length;
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
      // A file that cannot be loaded, or whose hook fails, has no failed test.
      if (module.state() === 'failed' && count.failed === before) broken += 1;
    }
    const { passed, failed, skipped, pending } = count;
    const line = `${passed} passed, ${failed + broken} failed, ${skipped + pending} skipped`;
    // At exit, because the other reporters print until then.
    process.on('exit', () => process.stdout.write(`${line}\n`));
  }
}
