import { dirname, join, relative, sep } from 'node:path';
import { reviewBranches } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Repository } from '../../git/commit/repository.ts';
import { isLinkedHere } from '../../git/commit/work-tree.ts';
import type { Oid } from '../../git/objects/object.ts';
import { Refs } from '../../git/refs/refs.ts';
import { findWorkTree } from '../../git/repository/discover.ts';
import { type PlacesOptions, treeFolder } from './memory-folders.ts';
import { ReviewBase } from './review-base.ts';

/** The work tree of a review. */
export interface ReviewTree {
  /** Its memory folder. */
  readonly folder: string;
  /** The commit of the memory to merge into it; undefined if the memory is as at the last look. */
  readonly base: Oid | undefined;
}

/** The linked work trees of reviews, in which agents read and write their changes. */
export class ReviewTrees {
  readonly #options: PlacesOptions;
  readonly #bases = new Map<string, ReviewBase>();
  /** The HEAD of the memory at the last look, by the top of the work tree of the review. */
  readonly #heads = new Map<string, Oid | undefined>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /**
   * Finds the work tree of a review.
   *
   * @param memory the folder of the memory that is reviewed.
   * @param root of the project.
   * @param create whether to create a missing one.
   * @returns undefined if it is missing, or if the memory is not in a repository.
   */
  async find(
    memory: string,
    root: string,
    name: string,
    create: boolean,
  ): Promise<ReviewTree | undefined> {
    const { disk } = this.#options;
    const tree = findWorkTree(disk.files, dirname(memory));
    if (!tree) return undefined;
    const branch = reviewBranches + name;
    const top = treeFolder(tree.commonDir, branch);
    const folder = join(top, relative(tree.top, memory));
    const isThere = isLinkedHere(disk.files, tree.commonDir, top);
    const refs = new Refs(disk.files, tree.gitDir, tree.commonDir);
    const ref = `refs/heads/${branch}`;
    // Another clone of the program may have made the branch.
    if (!isThere && !create && refs.resolve(ref) === undefined) return undefined;
    const { oid } = refs.head();
    if (isThere && this.#heads.has(top) && this.#heads.get(top) === oid) {
      return { folder, base: undefined };
    }
    const path = relative(tree.top, memory).split(sep).join('/');
    const known = this.#bases.get(memory) ?? new ReviewBase(path, dirname(memory) === root);
    this.#bases.set(memory, known);
    const repository = new Repository(disk, tree, this.#options);
    try {
      const base = await known.tip(repository);
      if (base === undefined && refs.resolve(ref) === undefined) throw nothingCommitted(memory);
      if (base !== undefined && refs.resolve(ref) === undefined) {
        const log = 'memory-bank review';
        await repository.direct.moveRef(ref, { to: base, log, isNew: true });
      }
      if (!isThere) {
        await repository.direct.addWorkTree({ top, ref, commit: refs.resolve(ref) });
      }
      this.#heads.set(top, oid);
      return { folder, base };
    } finally {
      repository.close();
    }
  }
}

function nothingCommitted(memory: string): MemoryError {
  return new MemoryError(
    'conflict',
    `Changes cannot wait for a review: nothing of ${memory} is committed.`,
    {
      hint: 'A person commits its config.yaml first, or makes the first change.',
      data: { path: memory },
    },
  );
}
