import { join } from 'node:path';
import type { Disk } from '../../git/disk/disk.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { cleanDerived } from './derived-cleaning.ts';
import { type DerivedKind, derivedMark, derivedName } from './derived-name.ts';
import { identifiedFile, SectionFile, sectionFile } from './section-file.ts';

/** The place of the derived files of a state. */
export interface DerivedPlace {
  /** A disk that flushes nothing: a file that a power cut damages is written again. */
  readonly disk: Disk;
  /** The folder in the git directory. */
  readonly folder: string;
  /** The name of the state; see `workTreeState` and `treeState`. */
  readonly state: string;
  /** The states whose files this process keeps. */
  readonly inUse: readonly string[];
}

/** A derived file whose sections are read when they are needed. */
export interface OpenDerivedFile {
  readonly file: SectionFile;
  /** Closes it; sections that were not read cannot be read any more. */
  close(): void;
}

/**
 * A file of the git directory that is derived from the memory, one for each state.
 *
 * It can be deleted at any time. A file that is damaged, or of another build, counts as missing.
 * Processes share it without a lock, because it is replaced by one rename.
 */
export class DerivedFile {
  /** A larger file is neither read nor written, in bytes. */
  readonly maxBytes: number;
  readonly #place: () => DerivedPlace | undefined;
  readonly #kind: DerivedKind;
  readonly #content: unknown;

  /**
   * @param place returns undefined if the memory is in no repository; it may throw an error.
   * @param kind the beginning of its name.
   * @param content everything that the content depends on except for the memory and the build.
   * @param maxBytes a larger file is not read.
   */
  constructor(
    place: () => DerivedPlace | undefined,
    kind: DerivedKind,
    content: unknown,
    maxBytes: number,
  ) {
    this.#place = place;
    this.#kind = kind;
    this.#content = content;
    this.maxBytes = maxBytes;
  }

  /**
   * Opens the file and reads its header; undefined if it is missing, too large, damaged or of another
   * build.
   *
   * @throws Error if the system does not let it be read.
   */
  open(): OpenDerivedFile | undefined {
    const { path, files } = this.#target() ?? {};
    if (path === undefined || files?.lstat(path)?.kind !== 'file') return undefined;
    const fd = files.open(path, 'r');
    let file: SectionFile | undefined;
    try {
      const { size } = files.fstat(fd);
      const read = (offset: number, length: number) => files.pread(fd, length, offset);
      const bytes = { length: size, read };
      if (size <= this.maxBytes) file = SectionFile.open(bytes, derivedMark(this.#content));
      return file && { file, close: () => files.close(fd) };
    } finally {
      if (!file) files.close(fd);
    }
  }

  /** Reads the whole file into memory if its header is right; undefined as for `open`. */
  read(): SectionFile | undefined {
    try {
      const opened = this.open();
      try {
        return opened?.file.inMemory();
      } finally {
        opened?.close();
      }
    } catch {
      return undefined;
    }
  }

  /** Identifies the version of the file on disk; undefined without one. */
  version(): string | undefined {
    try {
      const { path, files } = this.#target() ?? {};
      const stat = path === undefined ? undefined : files?.lstat(path);
      return stat && `${stat.ino}/${stat.size}/${stat.mtimeMs}`;
    } catch {
      return undefined;
    }
  }

  /** Marks the file as used now, so that `cleanDerived` keeps it longer than others. */
  touch(): void {
    const { path, files } = this.#target() ?? {};
    if (path === undefined || !files) return;
    try {
      const fd = files.open(path, 'r+');
      try {
        files.setTime(fd, Date.now() / 1000);
      } finally {
        files.close(fd);
      }
    } catch {
      // A file of another user, or of a disk that is read-only, counts as used when it was written.
    }
  }

  /** Returns the pieces of a file with these sections. */
  pieces(sections: readonly Uint8Array[]): Uint8Array[] {
    return sectionFile(derivedMark(this.#content), sections);
  }

  /** Replaces the file; does nothing if the memory is in no repository. */
  async write(pieces: readonly Uint8Array[]): Promise<void> {
    const target = this.#target();
    if (!target) return;
    const { disk, folder, inUse } = target.place;
    await disk.replace(target.path, pieces, 0o600);
    cleanDerived(disk, folder, inUse);
  }

  /** Replaces the file by these sections; returns its id. */
  async writeIdentified(sections: readonly Uint8Array[]): Promise<string> {
    const { pieces, id } = identifiedFile(derivedMark(this.#content), sections);
    await this.write(pieces);
    return id;
  }

  /** Whether there is a place for the file. */
  get hasPlace(): boolean {
    return this.#target() !== undefined;
  }

  /** The path of the file; undefined if the memory is in no repository. */
  #target():
    | { readonly place: DerivedPlace; readonly path: string; readonly files: Files }
    | undefined {
    try {
      const place = this.#place();
      if (!place) return undefined;
      const path = join(place.folder, derivedName(this.#kind, place.state));
      return { place, path, files: place.disk.files };
    } catch {
      return undefined;
    }
  }
}
