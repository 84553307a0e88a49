import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { removal } from '../disk/held-files.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { openObjects } from '../repository/repository-format.ts';

/** Limit of one fetch, in bytes of packed objects. */
export const maxFetched = 256 * 1024 * 1024;

/** Content and limit of a new quarantine. */
export interface QuarantineOptions {
  /** The settings of its configuration file. */
  readonly config: string;
  /** Commits that are offered to a remote as known. */
  readonly known: readonly Oid[];
  /** In bytes of packed objects. */
  readonly limit: number;
}

/**
 * A git directory for one exchange with a remote; fetched objects stay in it until they are accepted.
 *
 * It has access to the objects of the repository, but not to its refs and settings. It is in the objects
 * folder, under a name that `git prune` removes if this process was killed.
 */
export class Quarantine {
  readonly gitDir: string;
  readonly #disk: Disk;
  readonly #target: string;
  readonly #limit: number;

  constructor(disk: Disk, commonDir: string, { config, known, limit }: QuarantineOptions) {
    this.#disk = disk;
    this.#target = join(commonDir, 'objects');
    this.#limit = limit;
    this.gitDir = mkdtempSync(join(this.#target, 'tmp_objdir-sync-'));
    const write = (name: string, text: string | Buffer) =>
      writeFileSync(join(this.gitDir, name), text, { mode: 0o600 });
    mkdirSync(join(this.gitDir, 'objects/info'), { recursive: true });
    mkdirSync(join(this.gitDir, 'refs/heads'), { recursive: true });
    write('HEAD', 'ref: refs/heads/none\n');
    write('config', config);
    write('objects/info/alternates', `${this.#target.split(sep).join('/')}\n`);
    for (const [i, oid] of known.entries()) write(`refs/heads/known-${i}`, `${oid}\n`);
    const shallow = disk.files.read(join(commonDir, 'shallow'));
    if (shallow) write('shallow', shallow);
  }

  /** Opens its objects together with those of the repository. */
  objects(): ObjectDatabase {
    return openObjects(this.#disk, this.gitDir);
  }

  /** Returns the error for more bytes than the limit. */
  check(): MemoryError | undefined {
    const size = this.#files().reduce((sum, { size }) => sum + size, 0);
    if (size <= this.#limit) return undefined;
    return new MemoryError('too_large', 'The remote sends more than sync accepts at once.', {
      hint: 'Run "git fetch", then sync again. Nothing was changed.',
      data: { limit: this.#limit },
    });
  }

  /** Moves its objects into the repository. */
  async keep(): Promise<void> {
    const found = this.#files().filter(({ name }) => !/^tmp_|\.(?:keep|lock)$/.test(name));
    const isIndex = ({ name }: { readonly name: string }) => name.endsWith('.idx');
    // Readers find a pack by its index, so the index comes last.
    await this.#move(found.filter((file) => !isIndex(file)));
    await this.#move(found.filter(isIndex));
  }

  remove(): void {
    rmSync(this.gitDir, removal);
  }

  async #move(found: readonly Found[]): Promise<void> {
    const { files } = this.#disk;
    const changed = new Set<string>();
    for (const { folder, name } of found) {
      const target = join(this.#target, folder);
      for (const directory of this.#disk.makeDirectories(target)) changed.add(directory);
      changed.add(target);
      const to = join(target, name);
      // A file of this name has the same content.
      if (files.lstat(to)) continue;
      const from = join(this.gitDir, 'objects', folder, name);
      this.#disk.shareNew(from);
      files.rename(from, to);
    }
    await this.#disk.settle(changed);
  }

  /** Lists the files of its objects. */
  #files(): Found[] {
    const { files } = this.#disk;
    const top = join(this.gitDir, 'objects');
    const folders = (files.list(top) ?? []).filter(({ name }) =>
      /^(?:pack|[0-9a-f]{2})$/.test(name),
    );
    return folders.flatMap(({ name: folder }) =>
      (files.list(join(top, folder)) ?? []).map(({ name }) => {
        const size = files.lstat(join(top, folder, name))?.size ?? 0;
        return { folder, name, size };
      }),
    );
  }
}

interface Found {
  readonly folder: string;
  readonly name: string;
  readonly size: number;
}
