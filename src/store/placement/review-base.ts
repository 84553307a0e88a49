import type { Repository } from '../../git/commit/repository.ts';
import type { Oid } from '../../git/objects/object.ts';
import { type CopiedHistory, copyMemory, embedMemory } from './copied-history.ts';
import { holdsOnly } from './memory-branches.ts';

/**
 * The history of a memory on which reviews are based: without the code, if there is code in its commits.
 *
 * A review is then a branch with the memory alone, which a linked work tree contains whole.
 */
export class ReviewBase {
  /** The memory folder, relative to the top of the work tree. */
  readonly #folder: string;
  readonly #isCode: boolean;
  #copy: CopiedHistory | undefined;

  /** @param isCode whether the commits of the memory are those of the code. */
  constructor(folder: string, isCode: boolean) {
    [this.#folder, this.#isCode] = [folder, isCode];
  }

  /** The commit that stands for HEAD; undefined before the first change of the memory. */
  async tip(repository: Repository): Promise<Oid | undefined> {
    const { oid } = repository.head();
    if (oid === undefined || holdsOnly(repository.odb, oid, this.#folder)) return oid;
    return (await this.#copied(repository, oid)).tip;
  }

  /** The commit that merges a review into HEAD: its last one, or the last one of its copy on the code. */
  async commitFor(repository: Repository, review: Oid): Promise<Oid> {
    const { oid } = repository.head();
    if (oid === undefined || holdsOnly(repository.odb, oid, this.#folder)) return review;
    const known = await this.#copied(repository, oid);
    const { tip, objects } = embedMemory(repository.odb, review, this.#folder, known);
    await repository.direct.store(objects);
    return tip ?? review;
  }

  /**
   * Puts a commit on top of a commit of a review's history where HEAD can merge it.
   *
   * @returns the commit for HEAD, and the one that the review has in common with HEAD afterwards.
   */
  async share(
    repository: Repository,
    commit: Oid,
  ): Promise<{ readonly forHead: Oid; readonly forReview: Oid }> {
    const { odb, direct } = repository;
    const { oid } = repository.head();
    const folder = this.#folder;
    if (oid === undefined || holdsOnly(odb, oid, folder)) {
      return { forHead: commit, forReview: commit };
    }
    const known = await this.#copied(repository, oid);
    const { tip: forHead = commit, objects } = embedMemory(odb, commit, folder, known);
    await direct.store(objects);
    // The copy names the commit of the code, so it differs from the commit of the review.
    const copy = copyMemory(odb, forHead, folder, folder, this.#isCode, known);
    await direct.store(copy.objects);
    return { forHead, forReview: copy.tip ?? commit };
  }

  async #copied(repository: Repository, head: Oid): Promise<CopiedHistory> {
    const { odb } = repository;
    const folder = this.#folder;
    // Each commit is copied once, however often HEAD moves.
    const copy = copyMemory(odb, head, folder, folder, this.#isCode, this.#copy);
    await repository.direct.store(copy.objects);
    this.#copy = copy;
    return copy;
  }
}
