import { test } from 'vitest';

/**
 * Declares a test that is skipped on Windows.
 *
 * @param _reason why it cannot run there, for the reader.
 */
export function notOnWindows(_reason: string) {
  return test.skipIf(process.platform === 'win32');
}

/** Declares a test that makes symbolic links. */
export const linked = notOnWindows('only an administrator may make a link, and Wine 8 makes none');
