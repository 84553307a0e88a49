import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../build.js';

/**
 * Bundles the driver of the fault suite, where any user may run it.
 *
 * @param {string} folder
 * @returns {Promise<string>} its path
 */
export async function bundleDriver(folder) {
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await bundle('test/faults/driver.ts', join(folder, 'driver'));
  return join(folder, 'driver', 'driver.js');
}
