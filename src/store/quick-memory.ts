import { join, relative, sep } from 'node:path';
import { checksum } from '../core/checksum.ts';
import type { BranchWork } from '../core/context.ts';
import type { LocalState } from '../core/store.ts';
import { Disk } from '../git/disk/disk.ts';
import { type Files, NodeFiles } from '../git/disk/file-layer.ts';
import { type Oid, parseCommit } from '../git/objects/object.ts';
import { ObjectDatabase } from '../git/objects/odb.ts';
import { type Head, Refs } from '../git/refs/refs.ts';
import { findWorkTree, type WorkTree } from '../git/repository/discover.ts';
import { branchWork } from './history/branch-work.ts';
import { drift, folderAt, lastChange } from './history/last-change.ts';
import { LocalFile } from './records/local-state.ts';
import { SectionFile, sectionFile } from './records/section-file.ts';

/** The files of a memory as their stats show them. */
export interface FilesState {
  /** A hash of the name, size, times and inode of each file: equal for equal states. */
  readonly key: string;
  /** When a file last changed, in milliseconds. */
  readonly newest: number;
}

/** Limit of commits between two states whose memory is compared. */
const maxCommits = 200;

/**
 * A memory as a short process reads it: git and the stats of the files, without the records.
 *
 * It loads a small part of the program, in a fraction of the time, and never writes a record.
 */
export class QuickMemory {
  readonly local: LocalState;
  readonly #disk: Disk;
  readonly #tree: WorkTree;
  readonly #refs: Refs;
  readonly #odb: ObjectDatabase;
  /** Absolute path of the memory folder. */
  readonly #path: string;
  /** Its path in the work tree, with `/`. */
  readonly #folder: string;

  private constructor(files: Files, tree: WorkTree, path: string) {
    this.#disk = new Disk(files, 'relaxed');
    this.#tree = tree;
    this.#refs = new Refs(files, tree.gitDir, tree.commonDir);
    this.#odb = new ObjectDatabase(this.#disk, tree.commonDir);
    this.#path = path;
    this.#folder = relative(tree.top, path).split(sep).join('/');
    this.local = new LocalFile(this.#disk, () => this.#own());
  }

  /**
   * Opens the memory of a project, or returns undefined: it is not in a repository, or a server died in
   * the middle of a change, which has to be repaired first.
   *
   * @param path of the memory folder; its parent is a real path.
   */
  static open(path: string): QuickMemory | undefined {
    const files = new NodeFiles();
    const tree = findWorkTree(files, join(path, '..'));
    if (!tree) return undefined;
    const memory = new QuickMemory(files, tree, path);
    const leftovers = files.list(memory.#own())?.some(({ name }) => name.startsWith('journal'));
    return leftovers ? undefined : memory;
  }

  /** A file for derived data of this memory in the git directory; each work tree has its own. */
  derivedFile(name: string): string {
    const id = checksum(this.#tree.gitDir, this.#folder);
    return join(this.#own(), `${name}-${id}.index`);
  }

  hasFile(path: string): boolean {
    return this.#disk.files.lstat(path) !== undefined;
  }

  /**
   * Reads a derived file of sections.
   *
   * @returns undefined if it is missing, damaged or of another mark.
   */
  read(path: string, mark: string, limit: number): SectionFile | undefined {
    const bytes = this.#disk.files.read(path, limit);
    return bytes && SectionFile.open(bytes, mark);
  }

  /** Replaces a derived file, which may be lost in a power cut. */
  async write(path: string, mark: string, sections: readonly Uint8Array[]): Promise<void> {
    if (this.#disk.files.lstat(this.#own()) === undefined) return;
    await this.#disk.replace(path, sectionFile(mark, sections), 0o600);
  }

  /**
   * Reads the stats of all files of the memory.
   *
   * @param limit of files and folders; with more, the answer is undefined.
   */
  filesState(limit: number): FilesState | undefined {
    const { files } = this.#disk;
    const names: string[] = [];
    const numbers: number[] = [];
    let newest = 0;
    const folders = [this.#path];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = files.list(folder) ?? [];
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      names.push(`${folder}${sep}`);
      for (const { name, kind } of entries) {
        const path = folder + sep + name;
        if (kind === 'directory') {
          folders.push(path);
          continue;
        }
        const stat = files.lstat(path);
        if (!stat || names.length > limit) return undefined;
        const { size, mtimeMs, ctimeMs, ino } = stat;
        names.push(name);
        numbers.push(size, mtimeMs, ctimeMs, ino);
        newest = Math.max(newest, mtimeMs, ctimeMs);
      }
    }
    const bits = new Int32Array(Float64Array.from(numbers).buffer);
    return { key: checksum(names.join('\0'), bits), newest };
  }

  head(): Head {
    return this.#refs.head();
  }

  /** The id of the memory folder in a commit; undefined if the commit does not have it. */
  treeAt(commit: Oid): Oid | undefined {
    return folderAt(this.#odb, commit, this.#folder);
  }

  /**
   * Whether all commits after an earlier one, up to HEAD, leave the memory as it was.
   *
   * The answer is also false if it would take long to find out, as after a merge.
   */
  isUnchangedSince(earlier: Oid): boolean {
    let at = this.head().oid;
    if (at === earlier) return true;
    const now = at === undefined ? undefined : this.treeAt(at);
    for (let i = 0; i < maxCommits && at !== undefined; i++) {
      const { parents } = parseCommit(this.#odb.content(at, 'commit'));
      const [parent] = parents;
      if (parent === undefined || parents.length > 1 || !this.#odb.has(parent)) return false;
      if (this.treeAt(parent) !== now) return false;
      if (parent === earlier) return true;
      at = parent;
    }
    return false;
  }

  lastChange(): Oid | undefined {
    const { oid } = this.head();
    return oid && lastChange(this.#odb, oid, this.#folder)?.oid;
  }

  /** Whether commits after an earlier one change files outside the memory. */
  hasCommitsSince(earlier: Oid): boolean {
    const { oid } = this.head();
    return oid !== undefined && drift(this.#odb, earlier, oid, this.#folder, 1).commits > 0;
  }

  work(limit: number): BranchWork {
    if (this.head().oid === undefined) return { base: undefined, committed: [], edited: [] };
    const repository = { odb: this.#odb, refs: this.#refs, tree: this.#tree };
    return branchWork(repository, this.#disk.files, this.#folder, limit);
  }

  #own(): string {
    return join(this.#tree.commonDir, 'memory-bank');
  }
}
