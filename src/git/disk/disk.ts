import { basename, dirname, join, sep } from 'node:path';
import { errno, type Files, lookThrough, type Stat } from './file-layer.ts';
import { type Features, isRefusal, probeFeatures } from './file-system.ts';
import { type SharedFolder, sharedMode } from './shared-mode.ts';

/** Whether a mutation waits until its data is on the medium. */
export type Durability = 'full' | 'relaxed';

/** The codes with which systems refuse to open or flush a directory, next to those of `isRefusal`. */
const unopened: ReadonlySet<string | undefined> = new Set(['EISDIR', 'EBADF', 'EBUSY']);

/** The flags with which a directory is opened to be flushed; Windows flushes none that is open only for reading. */
const flushed = process.platform === 'win32' ? 'r+' : 'r';

/** Age from which a temporary file counts as abandoned, in milliseconds. */
const abandoned = 3_600_000;

/**
 * Writes whole files: each appears complete or not at all. With full durability it is on the medium
 * when the promise is fulfilled.
 */
export class Disk {
  readonly files: Files;
  readonly durability: Durability;
  /** The features of the file system of each folder that was probed. */
  readonly #features = new Map<string, Features>();
  /** See `share`. */
  #shared: readonly SharedFolder[] = [];
  /** Folders that cannot be flushed. */
  readonly #unsynced = new Set<string>();

  constructor(files: Files, durability: Durability) {
    this.files = files;
    this.durability = durability;
  }

  /** The features of the file system of a folder, found out once; see `probeFeatures`. */
  features(folder: string, id: string): Features {
    const known = this.#features.get(folder) ?? probeFeatures(this.files, folder, id);
    this.#features.set(folder, known);
    return known;
  }

  /** Gives new files and folders below a folder the permissions of a shared repository. */
  share(folder: string, bits: SharedFolder['bits']): void {
    this.#shared = [...this.#shared.filter((one) => one.folder !== folder), { folder, bits }];
  }

  /** Creates a file that must not exist, or with `a` one that does not; see `share`. */
  openNew(path: string, flags: 'wx' | 'a', mode = 0o666): number {
    const fd = this.files.open(path, flags, mode);
    try {
      this.#shareOpen(path, fd);
    } catch (error) {
      this.files.close(fd);
      throw error;
    }
    return fd;
  }

  #shareOpen(path: string, fd: number): void {
    const bits = this.#bitsFor(path);
    if (bits === 0) return;
    const { mode, kind } = this.files.fstat(fd);
    const wanted = sharedMode(mode, bits, kind === 'directory');
    if (wanted === (mode & 0o7777)) return;
    try {
      this.files.chmod(fd, wanted);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }

  #bitsFor(path: string): number {
    const shared = this.#shared.find(({ folder }) => path.startsWith(`${folder}${sep}`));
    return shared?.bits() ?? 0;
  }

  /** Gives a new file or folder of this user, which was not made by `openNew`, its permissions; see `share`. */
  shareNew(path: string): void {
    if (this.#bitsFor(path) === 0) return;
    const fd = this.#openForReading(path);
    if (fd === undefined) return;
    try {
      this.#shareOpen(path, fd);
    } finally {
      this.files.close(fd);
    }
  }

  /** Sets the permissions of an open file; a file system that has none keeps its own. */
  setMode(fd: number, mode: number): void {
    try {
      this.files.chmod(fd, mode & 0o777);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }

  /**
   * Flushes an open file, or the entries of an open directory, to the medium.
   *
   * The fsync starts after all writes of this turn of the event loop: a journaling file system then
   * flushes them together instead of file by file.
   */
  async sync(fd: number, kind: 'data' | 'all'): Promise<void> {
    if (this.durability === 'relaxed') return;
    await new Promise(setImmediate);
    await this.files.fsync(fd, kind);
  }

  /**
   * Creates a file that must not exist and fills it.
   *
   * A failed write or fsync removes the file again. An fsync is never retried on the same file,
   * because the kernel may have dropped the pages that it could not write.
   *
   * @param pieces consumed while they are written, so a large file need not be in memory at once.
   * @param mode permissions before the umask.
   * @param exact permissions regardless of the umask: those of the file that is replaced.
   */
  async create(
    path: string,
    pieces: Iterable<Uint8Array>,
    mode = 0o666,
    exact?: number,
  ): Promise<void> {
    const fd = this.openNew(path, 'wx', mode);
    try {
      try {
        if (exact !== undefined) {
          this.setMode(fd, exact);
          this.#shareOpen(path, fd);
        }
        for (const group of inGroups(pieces)) {
          this.files.write(fd, group);
          // The pieces of a large file may take long to make.
          if (group.length === groupPieces) await new Promise(setImmediate);
        }
        await this.sync(fd, 'data');
      } finally {
        this.files.close(fd);
      }
    } catch (error) {
      this.tryDiscard(path);
      throw error;
    }
  }

  /**
   * Fills an existing file through a name of our own.
   *
   * @param time see `finish`.
   * @returns its stat.
   */
  async fill(path: string, pieces: readonly Uint8Array[], time?: number): Promise<Stat> {
    const { files } = this;
    const fd = files.open(path, 'r+');
    try {
      // Not every disk can truncate, and ext4 flushes such a file on close.
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      if (files.fstat(fd).size > length) files.truncate(path, 0);
    } catch (error) {
      files.close(fd);
      throw error;
    }
    return this.finish(fd, pieces, time);
  }

  /**
   * Fills an open, empty file and closes it.
   *
   * @param time of its last change, in seconds. Default: the time of the write.
   * @returns its stat.
   */
  async finish(fd: number, pieces: readonly Uint8Array[], time?: number): Promise<Stat> {
    const { files } = this;
    try {
      files.write(fd, pieces);
      if (time !== undefined) files.setTime(fd, time);
      await this.sync(fd, 'data');
      return files.fstat(fd);
    } finally {
      files.close(fd);
    }
  }

  /**
   * Replaces a file that can be rebuilt, such as a cache, by one rename.
   *
   * Temporary files of killed processes are removed when they are an hour old. A writer that is still
   * alive then loses only what can be rebuilt.
   */
  async replace(path: string, pieces: readonly Uint8Array[], mode?: number): Promise<void> {
    const { files } = this;
    const folder = dirname(path);
    this.makeDirectories(folder);
    for (const { name } of files.list(folder) ?? []) {
      const left = name.startsWith(`${basename(path)}.`) && name.endsWith('.tmp');
      const time = left && files.lstat(join(folder, name))?.mtimeMs;
      if (time && time < Date.now() - abandoned) this.tryDiscard(join(folder, name));
    }
    // Loading the cryptography of node for a name would delay a short process.
    const temporary = `${path}.${Math.random().toString(36).slice(2)}.tmp`;
    await this.create(temporary, pieces, mode);
    try {
      files.replace(temporary, path);
    } catch (error) {
      this.tryDiscard(temporary);
      throw error;
    }
  }

  /**
   * Cuts a file to its first bytes. Where the file system cannot do that, the file is replaced under the
   * lock of git's protocol.
   */
  shorten(path: string, kept: Uint8Array): void {
    const { files } = this;
    try {
      files.truncate(path, kept.length);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const lock = `${path}.lock`;
      const fd = this.openNew(lock, 'wx', 0o666);
      try {
        try {
          files.write(fd, [kept]);
        } finally {
          files.close(fd);
        }
        files.rename(lock, path);
      } catch (failure) {
        this.tryDiscard(lock);
        throw failure;
      }
    }
  }

  /** Flushes files that were written to without a flush. */
  async flush(paths: Iterable<string>): Promise<void> {
    if (this.durability === 'relaxed') return;
    await inWaves([...paths], async (path) => {
      const fd = this.files.open(path, 'r+');
      try {
        await this.sync(fd, 'data');
      } finally {
        this.files.close(fd);
      }
    });
  }

  /** Flushes renames, links and removals in these directories to the medium. */
  async settle(directories: Iterable<string>): Promise<void> {
    if (this.durability === 'relaxed') return;
    const unknown = [...new Set(directories)].filter((path) => !this.#unsynced.has(path));
    await inWaves(unknown, async (directory) => {
      try {
        await this.#syncDirectory(directory);
      } catch (error) {
        if (!isRefusal(error) && !unopened.has(errno(error))) throw error;
        this.#unsynced.add(directory);
      }
    });
  }

  /** Whether no flush of a folder was refused so far. */
  isFlushed(folder: string): boolean {
    return !this.#unsynced.has(folder);
  }

  async #syncDirectory(path: string): Promise<void> {
    const fd = this.#openForReading(path, flushed);
    if (fd === undefined) return;
    try {
      await this.sync(fd, 'all');
    } finally {
      this.files.close(fd);
    }
  }

  /** Opens a file or folder; undefined if it is gone, because git removes empty folders of refs and objects. */
  #openForReading(path: string, flags: 'r' | 'r+' = 'r'): number | undefined {
    try {
      return this.files.open(path, flags);
    } catch (error) {
      if (errno(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Creates a directory and its missing parents; returns the directories whose entries changed.
   *
   * A link to a directory counts as one: parts of a git directory may be elsewhere.
   */
  makeDirectories(path: string): string[] {
    if (lookThrough(this.files, path)?.kind === 'directory') return [];
    const changed = this.makeDirectories(dirname(path));
    try {
      this.files.mkdir(path);
      this.shareNew(path);
    } catch (error) {
      if (errno(error) !== 'EEXIST' || lookThrough(this.files, path)?.kind !== 'directory')
        throw error;
    }
    return [...changed, dirname(path)];
  }

  /** Removes a file; returns whether it existed. */
  discard(path: string): boolean {
    try {
      this.files.unlink(path);
      return true;
    } catch (error) {
      if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return false;
      throw error;
    }
  }

  /** Removes a file and ignores system errors, for files that a later cleanup removes. */
  tryDiscard(path: string): void {
    try {
      this.discard(path);
    } catch (error) {
      if (errno(error) === undefined) throw error;
    }
  }
}

/** Waits for all promises even if one fails, so that nothing still runs when the work is undone. */
export async function together<T extends readonly unknown[]>(
  work: {
    [K in keyof T]: Promise<T[K]>;
  },
): Promise<T> {
  await Promise.allSettled(work);
  return Promise.all(work) as Promise<unknown> as Promise<T>;
}

/** Files written concurrently: each stays open until it is on the medium. */
const waveSize = 256;

/**
 * Does the same work for each item, wave by wave.
 *
 * All files of a wave are written before the first of them is flushed; see `Disk.sync`.
 */
export async function inWaves<T, R>(
  items: readonly T[],
  work: (item: T, i: number) => Promise<R>,
  onWave?: (done: number) => void,
): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += waveSize) {
    const wave = items.slice(from, from + waveSize);
    // An error of one item while the wave begins must not leave the work for the others unattended.
    results.push(...(await together(wave.map(async (item, i) => work(item, from + i)))));
    onWave?.(results.length);
  }
  return results;
}

/** Limits of one write call: bytes and number of pieces. */
const groupBytes = 4 * 1024 * 1024;
const groupPieces = 1024;

function* inGroups(pieces: Iterable<Uint8Array>): Generator<readonly Uint8Array[]> {
  let group: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    group.push(piece);
    size += piece.length;
    if (size < groupBytes && group.length < groupPieces) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

/** Removes a folder if it is empty; returns whether it was removed. */
export function removeIfEmpty(disk: Disk, folder: string): boolean {
  try {
    disk.files.rmdir(folder);
    return true;
  } catch (error) {
    const code = errno(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return false;
    // An empty folder does no harm.
    if (isRefusal(error)) return false;
    throw error;
  }
}
