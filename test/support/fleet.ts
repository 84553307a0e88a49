import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Files } from '../../src/git/disk/file-layer.ts';
import type { GitServer } from './git-server.ts';
import { note } from './note.ts';
import { type Opened, open } from './open.ts';
import { type RemoteServer, serveRemote, type Transport } from './remote-server.ts';
import { gitEnv, Repo } from './repo.ts';

/** A clone with an open memory. */
export interface Clone {
  readonly repo: Repo;
  readonly opened: Opened;
}

/** The parts of an open memory that a test replaces. */
interface FleetParts {
  readonly files?: Files;
  readonly warn?: (message: string) => void;
  readonly env?: NodeJS.ProcessEnv;
}

/** A bare repository with a memory, and clones of it that reach it in one way. */
export class Fleet {
  readonly clones: readonly Clone[];
  readonly remote: RemoteServer;
  readonly #now: () => Date;
  readonly #folder: string;

  private constructor(
    folder: string,
    remote: RemoteServer,
    clones: readonly Clone[],
    now: () => Date,
  ) {
    this.#folder = folder;
    this.remote = remote;
    this.clones = clones;
    this.#now = now;
  }

  get hub(): Repo {
    return this.remote.hub;
  }

  get url(): string {
    return this.remote.url;
  }

  /** The server of a fleet over HTTP. */
  get server(): GitServer | undefined {
    return this.remote.http;
  }

  /** Opens the memory of a clone as another process does, with more variables. */
  open({ root }: Repo, { env, ...parts }: FleetParts = {}): Promise<Opened> {
    const all = { ...gitEnv, ...this.remote.env, ...env };
    return open(root, [note], { now: this.#now, env: all, ...parts });
  }

  /** @returns undefined where no server for the transport can be started. */
  static async create(
    count: number,
    transport: Transport,
    now: () => Date = () => new Date(),
  ): Promise<Fleet | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'memory-bank-fleet-'));
    const remote = await serveRemote(transport, folder);
    if (remote === undefined) {
      rmSync(folder, { recursive: true });
      return undefined;
    }
    const { hub, url } = remote;
    hub.git('config', 'core.logAllRefUpdates', 'always');
    await firstMemory(folder, hub);
    const clones: Clone[] = [];
    const fleet = new Fleet(folder, remote, clones, now);
    for (let i = 0; i < count; i++) {
      const repo = Repo.in(join(folder, `clone-${i}`));
      // A server in this process cannot answer while git is waited for.
      repo.git('clone', '-q', hub.root, '.');
      repo.git('remote', 'set-url', 'origin', url);
      repo.git('config', 'user.name', `Person ${i}`);
      repo.git('config', 'user.email', `person-${i}@example.org`);
      repo.git('config', 'gc.auto', '0');
      clones.push({ repo, opened: await fleet.open(repo) });
    }
    return fleet;
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
    for (const { opened } of this.clones) await opened.workspace.close();
    await this.remote.stop();
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
  // Without a push, no hook of a server decides.
  hub.git('fetch', '-q', first.root, 'main:main');
}

/** Adds a note in one commit. */
export function addNote({ opened }: Clone, key: string, text = 'text'): Promise<unknown> {
  return opened.call.store.change({ subject: `add ${key}` }, (draft) =>
    draft.put(note, { key, tags: [], text }),
  );
}
