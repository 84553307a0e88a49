import { basename, dirname, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { oidPattern } from '../objects/object-format.ts';

/** Of the values, only the name of the branch may contain a blank, and it is the last one. */
const form = new RegExp(
  String.raw`^(${oidPattern}) (${oidPattern}|none) (\d+) (\d+) (quick|slow) (\S+)/(\S*) (.*)\n`,
);

/** The last commit of a server in this work tree. */
export interface OwnCommit {
  readonly oid: Oid;
  /** The branch; undefined on a detached HEAD. */
  readonly ref: string | undefined;
  /** HEAD before it and before the commits of servers that are its direct ancestors; undefined for none. */
  readonly base: Oid | undefined;
  /** When it was made, in milliseconds. */
  readonly time: number;
  /** When another program last moved HEAD before it, in milliseconds. */
  readonly foreign: number;
  /** Whether another program moves HEAD in quick succession, as a script does. */
  readonly quick: boolean;
  /** The content of the index after it; see `IndexFile.content`. */
  readonly content: string;
  /** Identifies the file of that index; see `indexKey`. */
  readonly key: string | undefined;
}

/** Shares the last commit of a server with all servers of this work tree. */
export class IndexMark {
  /**
   * The commit as it was last read or set. Only the holder of the process lock sets it, so it is read once in
   * each turn with that lock.
   */
  last: OwnCommit | undefined;
  readonly #disk: Disk;
  readonly #path: string;

  /**
   * @param folder our own folder in the common git directory.
   * @param gitDir of the work tree.
   */
  constructor(disk: Disk, folder: string, gitDir: string) {
    this.#disk = disk;
    this.#path = markPath(folder, gitDir);
  }

  set(own: OwnCommit): void {
    this.last = own;
    const { files } = this.#disk;
    const index = `${own.content}/${own.key ?? ''}`.replaceAll(' ', ',');
    const times = `${Math.round(own.time)} ${Math.round(own.foreign)}`;
    const pace = own.quick ? 'quick' : 'slow';
    const text = `${own.oid} ${own.base ?? 'none'} ${times} ${pace} ${index} ${own.ref ?? ''}\n`;
    try {
      const fd = files.lstat(this.#path)
        ? files.open(this.#path, 'r+')
        : this.#disk.openNew(this.#path, 'wx');
      try {
        // The rest of a longer mark stays behind the end of the line.
        files.write(fd, [Buffer.from(text)]);
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
    this.last = this.#parse();
    return this.last;
  }

  #parse(): OwnCommit | undefined {
    const [, oid, base, time, foreign, pace, content = '', key = '', ref] =
      form.exec(this.#read()) ?? [];
    if (oid === undefined) return undefined;
    return {
      oid,
      ref: ref || undefined,
      base: base === 'none' ? undefined : base,
      ...{ time: Number(time), foreign: Number(foreign), quick: pace === 'quick' },
      ...{ content: content.replaceAll(',', ' '), key: key.replaceAll(',', ' ') || undefined },
    };
  }

  #read(): string {
    try {
      return this.#disk.files.read(this.#path)?.toString('utf8') ?? '';
    } catch (error) {
      if (errno(error) === undefined) throw error;
      return '';
    }
  }
}

/** The path of the mark of a work tree. */
export function markPath(folder: string, gitDir: string): string {
  const isLinked = gitDir !== dirname(folder);
  return join(folder, isLinked ? `index-mark-${basename(gitDir)}` : 'index-mark');
}

/** The error of a cancelled call. */
export function cancelled(): MemoryError {
  return new MemoryError('cancelled', 'The call was cancelled; nothing was changed.');
}
