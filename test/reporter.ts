import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';

/** Begins the message about a process of vitest that has ended by itself, and with it the test file that it ran. */
const workerEnd = '[vitest-pool]: Worker ';

/** Begins the note of a test that is skipped only on Windows. */
export const windowsMark = 'not on Windows: ';

/**
 * Ends the output with a machine-readable line: `12 passed, 0 failed, 3 skipped`. The lines before it have the
 * failures, each after `FAILED: `. On Windows, a line before it has the number of tests that are skipped only there,
 * where all cases of a table are one test. The lines before that have their reasons.
 *
 * With `MEMORY_BANK_TEST_RESULT`, that file gets the numbers and the lost files instead of the last line; see `run.js`.
 */
export default class CountReporter implements Reporter {
  /** The files that have not ended, by their ids. */
  readonly #open = new Set<string>();

  onTestRunStart(files: readonly TestSpecification[]): void {
    for (const { moduleId } of files) this.#open.add(moduleId);
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#open.delete(moduleId);
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message: string }[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    const unsupported = new Map<string, string>();
    const ends = errors.map(messageOf);
    const isWorkerLoss = ends.length > 0 && ends.every((end) => end.startsWith(workerEnd));
    const lost = isWorkerLoss ? [...this.#open] : [];
    const resultFile = process.env.MEMORY_BANK_TEST_RESULT;
    const failures = resultFile && lost.length > 0 ? [] : ends;
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const result = test.result();
        // The short run has these tests.
        if (module.project.name === 'deep' && result.state === 'skipped' && !result.note) continue;
        count[result.state] += 1;
        if (result.state === 'failed') {
          const name = `${module.relativeModuleId} > ${test.fullName}`;
          failures.push(`${name}: ${result.errors.map(messageOf).join('; ')}`);
        }
        if (result.state !== 'skipped' || !result.note?.startsWith(windowsMark)) continue;
        const place = `${module.moduleId}:${test.location?.line}`;
        unsupported.set(place, `${result.note} (${test.fullName})`);
      }
      // Of a file that cannot be loaded, and of hooks.
      for (const group of [module, ...module.children.allSuites()]) {
        const name = [module.relativeModuleId, ...('fullName' in group ? [group.fullName] : [])];
        for (const error of group.errors())
          failures.push(`${name.join(' > ')}: ${messageOf(error)}`);
      }
    }
    const { passed, skipped, pending } = count;
    const line = `${passed} passed, ${failures.length} failed, ${skipped + pending} skipped`;
    // At exit, because the other reporters print until then.
    process.on('exit', () => {
      if (process.platform === 'win32') {
        for (const reason of unsupported.values()) process.stdout.write(`${reason}\n`);
        process.stdout.write(`${unsupported.size} tests are not for Windows\n`);
      }
      for (const failure of failures) process.stdout.write(`FAILED: ${failure}\n`);
      if (resultFile) {
        const result = { passed, failed: failures.length, skipped: skipped + pending, lost };
        writeFileSync(resultFile, JSON.stringify(result));
      } else process.stdout.write(`${line}\n`);
    });
  }
}

/** The first line of an error. */
function messageOf(error: { message: string }): string {
  return error.message.split('\n', 1)[0] ?? '';
}
