import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { oidPattern } from '../objects/object-format.ts';

/** Longer than any mark, so that a new mark overwrites the old one. */
const markLength = 240;
const form = new RegExp(String.raw`^(${oidPattern}) (\d+) (quick|slow) (.*?) *\n`);

/** The last commit of a server of this repository. */
export interface OwnCommit {
  readonly oid: Oid;
  /** When another program last moved HEAD before it, in milliseconds. */
  readonly foreign: number;
  /** Whether another program moves HEAD in quick succession, as a script does. */
  readonly quick: boolean;
  /** The content of the index after it; see `IndexFile.content`. */
  readonly content: string;
}

/** Shares the last commit of a server with all servers of this repository. */
export class IndexMark {
  readonly #disk: Disk;
  readonly #path: string;

  /** @param folder our own folder in the common git directory. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#path = join(folder, 'index-mark');
  }

  set({ oid, foreign, quick, content }: OwnCommit): void {
    const { files } = this.#disk;
    const text = `${oid} ${Math.round(foreign)} ${quick ? 'quick' : 'slow'} ${content}`;
    try {
      const fd = files.lstat(this.#path)
        ? files.open(this.#path, 'r+')
        : this.#disk.openNew(this.#path, 'wx');
      try {
        files.write(fd, [Buffer.from(`${text.padEnd(markLength)}\n`, 'latin1')]);
      } finally {
        files.close(fd);
      }
    } catch (error) {
      // Without the mark the next mutation only waits longer than it needs.
      if (errno(error) === undefined) throw error;
      // Another user may have made it, before the repository was shared.
      this.#disk.tryDiscard(this.#path);
    }
  }

  /** Reads the mark; undefined if it is missing or of an unknown form. */
  get(): OwnCommit | undefined {
    const text = this.#disk.files.read(this.#path)?.toString('latin1') ?? '';
    const [, oid, foreign, pace, content] = form.exec(text) ?? [];
    if (oid === undefined || content === undefined) return undefined;
    return { oid, foreign: Number(foreign), quick: pace === 'quick', content };
  }
}

/** The error of a cancelled call. */
export function cancelled(): MemoryError {
  return new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
}
