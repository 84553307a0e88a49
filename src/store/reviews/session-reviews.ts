import { MemoryError } from '../../core/error.ts';
import type { BranchMerge, Change, Decisions } from '../../core/history.ts';
import { type Reviews, reviewBranches, type WaitingReview } from '../../core/waiting-reviews.ts';
import type { Oid } from '../../git/objects/object.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import type { Archive } from '../history/archive.ts';
import { pairMoves } from '../history/comparison.ts';
import { restore } from '../history/restoration.ts';
import { Visit } from '../history/visit.ts';
import { treeFolder } from '../placement/memory-folders.ts';
import { ReviewBase } from '../placement/review-base.ts';
import type { Permit } from '../records/permit.ts';
import { mergeCommit } from '../sync/branch-merge.ts';
import { areRelated, divergence } from '../sync/divergence.ts';

const prefix = `refs/heads/${reviewBranches}`;

/** The reviews of a memory, for one call of one session. */
export class SessionReviews implements Reviews {
  readonly #archive: Archive;
  readonly #permit: Permit;
  readonly #base: ReviewBase;

  constructor(archive: Archive, permit: Permit) {
    [this.#archive, this.#permit] = [archive, permit];
    const { memory } = archive;
    this.#base = new ReviewBase(memory.inTree(''), !memory.isApart);
  }

  async list(): Promise<readonly WaitingReview[]> {
    const repository = this.#archive.memory.repository();
    const branches = repository?.canReadRefs ? repository.refs.list(prefix) : [];
    if (!repository || branches.length === 0) return [];
    const base = await this.#base.tip(repository);
    const visit = await this.#visit();
    const found: WaitingReview[] = [];
    for (const { ref, oid } of branches) {
      const review = base && (await describe(visit, ref.slice(prefix.length), oid, base));
      if (review) found.push(review);
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  async accept(name: string, decisions: Decisions, seen?: Oid): Promise<BranchMerge> {
    const { repository } = this.#archive;
    const review = this.#tipOf(name);
    if ((seen ?? review) !== review) throw changedMeanwhile(name);
    await this.#checkRelated(name, review, await this.#base.tip(repository));
    const tip = await this.#base.commitFor(repository, review);
    const merged = await mergeCommit(await this.#visit(), tip, {
      name: reviewBranches + name,
      decisions,
      subject: `accept ${name}`,
      forward: false,
    });
    // Changes that the agent has made meanwhile keep waiting.
    await this.#end(name, review);
    return merged;
  }

  async acceptRecords(name: string, paths: readonly string[]): Promise<readonly Change[]> {
    const tip = this.#tipOf(name);
    const before = await (await this.#visit()).resolve('HEAD');
    for (const path of paths) await restore(await this.#visit(), path, tip, true);
    const visit = await this.#visit();
    const after = await visit.resolve('HEAD');
    const moves = pairMoves(visit.changes(before, after, undefined), visit.versions);
    return moves.map(({ change }) => change);
  }

  async withdraw(base: string, paths: readonly string[]): Promise<void> {
    for (const path of paths) await restore(await this.#visit(), path, base, true);
  }

  async drop(name: string, seen?: Oid): Promise<string> {
    const tip = this.#tipOf(name);
    if ((seen ?? tip) === tip && (await this.#end(name, tip))) return tip;
    throw changedMeanwhile(name);
  }

  /** Removes the branch of a review and its work tree; returns false if it has another last commit. */
  #end(name: string, tip: Oid): Promise<boolean> {
    const { repository } = this.#archive;
    const top = treeFolder(repository.tree.commonDir, reviewBranches + name);
    return repository.direct.removeBranch(prefix + name, tip, top);
  }

  /** @throws MemoryError `conflict` for a review that began in another history than the memory now has. */
  async #checkRelated(name: string, review: Oid, base: Oid | undefined): Promise<void> {
    if (base !== undefined && (await areRelated(await this.#visit(), base, review))) return;
    throw new MemoryError('conflict', `The review ${name} cannot be merged: ${rewritten}.`, {
      hint: `Accept its records one by one, "memory-bank review accept ${name} <record>", then drop the rest.`,
      data: { review: name },
    });
  }

  #tipOf(name: string): Oid {
    const tip = this.#archive.repository.refs.resolve(prefix + name);
    if (tip !== undefined) return tip;
    throw new MemoryError('not_found', `There is no review ${JSON.stringify(name)}.`, {
      hint: '"memory-bank review" lists them.',
    });
  }

  async #visit(): Promise<Visit> {
    return new Visit(this.#archive, this.#permit, await this.#permit.access());
  }
}

/** Describes the changes that only a review has; undefined if there are none. */
async function describe(
  visit: Visit,
  name: string,
  tip: Oid,
  base: Oid,
): Promise<WaitingReview | undefined> {
  const { odb } = visit.archive.repository;
  const own = [...reachableCommits(odb, base, [{ name, oid: tip }]).keys()];
  if (own.length === 0) return undefined;
  const isRelated = await areRelated(visit, base, tip);
  const fork = (isRelated ? (await divergence(visit, base, tip)).base : undefined) ?? base;
  // Records that were accepted one by one are the same in both.
  const open = new Set(visit.changes(base, tip, undefined).map(({ path }) => path));
  const changes = pairMoves(visit.changes(fork, tip, undefined), visit.versions).filter(
    ({ change: { path, from } }) => open.has(path) || (from !== undefined && open.has(from)),
  );
  if (changes.length === 0) return undefined;
  const infos = own.map((oid) => visit.archive.commit(oid)).sort((a, b) => (a.at < b.at ? 1 : -1));
  const [last] = infos;
  return {
    name,
    tip,
    base: fork,
    agent: infos.find(({ agent }) => agent !== undefined && agent !== 'memory-bank')?.agent,
    at: last?.at ?? '',
    commits: own.length,
    changes: changes.map(({ change }) => change),
    problem: isRelated ? undefined : rewritten,
  };
}

function changedMeanwhile(name: string): MemoryError {
  return new MemoryError('conflict', `The review ${name} has got another change meanwhile.`, {
    hint: `Nothing was accepted or dropped. "memory-bank review show ${name}" shows it.`,
    data: { review: name },
  });
}

const rewritten = 'it has no commit in common with the memory, whose history was rewritten since';
