// The newest git that Debian has, for the matrix: unpacked into a folder, with the libraries that it needs.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ownSuite, unpackPackages } from './debian-packages.js';

/** Packages that only scripts of git need. */
const present = ['perl', 'liberror-perl'];

/**
 * Brings git into a folder once.
 *
 * @param {string} folder
 * @returns the folder for the PATH; undefined where there is no such system, or apt cannot bring it.
 */
export function newestGit(folder) {
  const suite = ownSuite();
  if (process.arch !== 'x64' || suite === undefined) return undefined;
  if (existsSync(folder)) return join(folder, 'bin');
  const tools = join(dirname(folder), 'patchelf');
  if (!unpackPackages(tools, suite, ['patchelf'])) return undefined;
  const patchelf = join(tools, 'root/usr/bin/patchelf');
  /** @param {string} begun */
  const complete = (begun) => useLibraries(begun, folder, patchelf);
  return unpackPackages(folder, 'sid', ['git'], { present, complete })
    ? join(folder, 'bin')
    : undefined;
}

/**
 * Lets the programs use the libraries that come with them, at the place to which they will be moved.
 *
 * @param {string} begun the folder in which they are.
 * @param {string} folder
 * @param {string} patchelf the program.
 */
function useLibraries(begun, folder, patchelf) {
  const places = ['root/usr/lib/x86_64-linux-gnu', 'root/lib/x86_64-linux-gnu'];
  const loaders = places.map((one) => join(one, 'ld-linux-x86-64.so.2'));
  const loader = loaders.find((path) => existsSync(join(begun, path)));
  if (loader === undefined) return false;
  const helpers = join(begun, 'root/usr/lib/git-core');
  const programs = [
    join(begun, 'root/usr/bin/git'),
    ...readdirSync(helpers, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(helpers, name))
      .filter((path) => readFileSync(path).subarray(0, 4).toString('latin1') === '\x7fELF'),
  ];
  const libraries = places.map((one) => join(folder, one)).join(':');
  // Forced, so that it holds for what the libraries load as well.
  const args = [
    ...['--force-rpath', '--set-interpreter', join(folder, loader)],
    ...['--set-rpath', libraries],
  ];
  if (spawnSync(patchelf, [...args, ...programs], { stdio: 'ignore' }).status !== 0) return false;
  const usr = join(folder, 'root/usr');
  const program = join(begun, 'bin/git');
  mkdirSync(join(begun, 'bin'));
  writeFileSync(program, `#!/bin/sh\nGIT_EXEC_PATH=${usr}/lib/git-core exec ${usr}/bin/git "$@"\n`);
  chmodSync(program, 0o755);
  return true;
}
