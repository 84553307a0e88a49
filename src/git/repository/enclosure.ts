import { dirname, join, posix, relative, resolve, sep, win32 } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { errno, type Files, lookThrough } from '../disk/file-layer.ts';
import { checkSize } from '../disk/folder.ts';
import { NodeFiles } from '../disk/node-files.ts';
import { storageError } from '../disk/storage-error.ts';
import { findWorkTree } from './discover.ts';

/** How much of a file is in memory when it is read piece by piece, in bytes. */
const pieceBytes = 256 * 1024;

/** Whether a path is a folder or is below it; both absolute, links resolved. */
export function contains(folder: string, path: string, platform = process.platform): boolean {
  const { isAbsolute, relative, sep } = platform === 'win32' ? win32 : posix;
  const way = relative(folder, path);
  // The way to another drive or shared folder of Windows is absolute.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * Reads and writes the files of a project by path, and never a file outside it.
 *
 * A link that stays inside is followed, and callers show its target. A link that leads out, into a git
 * directory or nowhere is refused by name, because a repository may contain any link. Only regular
 * files up to a size limit are opened.
 */
export class Enclosure {
  /** Absolute path, links resolved. */
  readonly root: string;
  readonly #files: Files;

  /** @param root absolute path of a folder that exists. */
  constructor(root: string, files: Files = new NodeFiles()) {
    this.#files = files;
    this.root = files.realpath(root) ?? root;
  }

  /** The enclosure of a project: the repository that contains the root, or else the root. */
  static ofProject(root: string, files: Files = new NodeFiles()): Enclosure {
    return new Enclosure(topOf(files, root) ?? root, files);
  }

  /**
   * The enclosure of a path that the user names: the project if it contains the path, else the folder
   * that the path leads to.
   */
  static around(path: string, root: string): Enclosure {
    const files = new NodeFiles();
    const project = Enclosure.ofProject(root, files);
    if (project.#reaches(path)) return project;
    const start = files.realpath(path) ?? path;
    return new Enclosure(
      lookThrough(files, start)?.kind === 'file' ? dirname(start) : start,
      files,
    );
  }

  /**
   * Resolves the links of a path; its last parts need not exist.
   *
   * @param path absolute.
   * @throws MemoryError `damaged` for a link that leads out, into a git directory or nowhere.
   */
  resolve(path: string): string {
    const steps = this.#stepsTo(resolve(path));
    if (steps === undefined) throw outside(path, path, this.root);
    let at = this.root;
    for (const [i, step] of steps.entries()) {
      const next = join(at, step);
      const stat = this.#files.lstat(next);
      if (stat === undefined) return join(at, ...steps.slice(i));
      at = stat.kind === 'link' ? this.#follow(next) : next;
    }
    return at;
  }

  /**
   * Reads a file; undefined if it does not exist.
   *
   * @throws MemoryError `damaged` like `resolve` and `readRegular`, `too_large`, `storage`.
   */
  read(path: string, limit: number): Buffer | undefined {
    return readRegular(this.resolve(path), limit, this.#files);
  }

  /**
   * Reads a file piece by piece, each with the share of the file that was read by then.
   *
   * @throws MemoryError like `read`; `storage` also if the file does not exist or shrinks meanwhile.
   */
  *pieces(
    path: string,
    limit: number,
  ): Iterable<{ readonly bytes: Buffer; readonly share: number }> {
    const at = this.resolve(path);
    try {
      const fd = this.#files.open(at, 'r');
      try {
        const { kind, size } = this.#files.fstat(fd);
        if (kind !== 'file') throw notRegular(at);
        checkSize(at, size, limit);
        for (let position = 0; position < size; ) {
          const piece = this.#files.pread(fd, Math.min(pieceBytes, size - position), position);
          if (piece.length === 0) throw new MemoryError('storage', `${at} has become shorter.`);
          position += piece.length;
          yield { bytes: piece, share: position / size };
        }
      } finally {
        this.#files.close(fd);
      }
    } catch (error) {
      throw error instanceof MemoryError ? error : storageError(error, `read ${at}`);
    }
  }

  /** The first bytes of a regular file, and its size; undefined if it does not exist. */
  head(
    path: string,
    length: number,
  ): { readonly bytes: Buffer; readonly size: number } | undefined {
    const fd = this.#files.open(this.resolve(path), 'r');
    try {
      const { kind, size } = this.#files.fstat(fd);
      if (kind !== 'file') return undefined;
      return { bytes: this.#files.pread(fd, Math.min(length, size), 0), size };
    } finally {
      this.#files.close(fd);
    }
  }

  /** The parts of the path below the root; undefined if it is not below the root. */
  #stepsTo(path: string): string[] | undefined {
    for (let folder = path; ; folder = dirname(folder)) {
      // The path may go through a link above the root, such as /tmp on macOS.
      if (folder === this.root || this.#files.realpath(folder) === this.root) {
        return stepsOf(relative(folder, path));
      }
      if (folder === dirname(folder)) break;
    }
    // A link outside the root that leads into it.
    const real = this.#files.realpath(path);
    if (real === undefined || !contains(this.root, real)) return undefined;
    return stepsOf(relative(this.root, real));
  }

  /** Whether a path goes through the root. */
  #reaches(path: string): boolean {
    return this.#stepsTo(resolve(path)) !== undefined;
  }

  /**
   * Resolves a link that is not one of the file system.
   *
   * @param link absolute path, links resolved.
   * @param text of the link.
   * @throws MemoryError `damaged` like `resolve`.
   */
  resolveLink(link: string, text: string): string {
    return this.#checkTarget(link, this.#files.realpath(resolve(dirname(link), text)));
  }

  #follow(link: string): string {
    return this.#checkTarget(link, this.#files.realpath(link));
  }

  #checkTarget(link: string, target: string | undefined): string {
    if (target === undefined) {
      throw new MemoryError('damaged', `${link} is a symbolic link whose target does not exist.`, {
        hint: 'Remove the link, or put a file or folder in its place.',
        data: { path: link },
      });
    }
    if (!contains(this.root, target) || isOfGit(this.root, target)) {
      throw outside(link, target, this.root);
    }
    return target;
  }
}

/**
 * Reads a regular file, following links; undefined if it does not exist.
 *
 * @throws MemoryError `damaged` for a pipe, device or folder, `too_large`, `storage`.
 */
export function readRegular(
  path: string,
  limit: number,
  files: Files = new NodeFiles(),
): Buffer | undefined {
  try {
    return files.read(path, limit);
  } catch (error) {
    const code = errno(error);
    if (code === 'EFBIG') checkSize(path, lookThrough(files, path)?.size ?? limit + 1, limit);
    if (code !== 'EFTYPE' && code !== 'EISDIR') throw storageError(error, `read ${path}`);
    throw notRegular(path, error);
  }
}

function notRegular(path: string, cause?: unknown): MemoryError {
  return new MemoryError('damaged', `${path} is not a regular file.`, {
    hint: 'Move or remove it.',
    data: { path },
    cause,
  });
}

function stepsOf(way: string): string[] {
  return way.split(sep).filter((part) => part !== '');
}

function outside(link: string, target: string, root: string): MemoryError {
  const what = link === target ? `${link} is` : `${link} is a symbolic link to ${target},`;
  const where = contains(root, target) ? 'in a git directory' : `outside of ${root}`;
  return new MemoryError('damaged', `${what} ${where}.`, {
    hint: 'Links that leave the project are not followed: put the real file or folder in its place.',
    data: { path: link, target },
  });
}

/** Whether a path below the root is in a git directory. */
function isOfGit(root: string, path: string): boolean {
  return relative(root, path)
    .split(sep)
    .some((part) => /^\.git$/i.test(part));
}

function topOf(files: Files, root: string): string | undefined {
  try {
    return findWorkTree(files, root)?.top;
  } catch (error) {
    // The code that opens the repository reports what is wrong with it.
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}
