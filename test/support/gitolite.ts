import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianServers } from './debian-servers.ts';
import { gitEnv, Repo } from './repo.ts';
import { SshServer } from './ssh-server.ts';

/** Gitolite behind a real SSH server: users by their keys, with rights on refs. */
export class Gitolite {
  readonly ssh: SshServer;
  readonly #folder: string;

  private constructor(ssh: SshServer, folder: string) {
    this.ssh = ssh;
    this.#folder = folder;
  }

  /**
   * Starts it in a new folder.
   *
   * @param users the names of users, who get keys.
   * @param rules its configuration (`gitolite.conf`).
   * @returns undefined where apt does not bring it.
   */
  static async start(
    folder: string,
    users: readonly string[],
    rules: string,
  ): Promise<Gitolite | undefined> {
    const ssh = await SshServer.start(folder);
    if (!ssh) return undefined;
    const server = new Gitolite(ssh, folder);
    server.#run('setup', '-pk', `${ssh.makeKey('admin')}.pub`);
    for (const user of users) {
      const key = `${ssh.makeKey(user)}.pub`;
      copyFileSync(key, join(ssh.home, `.gitolite/keydir/${user}.pub`));
    }
    writeFileSync(join(ssh.home, '.gitolite/conf/gitolite.conf'), rules);
    server.#run('compile');
    server.#run('trigger', 'POST_COMPILE');
    return server;
  }

  /** The address of a repository. */
  url(name: string): string {
    return this.ssh.url(`/${name}`);
  }

  /** The environment in which git reaches it as a user. */
  envOf(user: string): NodeJS.ProcessEnv {
    return { GIT_SSH_COMMAND: this.ssh.command({ key: join(this.#folder, user) }) };
  }

  /** The bare repository, without the rights. */
  repository(name: string): Repo {
    return new Repo(join(this.ssh.home, `repositories/${name}.git`));
  }

  #run(...args: string[]): void {
    const { gitolite = '' } = debianServers() ?? {};
    const env = { ...gitEnv, HOME: this.ssh.home, USER: 'git', PATH: `${gitolite}:${gitEnv.PATH}` };
    const known = { ...env, GIT_CONFIG_GLOBAL: join(this.ssh.home, '.gitconfig') };
    execFileSync('gitolite', args, { env: known, cwd: this.ssh.home, stdio: 'pipe' });
  }
}
