// Installs the clients that npm has, each into a folder of its own in the user's cache, once.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'memory-bank-clients');

/**
 * Installs a package without running its scripts, which are of no use here: they link the program that an optional
 * dependency for this system contains, or download one, which this run does not do.
 *
 * @param {string} spec the package with its version.
 * @param {string} path the path of the program in the installation.
 * @returns the path of the program; undefined if npm cannot bring it, or it is not for this system.
 */
export function installedProgram(spec, path) {
  const folder = join(cache, spec.replace(/^@/, '').replaceAll(/[/@]/g, '-'));
  const program = join(folder, path);
  if (existsSync(program)) return program;
  const begun = `${folder}.${process.pid}`;
  mkdirSync(begun, { recursive: true });
  writeFileSync(join(begun, 'package.json'), '{ "private": true }');
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', spec];
  const { status } = spawnSync('npm', args, { cwd: begun, stdio: 'ignore', timeout: 600_000 });
  if (status === 0) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(begun, folder);
  }
  rmSync(begun, { recursive: true, force: true });
  return existsSync(program) ? program : undefined;
}
