// The programs that the matrix needs and this machine may lack, brought by npm into a folder once.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A program that a package has.
 *
 * @typedef {{ readonly spec: string, readonly path: string }} Packed
 */

/**
 * Brings a program.
 *
 * @param {string} cache
 * @param {Packed} packed the package with its version, and the path of the program in it.
 * @returns its path; undefined where there is none for this system, or npm cannot bring it.
 */
export function packedProgram(cache, { spec, path }) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = join(cache, spec.replace(/^@/, '').replaceAll(/[/@]/g, '-'));
  const program = join(folder, 'package', path);
  if (existsSync(program)) return program;
  const begun = `${folder}.${process.pid}`;
  mkdirSync(begun, { recursive: true });
  /** @param {string} command @param {string[]} args */
  const call = (command, ...args) =>
    spawnSync(command, args, { cwd: begun, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  const isPacked = call('npm', 'pack', '--silent', spec);
  const file = readdirSync(begun).find((name) => name.endsWith('.tgz'));
  if (!isPacked || file === undefined || !call('tar', 'xzf', file)) {
    rmSync(begun, { recursive: true, force: true });
    return undefined;
  }
  rmSync(join(begun, file));
  chmodSync(join(begun, 'package', path), 0o755);
  renameSync(begun, folder);
  return program;
}
