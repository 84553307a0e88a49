import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { folderOf } from '../../git/disk/folder.ts';
import { isBlob, type Oid } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import type { Steps } from '../records/slices.ts';

/** A larger file counts as edited, in bytes. */
const maxFile = 8 * 1024 * 1024;

/** The files of a commit as they are in the work tree. Paths are relative to its top. */
export class ProjectTree {
  readonly #repository: Repository;
  /** The files of the commit, and their blobs. */
  readonly files = new Map<string, Oid>();
  readonly #folders = new Set<string>(['']);
  /** Symbolic links and submodules, behind which nothing is known. */
  readonly #doors = new Set<string>();
  /** Files and folders by their last name. */
  readonly #byName = new Map<string, string[]>();
  /** Files by their path without the extension. */
  readonly #stems = new Set<string>();
  /** The last names of all files and folders, without their extensions. */
  #names: ReadonlySet<string> | undefined;
  readonly #present = new Map<string, boolean>();
  readonly #edited = new Map<string, boolean>();
  readonly #unknown = new Map<string, boolean>();

  private constructor(repository: Repository) {
    this.#repository = repository;
  }

  static *read(repository: Repository, head: Oid): Steps<ProjectTree> {
    const tree = new ProjectTree(repository);
    for (const { path, after } of differences(
      repository.odb,
      undefined,
      treeOf(repository.odb, head),
    )) {
      yield;
      if (after) tree.#add(path, after.mode, after.oid);
    }
    return tree;
  }

  #add(path: string, mode: string, oid: Oid): void {
    if (!mode.startsWith('100')) {
      this.#doors.add(path);
      return;
    }
    this.files.set(path, oid);
    const name = path.slice(path.lastIndexOf('/') + 1);
    addTo(this.#byName, name, path);
    const dot = name.lastIndexOf('.');
    if (dot > 0) this.#stems.add(path.slice(0, path.length - name.length + dot));
    for (let folder = folderOf(path); !this.#folders.has(folder); folder = folderOf(folder)) {
      this.#folders.add(folder);
      addTo(this.#byName, folder.slice(folder.lastIndexOf('/') + 1), folder);
    }
  }

  /** Whether a file or folder exists, committed or not. */
  has(path: string): boolean {
    const known = this.#present.get(path);
    if (known !== undefined) return known;
    const found = this.#look(path);
    this.#present.set(path, found);
    return found;
  }

  #look(path: string): boolean {
    if (path === '') return true;
    if (!this.has(folderOf(path)) && !this.isCommitted(path)) return false;
    try {
      if (this.#repository.work.peek(path)) return true;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      return true;
    }
    // A sparse checkout leaves files out of the work tree.
    if (this.files.has(path)) return this.#repository.staged(path)?.skipWorktree === true;
    if (!this.#folders.has(path)) return false;
    for (const file of this.files.keys()) {
      if (file.startsWith(`${path}/`) && this.#repository.staged(file)?.skipWorktree) return true;
    }
    return false;
  }

  /** Whether the commit has a file or folder. */
  isCommitted(path: string): boolean {
    return this.files.has(path) || this.#folders.has(path);
  }

  /** Whether nothing can be said about a path: it leads through a link or submodule, or git ignores it. */
  isUnknown(path: string): boolean {
    const known = this.#unknown.get(path) ?? this.#findUnknown(path);
    this.#unknown.set(path, known);
    return known;
  }

  #findUnknown(path: string): boolean {
    for (let at = path; at !== ''; at = folderOf(at)) if (this.#doors.has(at)) return true;
    return this.#stems.has(path) || this.#repository.ignores(path);
  }

  /** The files and folders whose path ends in another one. */
  endingIn(path: string): readonly string[] {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return (this.#byName.get(name) ?? []).filter((one) => one === path || one.endsWith(`/${path}`));
  }

  /** Whether any file or folder has a name. */
  hasNamed(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Whether any file or folder has a name, also with an extension. */
  hasStem(stem: string): boolean {
    this.#names ??= new Set([...this.#byName.keys()].map((name) => name.replace(/\.[^.]*$/, '')));
    return this.#names.has(stem);
  }

  /** The bytes of a committed file in the work tree; undefined if it cannot be read. */
  bytes(path: string, limit: number): Buffer | undefined {
    try {
      return this.#repository.work.load(path, limit)?.bytes;
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  /** Whether a file in the work tree is not as it is in the commit. */
  isEdited(path: string): boolean {
    let edited = this.#edited.get(path);
    if (edited === undefined) {
      const bytes = this.bytes(path, maxFile);
      const oid = this.files.get(path);
      edited = bytes === undefined || oid === undefined || !isBlob(bytes, oid);
      this.#edited.set(path, edited);
    }
    return edited;
  }

  /** The bytes of a file in the commit; undefined for one that it does not have, or that is too large. */
  committed(path: string, limit: number): Buffer | undefined {
    const { odb } = this.#repository;
    const oid = this.files.get(path);
    if (oid === undefined || !odb.has(oid) || odb.size(oid) > limit) return undefined;
    return odb.content(oid, 'blob');
  }
}
