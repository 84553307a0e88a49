// Packages of Debian, unpacked into a folder without installing them: programs that tests need and this machine may
// lack.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder of the programs that the tests bring. */
export const programCache = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'memory-bank-matrix',
);

const key = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The mirror from which this machine installs packages. */
function mirror() {
  const folder = '/etc/apt/sources.list.d';
  const names = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  const texts = ['/etc/apt/sources.list', ...names]
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'));
  return /^(?:URIs:|deb(?: \[[^\]]*\])?) *(http\S+\/debian)\/?(?:\s|$)/m.exec(
    texts.join('\n'),
  )?.[1];
}

/** The suite of Debian of which this machine is, such as `bookworm`; undefined for another system. */
export function ownSuite() {
  const path = '/etc/os-release';
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return /^ID=debian$/m.test(text) ? /^VERSION_CODENAME=(\w+)$/m.exec(text)?.[1] : undefined;
}

/**
 * What comes along, and what is done with it.
 *
 * @typedef {{ readonly present?: readonly string[], readonly complete?: (begun: string) => boolean }} Unpacking
 */

/**
 * Unpacks packages into the folder `root` of a folder once.
 *
 * @param {string} folder
 * @param {string} suite
 * @param {readonly string[]} packages
 * @param {Unpacking} [more] With `present`, all that the packages need comes along, except for these; otherwise only
 *   the packages themselves. `complete` changes the files before others can see them, and returns false if that fails.
 * @returns whether they are there; not so where there is no such system, or apt cannot bring them.
 */
export function unpackPackages(folder, suite, packages, { present, complete = () => true } = {}) {
  if (existsSync(folder)) return true;
  const source = mirror();
  if (process.platform !== 'linux' || source === undefined) return false;
  const begun = `${folder}.${process.pid}`;
  for (const name of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(begun, name), { recursive: true });
  }
  const list = join(begun, 'sources.list');
  writeFileSync(list, `deb [signed-by=${key}] ${source} ${suite} main\n`);
  const settings = [
    `Dir::Etc::SourceList=${list}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State=${join(begun, 'state')}`,
    `Dir::State::status=${join(begun, 'state/status')}`,
    `Dir::Cache=${join(begun, 'cache')}`,
    'APT::Sandbox::User=root',
    'APT::Install-Recommends=false',
    'APT::Get::Download-Only=true',
    'Acquire::http::Timeout=20',
    'Acquire::Retries=1',
  ].flatMap((setting) => ['-o', setting]);
  const installed = (present ?? []).map(
    (name) => `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 99\n`,
  );
  writeFileSync(join(begun, 'state/status'), installed.join('\n'));
  const archives = join(begun, 'cache/archives');
  /** @param {string} cwd @param {string} command @param {string[]} args */
  const call = (cwd, command, ...args) =>
    spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  const get = present ? ['-y', 'install'] : ['download'];
  const isThere =
    call(begun, 'apt-get', ...settings, '-qq', 'update') &&
    call(archives, 'apt-get', ...settings, '-qq', ...get, ...packages) &&
    readdirSync(archives)
      .filter((name) => name.endsWith('.deb'))
      .every((name) => call(begun, 'dpkg-deb', '-x', join(archives, name), 'root')) &&
    complete(begun);
  for (const name of ['state', 'cache']) rmSync(join(begun, name), { recursive: true });
  if (isThere) {
    try {
      renameSync(begun, folder);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    }
  }
  rmSync(begun, { recursive: true, force: true });
  return isThere;
}
