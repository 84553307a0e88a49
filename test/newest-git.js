// The newest git that Debian has, for the matrix: unpacked into a folder, with the libraries that it needs.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Packages that only scripts of git need. */
const needless = ['perl', 'liberror-perl'];
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

/**
 * Brings git into a folder once.
 *
 * @param {string} folder
 * @returns the folder for the PATH; undefined where there is no such system, or apt cannot bring it.
 */
export function newestGit(folder) {
  const program = join(folder, 'bin/git');
  if (existsSync(program)) return join(folder, 'bin');
  const source = mirror();
  if (process.platform !== 'linux' || process.arch !== 'x64' || source === undefined)
    return undefined;
  const begun = `${folder}.${process.pid}`;
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'bin']) {
    mkdirSync(join(begun, name), { recursive: true });
  }
  const list = join(begun, 'sources.list');
  writeFileSync(list, `deb [signed-by=${key}] ${source} sid main\n`);
  const settings = [
    `Dir::Etc::SourceList=${list}`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State=${join(begun, 'state')}`,
    `Dir::State::status=${join(begun, 'state/status')}`,
    `Dir::Cache=${join(begun, 'cache')}`,
    'APT::Sandbox::User=root',
    'APT::Install-Recommends=false',
    'APT::Get::Download-Only=true',
  ].flatMap((setting) => ['-o', setting]);
  const installed = needless.map(
    (name) => `Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 99\n`,
  );
  writeFileSync(join(begun, 'state/status'), installed.join('\n'));
  /** @param {string} command @param {string[]} args */
  const call = (command, ...args) =>
    spawnSync(command, args, { cwd: begun, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
  const archives = join(begun, 'cache/archives');
  const isThere =
    call('apt-get', ...settings, '-qq', 'update') &&
    call('apt-get', ...settings, '-qq', '-y', 'install', 'git') &&
    readdirSync(archives)
      .filter((name) => name.endsWith('.deb'))
      .every((name) => call('dpkg-deb', '-x', join(archives, name), 'root'));
  if (!isThere) {
    rmSync(begun, { recursive: true, force: true });
    return undefined;
  }
  rmSync(join(begun, 'state'), { recursive: true });
  rmSync(join(begun, 'cache'), { recursive: true });
  renameSync(begun, folder);
  const root = join(folder, 'root');
  const libraries = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map((one) =>
    join(root, one),
  );
  const loader = libraries
    .map((one) => join(one, 'ld-linux-x86-64.so.2'))
    .find((path) => existsSync(path));
  const helpers = join(root, 'usr/lib/git-core');
  const programs = [
    join(root, 'usr/bin/git'),
    ...readdirSync(helpers, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(helpers, name))
      .filter((path) => readFileSync(path).subarray(0, 4).toString('latin1') === '\x7fELF'),
  ];
  // Forced, so that it holds for what the libraries load as well.
  const args = [
    '--force-rpath',
    '--set-interpreter',
    loader ?? '',
    '--set-rpath',
    libraries.join(':'),
  ];
  if (
    loader === undefined ||
    spawnSync('patchelf', [...args, ...programs], { stdio: 'ignore' }).status !== 0
  ) {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  writeFileSync(
    program,
    `#!/bin/sh\nGIT_EXEC_PATH=${helpers} exec ${join(root, 'usr/bin/git')} "$@"\n`,
  );
  chmodSync(program, 0o755);
  return join(folder, 'bin');
}
