import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../core/error.ts';
import type { WorkTree } from './discover.ts';
import type { Disk } from './disk.ts';
import { errno } from './files.ts';
import { indexKey } from './known-index.ts';

/** Longer than any key of an index, so that one is written over the other. */
const markLength = 80;
/** The longest that a busy index is waited for, as a multiple of the calm that is wanted. */
const calmLimit = 5;

/** Tells an index that a server of this repository has written from one that somebody else has. */
export class IndexMark {
  readonly #disk: Disk;
  readonly #tree: WorkTree;
  readonly #path: string;
  readonly #calm: number;
  /** The last index that this process has written. */
  #own: string | undefined;

  /**
   * @param folder our own folder in the common git directory.
   * @param calm for how long others must have left the index alone, in milliseconds.
   */
  constructor(disk: Disk, tree: WorkTree, folder: string, calm: number) {
    this.#disk = disk;
    this.#tree = tree;
    this.#path = join(folder, 'index-mark');
    this.#calm = calm;
  }

  /** Tells all servers of this repository that the index as it is now is one of ours. */
  set(key: string): void {
    if (this.#calm === 0) return;
    this.#own = key;
    const { files } = this.#disk;
    try {
      const fd = files.open(this.#path, files.lstat(this.#path) ? 'r+' : 'wx');
      try {
        files.write(fd, [Buffer.from(`${key.padEnd(markLength)}\n`, 'latin1')]);
      } finally {
        files.close(fd);
      }
    } catch (error) {
      // Without the mark the next mutation waits in vain, and that is all.
      if (errno(error) === undefined) throw error;
    }
  }

  /**
   * Waits until nobody else has touched the index for a moment.
   *
   * @returns the key of the index as it is then.
   */
  async calm(signal: AbortSignal | undefined): Promise<string | undefined> {
    const path = join(this.#tree.gitDir, 'index');
    for (let waited = 0; ; ) {
      const key = indexKey({ disk: this.#disk, tree: this.#tree });
      if (key === this.#own || key === this.#get()) return key;
      const changed = this.#disk.files.lstat(path)?.mtimeMs ?? 0;
      const rest = this.#calm - Math.abs(Date.now() - changed);
      if (rest <= 0 || waited >= this.#calm * calmLimit) return key;
      await sleep(rest, undefined, signal ? { signal } : {}).catch(() => {
        throw cancelled();
      });
      waited += rest;
    }
  }

  #get(): string | undefined {
    return this.#disk.files.read(this.#path)?.toString('latin1').trimEnd();
  }
}

/** The error of a call that its caller has given up. */
export function cancelled(): MemoryError {
  return new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
}
