import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { GitServer } from './git-server.ts';
import { note } from './note.ts';
import { type Opened, open } from './open.ts';
import { gitEnv, Repo } from './repo.ts';
import { SshServer } from './ssh-server.ts';

/** The ways to reach a remote. */
export const transports = ['a folder', 'HTTP', 'SSH'] as const;
export type Transport = (typeof transports)[number];

/** A clone with an open memory. */
export interface Clone {
  readonly repo: Repo;
  readonly opened: Opened;
}

/** A bare repository with a memory, and clones of it that reach it in one way. */
export class Fleet {
  readonly hub: Repo;
  readonly clones: readonly Clone[];
  readonly url: string;
  /** The server of a fleet over HTTP. */
  readonly server: GitServer | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #now: () => Date;
  readonly #folder: string;
  readonly #stop: () => Promise<void>;

  private constructor(
    parts: Pick<Fleet, 'hub' | 'url' | 'clones' | 'server'> & {
      readonly folder: string;
      readonly env: NodeJS.ProcessEnv;
      readonly now: () => Date;
    },
    stop: () => Promise<void>,
  ) {
    this.#folder = parts.folder;
    this.#env = parts.env;
    this.#now = parts.now;
    this.hub = parts.hub;
    this.url = parts.url;
    this.clones = parts.clones;
    this.server = parts.server;
    this.#stop = stop;
  }

  /** Opens the memory of a clone as another process does. */
  open({ root }: Repo, files?: Files, warn?: (message: string) => void): Promise<Opened> {
    const parts = { ...(files && { files }), ...(warn && { warn }) };
    return open(root, [note], { now: this.#now, env: this.#env, ...parts });
  }

  /** @returns undefined where no server for the transport can be started. */
  static async create(
    count: number,
    transport: Transport,
    now: () => Date = () => new Date(),
  ): Promise<Fleet | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'memory-bank-fleet-'));
    const server =
      transport === 'HTTP'
        ? await GitServer.start(folder)
        : transport === 'SSH'
          ? await SshServer.start(join(folder, 'keys'))
          : 'none';
    if (server === undefined) {
      rmSync(folder, { recursive: true });
      return undefined;
    }
    const hub = Repo.in(join(folder, 'hub.git'));
    hub.git('init', '-q', '--bare', '-b', 'main');
    hub.git('config', 'core.logAllRefUpdates', 'always');
    hub.git('config', 'http.receivepack', 'true');
    const url =
      server === 'none'
        ? hub.root
        : server instanceof SshServer
          ? server.url(hub.root)
          : server.url('hub.git');
    await firstMemory(folder, hub);
    const env = { ...gitEnv, ...(server instanceof SshServer && server.env) };
    const clones: Clone[] = [];
    for (let i = 0; i < count; i++) {
      const repo = Repo.in(join(folder, `clone-${i}`));
      // A server in this process cannot answer while git is waited for.
      repo.git('clone', '-q', hub.root, '.');
      repo.git('remote', 'set-url', 'origin', url);
      repo.git('config', 'user.name', `Person ${i}`);
      repo.git('config', 'user.email', `person-${i}@example.org`);
      repo.git('config', 'gc.auto', '0');
      clones.push({ repo, opened: await open(repo.root, [note], { now, env }) });
    }
    const stop = async () => {
      for (const { opened } of clones) await opened.workspace.close();
      if (server !== 'none') await server.stop();
    };
    const http = server instanceof GitServer ? server : undefined;
    return new Fleet({ folder, hub, url, clones, server: http, env, now }, stop);
  }

  /** The number of pushes to the main branch that the hub has accepted. */
  get pushes(): number {
    return this.hub.git('reflog', 'main').trim().split('\n').length;
  }

  /** The number of notes on the main branch of the hub. */
  get notes(): number {
    const names = this.hub.git('ls-tree', '--name-only', 'main', '.memory-bank/notes/');
    return names.split('\n').filter(Boolean).length;
  }

  async remove(): Promise<void> {
    await this.#stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Pushes a memory that syncs by itself. */
async function firstMemory(folder: string, hub: Repo): Promise<void> {
  mkdirSync(join(folder, 'first'));
  const first = new Repo(join(folder, 'first')).begin();
  const { workspace, call } = await open(first.root, [note]);
  await call.store.change({ subject: 'begin' }, (draft) =>
    draft.put(note, { key: 'first', tags: [], text: 'x' }),
  );
  await workspace.close();
  const config = '.memory-bank/config.yaml';
  first.write(config, `${first.read(config)}sync: auto\n`);
  first.git('commit', '-q', '-a', '-m', 'Sync by itself');
  first.git('push', '-q', hub.root, 'main');
}

/** Adds a note in one commit. */
export function addNote({ opened }: Clone, key: string, text = 'text'): Promise<unknown> {
  return opened.call.store.change({ subject: `add ${key}` }, (draft) =>
    draft.put(note, { key, tags: [], text }),
  );
}
