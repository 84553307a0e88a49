import { join } from 'node:path';
import { type Authority, makeAuthority } from './authority.ts';
import { GitServer } from './git-server.ts';
import { Gitolite } from './gitolite.ts';
import { Repo } from './repo.ts';
import { SshServer } from './ssh-server.ts';

/** The ways to reach a remote. */
export const transports = ['a folder', 'HTTP', 'HTTPS', 'SSH', 'gitolite'] as const;
export type Transport = (typeof transports)[number];

/** A bare repository that is reached in one way. */
export interface RemoteServer {
  readonly hub: Repo;
  readonly url: string;
  /** The environment in which git may read and write it. */
  readonly env: NodeJS.ProcessEnv;
  readonly http?: GitServer;
  readonly authority?: Authority;
  readonly ssh?: SshServer;
  readonly gitolite?: Gitolite;
  stop(): Promise<void>;
}

/**
 * Serves a new bare repository in a folder.
 *
 * @returns undefined where the server is missing on this machine.
 */
export async function serveRemote(
  transport: Transport,
  folder: string,
): Promise<RemoteServer | undefined> {
  if (transport === 'gitolite') return serveGitolite(folder);
  const hub = Repo.in(join(folder, 'hub.git'));
  hub.git('init', '-q', '--bare', '-b', 'main');
  if (transport === 'a folder') {
    return { hub, url: hub.root, env: {}, stop: () => Promise.resolve() };
  }
  if (transport === 'SSH') {
    const ssh = await SshServer.start(join(folder, 'ssh'));
    return ssh && { hub, url: ssh.url(hub.root), env: ssh.env, ssh, stop: () => ssh.end() };
  }
  hub.git('config', 'http.receivepack', 'true');
  if (transport === 'HTTP') {
    const http = await GitServer.start(folder);
    return { hub, url: http.url('hub.git'), env: {}, http, stop: () => http.stop() };
  }
  const authority = makeAuthority(join(folder, 'authority'));
  if (!authority) return undefined;
  const http = await GitServer.start(folder, authority);
  http.credentials = 'me:right';
  const env = {
    GIT_SSL_CAINFO: authority.file,
    MEMORY_BANK_GIT_CREDENTIALS: http.url('', http.credentials),
  };
  return { hub, url: http.url('hub.git'), env, http, authority, stop: () => http.stop() };
}

/** The rights of its users on refs. */
const rules = `
repo project
  RW+ = writer
  RW = adder
  RW refs/heads/ = author
  - refs/heads/main = guest
  RW+ = guest
  R = author reader
`;

async function serveGitolite(folder: string): Promise<RemoteServer | undefined> {
  const users = ['writer', 'adder', 'author', 'guest', 'reader', 'stranger'];
  const gitolite = await Gitolite.start(join(folder, 'gitolite'), users, rules);
  return (
    gitolite && {
      hub: gitolite.repository('project'),
      url: gitolite.url('project'),
      env: gitolite.envOf('writer'),
      gitolite,
      stop: () => gitolite.ssh.end(),
    }
  );
}
