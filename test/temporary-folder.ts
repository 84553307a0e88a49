import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives a run of the tests a temporary folder of its own, and removes it after the last test.
 *
 * A test and the programs that it starts create their folders there, so that a test that fails
 * leaves nothing behind either.
 */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'memory-bank-test-'));
  // Some tests start a program as another user.
  chmodSync(folder, 0o1777);
  for (const name of ['TMPDIR', 'TMP', 'TEMP']) process.env[name] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
