import { parseAddress } from '../../core/markdown/section-statements.ts';
import type { Decisions } from '../../core/memory/conflict.ts';
import type { BranchMerge } from '../../core/memory/history.ts';
import {
  type AcceptRequest,
  type Confirmable,
  type RecordConfirmation,
  type Reviews,
  reviewBranches,
  type WaitingReview,
} from '../../core/memory/waiting-reviews.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { Archive } from '../history/archive.ts';
import { checkSeen, restore } from '../history/restoration.ts';
import { recordPath, Visit } from '../history/visit.ts';
import { treeFolder } from '../placement/memory-folders.ts';
import { ReviewBase } from '../placement/review-base.ts';
import { type CallRights, toCommitMade } from '../records/call-rights.ts';
import { commitMessage } from '../records/message.ts';
import { checkMerge, mergeChanges, mergeCommit } from '../sync/branch-merge.ts';
import { areRelated } from '../sync/divergence.ts';
import { acceptedCommits } from './accepted-commits.ts';
import { acceptanceOf, proposedCommits } from './proposal-commits.ts';
import { chosenSections, proposedPart } from './proposed-part.ts';
import { confirm, confirmable } from './record-confirmation.ts';
import { describeWaiting, lastCommon, rewritten } from './waiting-changes.ts';

const prefix = `refs/heads/${reviewBranches}`;

/** The reviews of a memory, for one call of one session. */
export class SessionReviews implements Reviews {
  readonly #archive: Archive;
  readonly #rights: CallRights;
  readonly #base: ReviewBase;

  constructor(archive: Archive, rights: CallRights) {
    [this.#archive, this.#rights] = [archive, rights];
    const { memory } = archive;
    this.#base = new ReviewBase(memory.inTree(''), !memory.isApart);
  }

  async list(): Promise<readonly WaitingReview[]> {
    const repository = this.#archive.memory.repository();
    const tips = await this.tips();
    if (!repository || tips.size === 0) return [];
    const base = await this.#base.tip(repository);
    const visit = await this.#visit();
    const found: WaitingReview[] = [];
    for (const [name, tip] of tips) {
      const review = base && (await describeWaiting(visit, name, tip, base));
      if (review) found.push(review);
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  async tips(): Promise<ReadonlyMap<string, Oid>> {
    const repository = this.#archive.memory.repository();
    const branches = repository?.canReadRefs ? repository.refs.list(prefix) : [];
    return new Map(branches.map(({ ref, oid }) => [ref.slice(prefix.length), oid]));
  }

  async accepted(commits: readonly Oid[]): Promise<ReadonlySet<Oid>> {
    if (commits.length === 0) return new Set();
    const visit = await this.#visit();
    return acceptedCommits(visit, await visit.resolve('HEAD'), new Set(commits));
  }

  async accept(
    name: string,
    { seen, records = [], ...decisions }: AcceptRequest,
  ): Promise<BranchMerge> {
    this.#checkPerson();
    const { repository } = this.#archive;
    const visit = await this.#visit();
    const tip = this.#tipOf(name);
    if ((seen ?? tip) !== tip) throw changedMeanwhile(name);
    const known = await this.#base.tip(repository);
    if (records.length > 0) return this.#acceptPart(visit, name, tip, known, records, decisions);
    await this.#checkRelated(name, tip, known);
    const into = await this.#base.commitFor(repository, tip);
    const commits = known === undefined ? [] : proposedCommits(visit, { name, tip, known });
    const merged = await mergeCommit(visit, into, {
      ...acceptanceOf({ name, tip, commits }),
      decisions,
      forward: false,
    });
    // Changes that the agent has made meanwhile keep waiting.
    await this.#end(name, tip);
    return merged;
  }

  /** Accepts some records of a review: as a commit that the review and the memory have in common then. */
  async #acceptPart(
    visit: Visit,
    name: string,
    tip: Oid,
    known: Oid | undefined,
    records: readonly string[],
    decisions: Decisions,
  ): Promise<BranchMerge> {
    const { repository } = this.#archive;
    const base = known && (await lastCommon(visit, known, tip));
    const line = { name, tip, base, known };
    const part = proposedPart(visit, line, records);
    await repository.direct.store(part.objects);
    const request = { ...acceptanceOf({ name, tip, records, ...part }), decisions };
    // Where the history was rewritten, the old one does not come back by a merge.
    if (base === undefined) return mergeChanges(visit, base, part.commit, request);
    const { forHead, forReview } = await this.#base.share(repository, part.commit);
    // Nothing has changed if a conflict needs a decision.
    await checkMerge(visit, forHead, request);
    // The review first: the memory has the records only when the review knows that it has them.
    const message = commitMessage({ subject: `accept a part of ${name}` }, [], {
      ...(await this.#rights.actor()),
      agent: 'memory-bank',
    });
    await repository.direct.absorb(prefix + name, forReview, message, this.#rights.signal);
    return mergeCommit(visit, forHead, { ...request, forward: false });
  }

  async acceptFrom(
    revision: string,
    { seen, records, ...decisions }: Parameters<Reviews['acceptFrom']>[1],
  ): Promise<BranchMerge> {
    this.#checkPerson();
    const { repository } = this.#archive;
    const visit = await this.#visit();
    const [known, tip] = [await visit.resolve('HEAD'), await visit.resolve(revision)];
    if ((seen ?? tip) !== tip) throw movedMeanwhile(revision);
    const base = await lastCommon(visit, known, tip);
    const part = proposedPart(visit, { name: revision, tip, base, known }, records);
    await repository.direct.store(part.objects);
    const acceptance = acceptanceOf({ name: revision, tip, records, ...part });
    return mergeChanges(visit, base, part.commit, { ...acceptance, decisions });
  }

  async withdraw(base: string, addresses: readonly string[], seen?: string): Promise<void> {
    this.#checkPerson();
    const sections = new Map<string, string[]>();
    for (const address of addresses) {
      const { path, section } = parseAddress(pastedPath(address));
      if (section !== undefined) sections.set(path, [...(sections.get(path) ?? []), section]);
      else await restore(await this.#visit(), path, base, { removes: true, seen });
    }
    for (const [path, wanted] of sections) {
      await withdrawSections(await this.#visit(), base, recordPath(path), wanted, seen);
    }
  }

  async confirm(address: string, seen?: string): Promise<RecordConfirmation> {
    this.#checkPerson(
      'Only a person can confirm a record.',
      '"memory-bank confirm" does it, and the page of the record. Agents verify records: verify_memory.',
    );
    return confirm(await this.#visit(), address, seen);
  }

  async confirmable(path: string): Promise<readonly Confirmable[]> {
    return confirmable(await this.#visit(), path);
  }

  async drop(name: string, seen?: Oid): Promise<string> {
    this.#checkPerson();
    const tip = this.#tipOf(name);
    if ((seen ?? tip) === tip && (await this.#end(name, tip))) return tip;
    throw changedMeanwhile(name);
  }

  /** @throws MemoryError `forbidden` for an agent: a person decides on the changes of agents. */
  #checkPerson(
    refusal = 'Only a person can accept or drop the changes of agents.',
    hint = '"memory-bank review" does it, and the page Branches.',
  ): void {
    if (this.#rights.session.isAgent) throw new MemoryError('forbidden', refusal, { hint });
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
    return new Visit(this.#archive, this.#rights, await this.#rights.access());
  }
}

/** Brings sections of a record back to the state of a commit. */
async function withdrawSections(
  visit: Visit,
  base: Oid,
  path: string,
  sections: readonly string[],
  seen: string | undefined,
): Promise<void> {
  const { actor, signal, onCommit } = visit.rights;
  const records = visit.archive.records(base);
  await records.refresh();
  const before = records.view.look(path) && records.text(path);
  const { made } = await visit.archive.memory.change(
    () => ({
      subject: `withdraw ${sections.map((section) => `${path}#${section}`).join(', ')}`,
      trailers: { Restored: base },
    }),
    async (draft) => {
      await draft.refresh();
      if (seen !== undefined) await checkSeen(visit, path, seen);
      await draft.rewrite(path, (text) =>
        chosenSections(path, text, before ?? '', sections, 'The review'),
      );
    },
    visit.access,
    await actor(),
    { signal, alone: true },
  );
  if (made) onCommit(toCommitMade(made));
}

function movedMeanwhile(revision: string): MemoryError {
  return new MemoryError('conflict', `${revision} has got another commit meanwhile.`, {
    hint: 'Nothing was accepted. Look at its changes, then try again.',
    data: { revision },
  });
}

function changedMeanwhile(name: string): MemoryError {
  return new MemoryError('conflict', `The review ${name} has got another change meanwhile.`, {
    hint: `Nothing was accepted or dropped. "memory-bank review show ${name}" shows it.`,
    data: { review: name },
  });
}
