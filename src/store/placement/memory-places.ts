import { join, relative, sep } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Repository } from '../../git/commit/repository.ts';
import { isLinkedHere } from '../../git/commit/work-tree.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import type { Oid } from '../../git/objects/object.ts';
import { Refs } from '../../git/refs/refs.ts';
import { findWorkTree, isStillThere, type WorkTree } from '../../git/repository/discover.ts';
import {
  eachBranch,
  type MemoryPlace,
  memoryBranch,
  placeInWords,
  placeSection,
  readPlace,
} from '../../git/repository/memory-place.ts';
import {
  branchesOfMemory,
  finishedBranches,
  nearestMemory,
  type Tip,
  tipOf,
} from './memory-branches.ts';
import { folderIn, isReviewFolder, type PlacesOptions, treeFolder } from './memory-folders.ts';
import { ReviewTrees } from './review-trees.ts';

/** The memory of a project. */
export interface FoundMemory {
  /** The memory folder; it need not exist. */
  readonly folder: string;
  /** Branches of the memory that are to be merged, because their code was; see `finishedBranches`. */
  readonly finished: readonly string[];
}

/** A project whose place was looked up. */
interface KnownProject {
  readonly tree: WorkTree;
  /** The stat of the configuration when it was read. */
  readonly config: Stat | undefined;
  readonly placement: MemoryPlace | undefined;
}

/** A look at the disk. */
interface Look {
  readonly project: KnownProject | undefined;
  /** Whether the project has a memory folder. */
  readonly hasFolder: boolean;
}

/**
 * Finds the memory folder of a project, as the placement of its repository says.
 *
 * A memory on a branch of its own is checked out in a linked work tree in the git directory, so that neither
 * the work tree of the project nor its index is touched. With one branch for each branch of the project,
 * the folder is another one as soon as another branch is checked out.
 */
export class MemoryPlaces {
  readonly #options: PlacesOptions;
  readonly #known = new Map<string, KnownProject>();
  /** The looks at the disk that the calls of this step share, by root. */
  readonly #now = new MicrotaskMemo<Map<string, Look>>();
  readonly #creating = new Map<string, Promise<void>>();
  /** Projects without a memory in which a branch of it was looked for, and the state of the refs then. */
  readonly #searched = new Map<string, string>();
  /** The commit of the code at the last look for finished branches, by the branch of the memory. */
  readonly #heads = new Map<string, Oid>();
  readonly #reviews: ReviewTrees;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#reviews = new ReviewTrees(options);
  }

  /** Finds the work tree of a review; see `ReviewTrees.find`. */
  findReview(...request: Parameters<ReviewTrees['find']>): ReturnType<ReviewTrees['find']> {
    return this.#reviews.find(...request);
  }

  /**
   * Returns the place of the memory of a project, as it is at the time of the call.
   *
   * @param root real path of the project.
   * @throws MemoryError `not_found` if its repository is missing, `damaged` for a damaged configuration.
   */
  async find(root: string): Promise<FoundMemory> {
    const usual = { folder: join(root, memoryFolderName), finished: [] };
    const { project, hasFolder } = this.#look(root);
    if (!project) return usual;
    const { tree } = project;
    const searched = project.placement === undefined && !hasFolder;
    const placement = searched ? await this.#searchBranches(root, tree) : project.placement;
    if (!placement) return usual;
    if (placement.kind === 'repository') {
      return { folder: this.#inRepository(placement.folder), finished: [] };
    }
    const { branch: pattern } = placement;
    const branch = memoryBranch(pattern, this.#codeBranch(pattern, tree));
    const top = await this.#treeOf(pattern, branch, tree);
    return {
      folder: join(top, relative(tree.top, root), memoryFolderName),
      finished: pattern.endsWith(eachBranch) ? this.#finished(pattern, branch, tree) : [],
    };
  }

  /** Whether the memory of a project, or a review of it, is still in a folder. */
  isCurrent(root: string, folder: string): boolean {
    const project = this.#projectAt(root);
    if (!project || isReviewFolder(folder)) return true;
    const { tree, placement } = project;
    if (!placement) return folder === join(root, memoryFolderName);
    if (placement.kind === 'repository') return folder === this.#inRepository(placement.folder);
    // With a branch for each branch, the one that was checked out at the beginning of the call counts.
    const { branch } = placement;
    const start = treeFolder(tree.commonDir, memoryBranch(branch, ''));
    return folder.startsWith(branch.endsWith(eachBranch) ? start : start + sep);
  }

  /** The finished branches, if another commit of the code is checked out than at the last call. */
  #finished(pattern: string, branch: string, tree: WorkTree): readonly string[] {
    const { files } = this.#options.disk;
    const { oid } = new Refs(files, tree.gitDir, tree.commonDir).head();
    if (oid === undefined || this.#heads.get(branch) === oid) return [];
    this.#heads.set(branch, oid);
    return this.#inRepositoryAt(tree, ({ refs, odb }) =>
      finishedBranches(refs, odb, pattern, branch, oid),
    );
  }

  #look(root: string): Look {
    const looks = this.#now.get(() => new Map());
    const found = looks.get(root);
    if (found) return found;
    const project = this.#projectAt(root);
    const folder = join(root, memoryFolderName);
    const look = { project, hasFolder: this.#options.disk.files.lstat(folder) !== undefined };
    looks.set(root, look);
    return look;
  }

  #projectAt(root: string): KnownProject | undefined {
    const { files } = this.#options.disk;
    const known = this.#known.get(root);
    const tree =
      known && isStillThere(files, known.tree, root) ? known.tree : findWorkTree(files, root);
    if (!tree) return undefined;
    const config = files.lstat(join(tree.commonDir, 'config'));
    if (known?.tree === tree && sameStat(known.config, config)) return known;
    const project = { tree, config, placement: readPlace(files, tree.commonDir) };
    this.#known.set(root, project);
    return project;
  }

  /** Looks for a branch of the memory where there is no memory folder, as in a fresh clone, and adopts it. */
  async #searchBranches(root: string, tree: WorkTree): Promise<MemoryPlace | undefined> {
    const { disk, warn } = this.#options;
    const state = stateOfRefs(disk, tree);
    if (this.#searched.get(root) === state) return undefined;
    this.#searched.set(root, state);
    const repository = new Repository(disk, tree, this.#options);
    try {
      const { refs, odb } = repository;
      const branch = branchesOfMemory(refs, odb, folderIn(tree, root));
      if (branch === undefined) return undefined;
      const place: MemoryPlace = { kind: 'own-branch', branch };
      await repository.direct.changeConfig(placeSection(place));
      warn(`The memory of ${root} is ${placeInWords(place)}.`);
      return place;
    } catch (error) {
      // Where the refs cannot be read, the memory itself says so.
      if (error instanceof MemoryError && error.code === 'unsupported') return undefined;
      throw error;
    } finally {
      repository.close();
    }
  }

  #inRepository(folder: string): string {
    const { files } = this.#options.disk;
    const top = files.realpath(folder);
    if (top !== undefined && findWorkTree(files, top)) return join(top, memoryFolderName);
    throw new MemoryError('not_found', `The repository of the memory is missing: ${folder}.`, {
      hint: 'Clone it there again, or run "memory-bank place" with another folder.',
      data: { path: folder },
    });
  }

  /** The linked work tree of a branch of the memory; it is created where it is missing. */
  async #treeOf(pattern: string, branch: string, tree: WorkTree): Promise<string> {
    const top = treeFolder(tree.commonDir, branch);
    if (isLinkedHere(this.#options.disk.files, tree.commonDir, top)) return top;
    const creating = this.#creating.get(top) ?? this.#create(pattern, branch, tree);
    this.#creating.set(top, creating);
    await creating.finally(() => this.#creating.delete(top));
    return top;
  }

  /** The branch of the code whose memory counts; for a detached HEAD, the nearest one that has a memory. */
  #codeBranch(pattern: string, tree: WorkTree): string {
    if (!pattern.endsWith(eachBranch)) return '';
    const { disk } = this.#options;
    const { ref, oid } = new Refs(disk.files, tree.gitDir, tree.commonDir).head();
    if (ref !== undefined) return ref.replace(/^refs\/heads\//, '');
    const near = this.#inRepositoryAt(tree, ({ refs, odb }) =>
      oid === undefined ? undefined : nearestMemory(refs, odb, pattern, oid),
    );
    if (near) return near.branch;
    throw new MemoryError('not_found', 'HEAD is detached, and no branch near it has a memory.', {
      hint: 'Check out a branch: "git switch <branch>".',
    });
  }

  /** Creates the branch of the memory where it is missing, and its work tree. */
  async #create(pattern: string, branch: string, tree: WorkTree): Promise<void> {
    const { disk } = this.#options;
    const repository = new Repository(disk, tree, this.#options);
    try {
      const { refs, odb } = repository;
      const ref = `refs/heads/${branch}`;
      const head = refs.head().oid;
      const known: Tip | undefined =
        tipOf(refs, branch) ??
        (pattern.endsWith(eachBranch) && head !== undefined
          ? nearestMemory(refs, odb, pattern, head)
          : undefined);
      if (known && refs.resolve(ref) === undefined) {
        const log = `branch: Created from ${known.ref}`;
        await repository.direct.moveRef(ref, { to: known.oid, log, isNew: true });
      }
      await followRemote(repository, branch);
      const top = treeFolder(tree.commonDir, branch);
      await repository.direct.addWorkTree({ top, ref, commit: known?.oid });
    } finally {
      repository.close();
    }
  }

  #inRepositoryAt<T>(tree: WorkTree, look: (repository: Repository) => T): T {
    const repository = new Repository(this.#options.disk, tree, this.#options);
    try {
      return look(repository);
    } finally {
      repository.close();
    }
  }
}

/** Gives a branch of the memory the upstream of its name, so that a sync pushes it. */
export async function followRemote(repository: Repository, branch: string): Promise<void> {
  const config = repository.config();
  const remotes = new Set([...config.section('remote').keys()].map((key) => key.split('.', 1)[0]));
  const [only] = remotes;
  const remote = remotes.has('origin') ? 'origin' : remotes.size === 1 ? only : undefined;
  if (remote === undefined || config.get(`branch.${branch}.remote`) !== undefined) return;
  const settings = { remote, merge: `refs/heads/${branch}` };
  await repository.direct.changeConfig({ name: 'branch', subsection: branch, settings });
}

/** A text that changes when a branch or remote-tracking branch is created next to others. */
function stateOfRefs({ files }: Disk, { commonDir }: WorkTree): string {
  const loose = ['refs/heads', 'refs/heads/memory', 'refs/remotes/origin'];
  const paths = ['reftable/tables.list', 'packed-refs', ...loose];
  return paths
    .map((path) => files.lstat(join(commonDir, path)))
    .map((stat) => `${stat?.ino} ${stat?.mtimeMs}`)
    .join();
}
