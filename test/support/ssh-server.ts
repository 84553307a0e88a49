import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The absolute path of sshd, which it needs to start itself again; undefined without it. */
const sshd = [
  '/usr/sbin/sshd',
  ...(process.env.PATH ?? '').split(':').map((one) => join(one, 'sshd')),
].find((path) => spawnSync(path, ['-V']).error === undefined);

/** A real SSH server for the current user, on a free port of this machine. */
export class SshServer {
  /** The environment in which git reaches it. */
  readonly env: NodeJS.ProcessEnv;
  readonly #port: number;
  readonly #process: ChildProcess;

  private constructor(port: number, child: ChildProcess, env: NodeJS.ProcessEnv) {
    this.#port = port;
    this.#process = child;
    this.env = env;
  }

  /**
   * Starts it, with new keys in a folder.
   *
   * @returns undefined where sshd is not installed, or cannot be started.
   */
  static async start(folder: string): Promise<SshServer | undefined> {
    if (sshd === undefined) return undefined;
    mkdirSync(folder, { recursive: true });
    const at = (name: string) => join(folder, name);
    for (const name of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
    }
    writeFileSync(at('authorized'), readFileSync(at('user.pub')));
    chmodSync(at('authorized'), 0o600);
    const port = await freePort();
    const config = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('authorized')}`,
      'StrictModes no',
      'PermitRootLogin yes',
      'PidFile none',
      'MaxStartups 100',
    ];
    writeFileSync(at('config'), `${config.join('\n')}\n`);
    const child = spawn(sshd, ['-D', '-e', '-f', at('config')], { stdio: 'ignore' });
    const options = ['BatchMode=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null'];
    const ssh = ['ssh', '-F', 'none', '-i', at('user'), ...options.flatMap((one) => ['-o', one])];
    const env = { GIT_SSH_COMMAND: [...ssh, '-o', 'LogLevel=ERROR'].join(' ') };
    for (let attempt = 0; attempt < 50 && child.exitCode === null; attempt++) {
      const login = [
        ...ssh.slice(1),
        '-p',
        String(port),
        `${userInfo().username}@127.0.0.1`,
        'true',
      ];
      if (spawnSync('ssh', login, { stdio: 'ignore' }).status === 0) {
        return new SshServer(port, child, env);
      }
      await setTimeout(100);
    }
    child.kill();
    return undefined;
  }

  url(path: string): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.#port}${path}`;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill();
    await once(this.#process, 'exit');
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
