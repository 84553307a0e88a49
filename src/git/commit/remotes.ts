import type { Disk } from '../disk/disk.ts';
import type { Refs } from '../refs/refs.ts';
import type { Address } from '../remote/login.ts';
import { addressAt, hubOf, type Remote, type Upstream, upstreamOf } from '../remote/remote.ts';
import type { GitConfig } from '../repository/config.ts';
import type { WorkTree } from '../repository/discover.ts';

/** The parts of a repository that name its remotes. */
interface RemotesSite {
  readonly tree: WorkTree;
  readonly refs: Refs;
  config(): GitConfig;
}

/** The remotes that the configuration of a repository names. */
export class Remotes {
  readonly #repository: RemotesSite;
  readonly #disk: Disk;
  readonly #env: NodeJS.ProcessEnv;

  constructor(repository: RemotesSite, disk: Disk, env: NodeJS.ProcessEnv) {
    [this.#repository, this.#disk, this.#env] = [repository, disk, env];
  }

  /** The branch of a remote that HEAD follows; see `upstreamOf`. */
  upstream(): Upstream {
    const { refs, tree } = this.#repository;
    return upstreamOf(this.#repository.config(), refs.head().ref, tree.top);
  }

  /** The address for refs that belong to no branch; see `hubOf`. */
  hub(): Address | undefined {
    const { refs, tree } = this.#repository;
    return hubOf(this.#repository.config(), refs.branch(), tree.top);
  }

  /**
   * The address of another repository; see `addressAt`.
   *
   * @param top the folder to which a relative path refers.
   */
  address(url: string, top: string): Address {
    return addressAt(this.#repository.config(), url, top);
  }

  /** The remote at an address. */
  async at(address: Address): Promise<Remote> {
    const { ProgramRemote } = await import('../remote/program-remote.ts');
    const config = this.#repository.config();
    return new ProgramRemote(address, {
      disk: this.#disk,
      commonDir: this.#repository.tree.commonDir,
      env: this.#env,
      sshCommand: config.own('core.sshcommand'),
      partial: config.get('extensions.partialclone') !== undefined,
    });
  }
}
