import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownSuite, programCache, unpackPackages } from '../debian-packages.js';

const packages = ['openssh-server', 'gitolite3', 'libwrap0', 'libnss-wrapper'];

/** The servers of Debian, unpacked. */
export interface DebianServers {
  readonly sshd: string;
  /** The variables for sshd: its libraries, and one by which users can be those of files. */
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the program `gitolite`. */
  readonly gitolite: string;
}

let found: DebianServers | undefined;
let isMissing = false;

/**
 * Brings the servers once.
 *
 * @returns undefined where there is no such system, or apt cannot bring them; the output says it.
 */
export function debianServers(): DebianServers | undefined {
  if (found || isMissing) return found;
  const suite = ownSuite();
  mkdirSync(programCache, { recursive: true });
  const folder = join(programCache, `servers-${suite}-${process.arch}`);
  const isThere =
    suite !== undefined &&
    unpackPackages(folder, suite, packages, { complete: (begun) => moveGitolite(begun, folder) });
  if (!isThere) {
    isMissing = true;
    console.log(
      '"sshd" and "gitolite" were not tried: they need packages of Debian, and apt brings none here.',
    );
    return undefined;
  }
  const usr = join(folder, 'root/usr');
  const [triplet = ''] = readdirSync(join(usr, 'lib')).filter((name) => name.includes('-linux-'));
  const libraries = join(usr, 'lib', triplet);
  found = {
    sshd: join(usr, 'sbin/sshd'),
    env: { LD_LIBRARY_PATH: libraries, LD_PRELOAD: join(libraries, 'libnss_wrapper.so') },
    gitolite: join(usr, 'bin'),
  };
  return found;
}

/** Names the place of gitolite in its files, which is always the same in Debian. */
function moveGitolite(begun: string, folder: string): boolean {
  const place = '/usr/share/gitolite3';
  for (const part of ['usr/bin/gitolite', 'usr/share/gitolite3/gitolite-shell']) {
    const path = join(begun, 'root', part);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(`'${place}'`)) return false;
    writeFileSync(path, text.replace(`'${place}'`, `'${join(folder, 'root')}${place}'`));
  }
  return true;
}
