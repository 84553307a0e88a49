import { dirname, join } from 'node:path';
import type { Files } from '../../git/disk/file-layer.ts';
import {
  cleanDerived,
  type DerivedKind,
  derivedMark,
  derivedName,
} from '../derived/derived-name.ts';
import { SectionFile, sectionFile } from '../derived/section-file.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';

/**
 * A file of the git directory that is derived from the memory, one for each work tree.
 *
 * It can be deleted at any time. A file that is damaged, or of another build, counts as missing.
 * Processes share it without a lock, because it is replaced by one rename.
 */
export class DerivedFile {
  readonly #memory: MemoryFolder;
  readonly #files: Files;
  readonly #name: DerivedKind;
  readonly #content: unknown;
  readonly #maxBytes: number;

  /**
   * @param name the beginning of its name.
   * @param content everything that the content depends on except for the memory and the build.
   * @param maxBytes a larger file is not read.
   */
  constructor(
    memory: MemoryFolder,
    files: Files,
    name: DerivedKind,
    content: unknown,
    maxBytes: number,
  ) {
    this.#memory = memory;
    this.#files = files;
    this.#name = name;
    this.#content = content;
    this.#maxBytes = maxBytes;
  }

  /** Reads the file; undefined if it is missing, too large, or has a damaged header. */
  read(): SectionFile | undefined {
    const path = this.#path();
    try {
      const bytes = path === undefined ? undefined : this.#files.read(path, this.#maxBytes);
      return bytes && SectionFile.open(bytes, derivedMark(this.#content));
    } catch {
      return undefined;
    }
  }

  /** Identifies the version of the file on disk; undefined without one. */
  version(): string | undefined {
    const path = this.#path();
    try {
      const stat = path === undefined ? undefined : this.#files.lstat(path);
      return stat && `${stat.ino}/${stat.size}/${stat.mtimeMs}`;
    } catch {
      return undefined;
    }
  }

  /** Returns the pieces of a file with these sections. */
  pieces(sections: readonly Uint8Array[]): Uint8Array[] {
    return sectionFile(derivedMark(this.#content), sections);
  }

  /** Replaces the file; does nothing if the memory is in no repository. */
  async write(pieces: Uint8Array[]): Promise<void> {
    const path = this.#path();
    // A file that a power cut damages is written again, so it is not flushed.
    const disk = this.#memory.repository()?.unflushed;
    if (path === undefined || !disk) return;
    await disk.replace(path, pieces, 0o600);
    cleanDerived(disk, dirname(path), this.#memory.realPath());
  }

  /** Whether there is a place for the file. */
  get hasPlace(): boolean {
    return this.#path() !== undefined;
  }

  /** The path of the file of this work tree; undefined if the memory is in no repository. */
  #path(): string | undefined {
    try {
      const folder = this.#memory.repository()?.folder;
      if (folder === undefined) return undefined;
      return join(folder, derivedName(this.#name, this.#memory.realPath()));
    } catch {
      return undefined;
    }
  }
}
