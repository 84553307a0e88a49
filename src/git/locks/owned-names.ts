import { join } from 'node:path';
import { type Disk, removeIfEmpty } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { type ProcessToken, parseToken } from './token.ts';

/** The file in a folder with a name that is taken. */
const holderName = 'holder';

/** The codes of a name that exists, and of a file of this process that a cleaner has removed. */
const lost: ReadonlySet<string | undefined> = new Set(['EEXIST', 'ENOTEMPTY', 'ENOENT']);

/**
 * Names in a folder that one process at a time can have, and that name it from the first moment on.
 *
 * A name is a hard link to the file of its process. On a file system without hard links it is a folder that
 * contains the token: a rename does not replace a folder that contains a file, so it takes the name
 * and shows the token in one step. Neither kind can replace the other.
 */
export class OwnedNames {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    [this.#disk, this.#folder] = [disk, folder];
  }

  /**
   * Prepares a process for taking names, on a file system without hard links.
   *
   * @param token the bytes of the file `owner-<id>`, which exists.
   */
  async ready(id: string, token: Uint8Array): Promise<void> {
    if (this.#links(id)) return;
    const turn = this.#path(turnName(id));
    const holder = join(turn, holderName);
    if (this.#disk.files.lstat(holder) || this.#holds('lock', id)) return;
    this.#disk.makeDirectories(turn);
    await this.#disk.create(holder, [token]);
  }

  /** Takes a name for a process; returns false if another process has it. */
  take(name: string, id: string): boolean {
    const { files } = this.#disk;
    const linked = this.#links(id);
    const path = this.#path(name);
    // Windows tries for a while to replace what exists.
    if (!linked && files.lstat(path)) return this.#holds(name, id);
    try {
      if (linked) files.link(this.#path(`owner-${id}`), path);
      else files.rename(this.#path(turnName(id)), path);
      return true;
    } catch (error) {
      // A network disk may have done what it says has failed.
      if (this.#holds(name, id)) return true;
      // The other process may have released it since.
      if (lost.has(errno(error)) || files.lstat(path)) return false;
      throw error;
    }
  }

  /** The process that has a name; undefined if nobody has it, or if it cannot be read. */
  holder(name: string): ProcessToken | undefined {
    const path = this.#path(name);
    const at = this.isFolder(name) ? join(path, holderName) : path;
    return parseToken(this.#disk.files.read(at)?.toString('utf8') ?? '');
  }

  /** Whether a name was taken without hard links. */
  isFolder(name: string): boolean {
    return this.#disk.files.lstat(this.#path(name))?.kind === 'directory';
  }

  /** Releases a name if this process has it. */
  release(name: string, id: string): void {
    if (!this.#holds(name, id)) return;
    if (this.isFolder(name)) this.#disk.files.rename(this.#path(name), this.#path(turnName(id)));
    else this.#disk.discard(this.#path(name));
  }

  /** Removes what `ready` has made. */
  discard(id: string): void {
    discardName(this.#disk, this.#path(turnName(id)));
  }

  #holds(name: string, id: string): boolean {
    return this.holder(name)?.id === id;
  }

  #links(id: string): boolean {
    return this.#disk.features(this.#folder, id).links;
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

/** The folder with which a process takes names, while it has none. */
export function turnName(id: string): string {
  return `turn-${id}`;
}

/** Removes a file of a process, or a folder with which it takes names. */
export function discardName(disk: Disk, path: string): void {
  if (disk.files.lstat(path)?.kind === 'directory') {
    disk.discard(join(path, holderName));
    removeIfEmpty(disk, path);
  } else disk.discard(path);
}
