import { basename } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };

/** How much of the id of a build is shown. */
const shownId = 8;

/**
 * Returns the version of this program with its build, since builds of one version can differ: `1.0.0+5f0c4b1e`.
 *
 * @param folder the folder of the running code: each build has its own, named by its id.
 */
export function programVersion(folder: string): string {
  const id = basename(folder);
  // Code that runs from its sources has no build.
  const isBuild = /^[0-9a-f]{16}$/.test(id);
  return isBuild ? `${packageJson.version}+${id.slice(0, shownId)}` : packageJson.version;
}
