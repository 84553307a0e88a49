import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Repository } from '../../git/commit/repository.ts';
import type { RepositoryOptions } from '../../git/commit/repository-options.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { missingRepository, storageError } from '../../git/disk/storage-error.ts';
import { findWorkTree, isStillThere, type WorkTree } from '../../git/repository/discover.ts';
import { contains } from '../../git/repository/enclosure.ts';
import { ChangeQueue } from './change-queue.ts';

/** The place of a memory on disk. */
export interface MemoryHomeOptions extends RepositoryOptions {
  readonly disk: Disk;
  /** Absolute path of the folder of the project. */
  readonly root: string;
  /**
   * Absolute path of the memory folder: `<root>/.memory-bank`, the same in another work tree for a memory
   * with a placement of its own, or the root itself for the user's store.
   */
  readonly path: string;
  /** Whether the memory has a separate repository at the root, also inside another repository. */
  readonly own: boolean;
}

/** The repository to which a memory is committed, and that of the project's code. */
export class MemoryHome {
  readonly #options: MemoryHomeOptions;
  #repository: Repository | undefined;
  readonly #repositoryNow = new MicrotaskMemo<Repository | undefined>();
  #changes: ChangeQueue | undefined;
  /** The repository of the project's code, if it is not that of the memory. */
  #code: Repository | undefined;
  /** The work tree of the repository at the last look-up. */
  #tree: WorkTree | undefined;

  constructor(options: MemoryHomeOptions) {
    this.#options = options;
  }

  /** The repository of the memory; undefined if there is none yet. */
  repository(): Repository | undefined {
    return looking(() => this.#repositoryNow.get(() => this.#lookForRepository()));
  }

  /** The queue of changes of the repository; undefined if there is none yet. */
  get changes(): ChangeQueue | undefined {
    return this.#changes;
  }

  /** Whether the memory is in another work tree than the code. */
  get isApart(): boolean {
    const { root, path } = this.#options;
    return path !== root && dirname(path) !== root;
  }

  /**
   * The repository of the project's code, which is that of the memory unless the memory has a placement of
   * its own; undefined if there is none.
   */
  code(): Repository | undefined {
    if (!this.isApart) return this.repository();
    const { disk, root } = this.#options;
    return looking(() => {
      if (this.#code && isStillThere(disk.files, this.#code.tree, root)) return this.#code;
      this.#code?.close();
      const tree = findWorkTree(disk.files, root, this.#options.env);
      this.#code = tree && new Repository(disk, tree, this.#options);
      return this.#code;
    });
  }

  /** The folder whose path the memory has in the trees of the code: `.memory-bank` at the root. */
  get folderInCode(): string {
    const code = this.code();
    if (!code || !this.isApart) return this.inTree('');
    return join(relative(code.tree.top, this.#options.root), this.name).split(sep).join('/');
  }

  #lookForRepository(): Repository | undefined {
    const { disk, own } = this.#options;
    const start = this.around;
    const known = this.#repository;
    if (known && isStillThere(disk.files, known.tree, start)) return known;
    known?.close();
    this.#repository = undefined;
    this.#changes = undefined;
    const tree = findWorkTree(disk.files, start, this.#options.env);
    // The user's store is a separate repository, even if the home directory is one.
    if (!tree || (own && tree.top !== start)) return undefined;
    // If the repository is missing, a repository around it does not replace it.
    if (this.#tree && !contains(this.#tree.top, tree.top)) return undefined;
    this.#tree = tree;
    const repository = new Repository(disk, tree, this.#options);
    this.#changes = new ChangeQueue((...round) => repository.commitAll(...round));
    this.#repository = repository;
    return repository;
  }

  /**
   * Refuses to create a repository where one has disappeared, where another one is by the environment, or in a
   * missing folder.
   *
   * @throws MemoryError `storage`, `unsupported`, `no_project`.
   */
  checkMissing(): void {
    if (this.#tree) throw missingRepository(join(this.#tree.top, '.git'));
    const { disk, own, env } = this.#options;
    const root = this.around;
    // The first change creates the user's store.
    if (own) return;
    checkUnclaimed(root, env);
    if (disk.files.realpath(root) !== undefined) return;
    throw new MemoryError('no_project', `The folder ${root} is missing.`, {
      hint: 'Move it back, or start the server in another folder. Nothing was changed.',
      data: { root },
    });
  }

  /** The repository that a change would create. */
  missing(): Repository {
    const top = this.around;
    const gitDir = join(top, '.git');
    const tree = { top, gitDir, commonDir: gitDir };
    return new Repository(this.#options.disk, tree, this.#options);
  }

  /** A repository whose creation a dead process began: its locks would block git. */
  halfMade(): Repository | undefined {
    const missing = this.missing();
    return this.#options.disk.files.lstat(missing.folder) ? missing : undefined;
  }

  /** Returns a path of the memory relative to the top of the work tree; '' means the folder itself. */
  inTree(path: string): string {
    const top = this.repository()?.tree.top ?? this.around;
    const folder = relative(top, this.realPath()).split(sep);
    return [...folder, path].filter((part) => part).join('/');
  }

  /** Returns the path of the memory folder with all links resolved; it need not exist yet. */
  realPath(): string {
    const { disk, path } = this.#options;
    return looking(() => disk.files.realpath(path)) ?? join(this.around, this.name);
  }

  /** The name of the memory folder; empty for the user's store. */
  get name(): string {
    const { root, path } = this.#options;
    return path === root ? '' : basename(path);
  }

  /** The folder around the memory, or the user's store itself, without links; it need not exist yet. */
  get around(): string {
    const { disk, root, path } = this.#options;
    const folder = path === root ? root : dirname(path);
    return looking(() => disk.files.realpath(folder)) ?? folder;
  }

  close(): void {
    this.#repository?.close();
    this.#code?.close();
  }
}

/** Refuses a folder in a work tree that the environment gives to a repository elsewhere. */
function checkUnclaimed(root: string, { GIT_DIR: gitDir, GIT_WORK_TREE: top }: NodeJS.ProcessEnv) {
  if (!gitDir || !top || !contains(resolve(top), root)) return;
  throw new MemoryError(
    'unsupported',
    `${root} belongs to the repository ${gitDir} by GIT_DIR and GIT_WORK_TREE, which this program does not follow.`,
    {
      hint: `Nothing was written. Write "gitdir: ${resolve(gitDir)}" into a file .git in ${resolve(top)}.`,
    },
  );
}

/** Reports a failure of the disk during a look as one of the memory. */
function looking<T>(look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw storageError(error, 'look for the repository');
  }
}
