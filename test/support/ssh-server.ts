import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type DebianServers, debianServers } from './debian-servers.ts';

/** The folder that sshd wants if root starts it. */
const ownFolder = '/run/sshd';

/** A real SSH server for a user `git`, which is the current one, on a free port of this machine. */
export class SshServer {
  /** The environment in which git reaches it, with a key that it accepts. */
  readonly env: NodeJS.ProcessEnv;
  /** The home folder of its user. */
  readonly home: string;
  /** The log of all its runs. */
  log = '';
  readonly #folder: string;
  readonly #port: number;
  readonly #servers: DebianServers;
  #process: ChildProcess | undefined;

  private constructor(servers: DebianServers, folder: string, port: number) {
    this.#servers = servers;
    this.#folder = folder;
    this.#port = port;
    this.home = join(folder, 'home');
    this.env = { GIT_SSH_COMMAND: this.command({ key: this.#at('user') }) };
  }

  /**
   * Starts it, with new keys in a folder.
   *
   * @returns undefined where apt does not bring it.
   */
  static async start(folder: string): Promise<SshServer | undefined> {
    const servers = debianServers();
    if (!servers) return undefined;
    const server = new SshServer(servers, folder, await freePort());
    server.#prepare();
    await server.begin();
    return server;
  }

  url(path: string): string {
    return `ssh://git@127.0.0.1:${this.#port}${path}`;
  }

  /** Makes a key; returns its path. */
  makeKey(name: string, passphrase = ''): string {
    const path = this.#at(name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', path]);
    return path;
  }

  /** Makes a key that it accepts; returns its path. */
  acceptKey(name: string, passphrase = ''): string {
    const path = this.makeKey(name, passphrase);
    appendFileSync(join(this.home, '.ssh/authorized_keys'), readFileSync(`${path}.pub`));
    return path;
  }

  /** The command for git that runs ssh without the settings of this machine. */
  command({ key, hosts = this.#at('known_hosts') }: SshOptions): string {
    const options = ['IdentitiesOnly=yes', 'IdentityAgent=none', `UserKnownHostsFile=${hosts}`];
    const files = ['GlobalKnownHostsFile=/dev/null', `IdentityFile=${key}`];
    return ['ssh -F none', ...options, ...files].join(' -o ');
  }

  /** Starts its process. */
  async begin(): Promise<void> {
    const env = {
      ...this.#servers.env,
      NSS_WRAPPER_PASSWD: this.#at('passwd'),
      NSS_WRAPPER_GROUP: this.#at('group'),
    };
    const args = ['-D', '-e', '-f', this.#at('config')];
    const child = spawn(this.#servers.sshd, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = child;
    const before = this.log.length;
    await new Promise<void>((done, fail) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
        if (this.log.includes('Server listening', before)) done();
      });
      child.on('error', fail);
      child.on('exit', () => fail(new Error(`sshd does not start: ${this.log}`)));
    });
  }

  /** Ends all its processes at once, with those of connections. */
  async end(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    // Each connection leads a session of its own, so that a group would not have all.
    for (const pid of [child.pid, ...descendants(child.pid)]) endProcess(pid);
    await ended;
  }

  #at(name: string): string {
    return join(this.#folder, name);
  }

  /** Writes its users, keys and settings. */
  #prepare(): void {
    mkdirSync(join(this.home, '.ssh'), { recursive: true });
    const { uid, gid } = userInfo();
    if (uid === 0) mkdirSync(ownFolder, { recursive: true, mode: 0o755 });
    const users = [
      `git:x:${uid}:${gid}::${this.home}:/bin/sh`,
      'sshd:x:65534:65534::/:/usr/sbin/nologin',
    ];
    writeFileSync(this.#at('passwd'), `${users.join('\n')}\n`);
    writeFileSync(this.#at('group'), `git:x:${gid}:\nnogroup:x:65534:\n`);
    this.makeKey('host');
    const key = readFileSync(this.#at('host.pub'), 'utf8');
    writeFileSync(this.#at('known_hosts'), `[127.0.0.1]:${this.#port} ${key}`);
    this.acceptKey('user');
    chmodSync(join(this.home, '.ssh/authorized_keys'), 0o600);
    const config = [
      `Port ${this.#port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${this.#at('host')}`,
      `AuthorizedKeysFile ${join(this.home, '.ssh/authorized_keys')}`,
      // The temporary folder above it belongs to all users.
      'StrictModes no',
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      'UsePAM no',
      'PidFile none',
      'MaxStartups 100',
      // The git of this run, and gitolite.
      `SetEnv PATH=${this.#servers.gitolite}:${process.env.PATH}`,
    ];
    writeFileSync(this.#at('config'), `${config.join('\n')}\n`);
    // For git there: its configuration of the machine does not count in a test.
    writeFileSync(join(this.home, '.gitconfig'), '[init]\n\tdefaultBranch = main\n');
  }
}

/** How ssh is called. */
interface SshOptions {
  /** The path of the key. */
  readonly key: string;
  /** The path of the file of known servers; by default one that knows it. */
  readonly hosts?: string;
}

/** The processes that a process has started, directly or not. */
function descendants(parent: number): number[] {
  const found = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = found.stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const below = (one: number): number[] =>
    pairs.flatMap(([pid = 0, above]) => (above === one ? [pid, ...below(pid)] : []));
  return below(parent);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
