import { beforeEach, test } from 'vitest';
import { windowsMark } from '../reporter.ts';

const isWindows = process.platform === 'win32';

/**
 * Declares a test that is skipped on Windows.
 *
 * @param reason why it cannot run there.
 */
export function notOnWindows(reason: string) {
  return test.extend<{ system: undefined }>({
    system: [
      async ({ skip }, use) => {
        skip(isWindows, windowsMark + reason);
        await use(undefined);
      },
      { auto: true },
    ],
  });
}

/**
 * Skips all tests of the group, or of the file, on Windows.
 *
 * @param reason why they cannot run there.
 */
export function skipOnWindows(reason: string): void {
  beforeEach(({ skip }) => skip(isWindows, windowsMark + reason));
}

const noLinks = 'only an administrator may make a link, and Wine 8 makes none';

/** Declares a test that makes symbolic links. */
export const linked = notOnWindows(noLinks);

/** Skips all tests of the group on Windows, because they make symbolic links. */
export function skipWithoutLinks(): void {
  skipOnWindows(noLinks);
}

/** Declares a test that sends a signal to a program. */
export const signalled = notOnWindows(
  'a signal of Node.js ends the program there, which is not told',
);

/** Declares a test that makes a named pipe. */
export const piped = notOnWindows('a named pipe is not a file there');

/** Declares a test that runs scripts of `/bin/sh`. */
export const inShell = notOnWindows('it has no /bin/sh; its own shells are tested in cli');
