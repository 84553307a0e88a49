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
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import { HistoryReader, recordPath } from '../history/history-reader.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import { checkSeen, restore } from '../history/restoration.ts';
import { treeFolder } from '../placement/memory-folders.ts';
import { ReviewBase } from '../placement/review-base.ts';
import type { CallRights } from '../records/call-rights.ts';
import { commitMessage, maxTrailer } from '../records/message.ts';
import { checkMerge, mergeChanges, mergeCommit } from '../sync/branch-merge.ts';
import { areRelated } from '../sync/divergence.ts';
import { acceptedCommits } from './accepted-commits.ts';
import { acceptanceOf, type ProposedLine, proposedCommits } from './proposal-commits.ts';
import { chosenSections, proposedPart } from './proposed-part.ts';
import { confirm, confirmable, isConfirmed, personOf } from './record-confirmation.ts';
import { describeWaiting, lastCommon, rewritten } from './waiting-changes.ts';

const prefix = `refs/heads/${reviewBranches}`;

/** The reviews of a memory, for one call of one session. */
export class SessionReviews implements Reviews {
  readonly #history: MemoryHistory;
  readonly #rights: CallRights;
  readonly #base: ReviewBase;

  constructor(history: MemoryHistory, rights: CallRights) {
    [this.#history, this.#rights] = [history, rights];
    const { memory } = history;
    this.#base = new ReviewBase(memory.inTree(''), !memory.isApart);
  }

  async list(): Promise<readonly WaitingReview[]> {
    const repository = this.#history.memory.repository();
    const tips = await this.tips();
    if (!repository || tips.size === 0) return [];
    const base = await this.#base.tip(repository);
    const reader = await this.#reader();
    const found: WaitingReview[] = [];
    for (const [name, tip] of tips) {
      const review = base && (await describeWaiting(reader, name, tip, base));
      if (review) found.push(review);
    }
    return found.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  async tips(): Promise<ReadonlyMap<string, Oid>> {
    const repository = this.#history.memory.repository();
    const branches = repository?.canReadRefs ? repository.refs.list(prefix) : [];
    return new Map(branches.map(({ ref, oid }) => [ref.slice(prefix.length), oid]));
  }

  async accepted(commits: readonly Oid[]): Promise<ReadonlySet<Oid>> {
    if (commits.length === 0) return new Set();
    const reader = await this.#reader();
    return acceptedCommits(reader, await reader.resolve('HEAD'), new Set(commits));
  }

  async accept(
    name: string,
    { seen, records = [], comment, ...decisions }: AcceptRequest,
  ): Promise<BranchMerge> {
    this.#checkPerson();
    if (comment !== undefined) this.#checkComment(comment);
    const { repository } = this.#history;
    const reader = await this.#reader();
    const tip = this.#tipOf(name);
    if ((seen ?? tip) !== tip) throw changedMeanwhile(name);
    const known = await this.#base.tip(repository);
    if (records.length > 0) {
      const line = { name, tip, base: known && (await lastCommon(reader, known, tip)), known };
      return this.#acceptPart(reader, line, { records, comment, decisions });
    }
    await this.#checkRelated(name, tip, known);
    const into = await this.#base.commitFor(repository, tip);
    const commits = known === undefined ? [] : proposedCommits(reader, { name, tip, known });
    const merged = await mergeCommit(reader, into, {
      ...acceptanceOf({ name, tip, comment, commits }),
      decisions,
      forward: false,
    });
    // Changes that the agent has made meanwhile keep waiting.
    await this.#end(name, tip);
    return merged;
  }

  /** Accepts some records of a review: as a commit that the review and the memory have in common then. */
  async #acceptPart(
    reader: HistoryReader,
    line: ProposedLine,
    {
      records,
      comment,
      decisions,
    }: Pick<AcceptRequest, 'comment'> & { records: readonly string[]; decisions: Decisions },
  ): Promise<BranchMerge> {
    const { repository } = this.#history;
    const { name, tip, base } = line;
    const part = proposedPart(reader, line, records);
    await repository.direct.store(part.objects);
    const request = { ...acceptanceOf({ name, tip, records, comment, ...part }), decisions };
    // Where the history was rewritten, the old one does not come back by a merge.
    if (base === undefined) return mergeChanges(reader, base, part.commit, request);
    const { forHead, forReview } = await this.#base.share(repository, part.commit);
    // Nothing has changed if a conflict needs a decision.
    await checkMerge(reader, forHead, request);
    // The review first: the memory has the records only when the review knows that it has them.
    const message = commitMessage({ subject: `accept a part of ${name}` }, [], {
      ...(await this.#rights.actor()),
      agent: 'memory-bank',
    });
    await repository.direct.absorb(prefix + name, forReview, message, this.#rights.signal);
    return mergeCommit(reader, forHead, { ...request, forward: false });
  }

  async acceptFrom(
    revision: string,
    { seen, records, comment, ...decisions }: Parameters<Reviews['acceptFrom']>[1],
  ): Promise<BranchMerge> {
    this.#checkPerson();
    if (comment !== undefined) this.#checkComment(comment);
    const { repository } = this.#history;
    const reader = await this.#reader();
    const [known, tip] = [await reader.resolve('HEAD'), await reader.resolve(revision)];
    if ((seen ?? tip) !== tip) throw movedMeanwhile(revision);
    const base = await lastCommon(reader, known, tip);
    const part = proposedPart(reader, { name: revision, tip, base, known }, records);
    await repository.direct.store(part.objects);
    const acceptance = acceptanceOf({ name: revision, tip, records, comment, ...part });
    return mergeChanges(reader, base, part.commit, { ...acceptance, decisions });
  }

  async withdraw(base: string, addresses: readonly string[], seen?: string): Promise<void> {
    this.#checkPerson();
    const sections = new Map<string, string[]>();
    for (const address of addresses) {
      const { path, section } = parseAddress(pastedPath(address));
      if (section !== undefined) sections.set(path, [...(sections.get(path) ?? []), section]);
      else await restore(await this.#reader(), path, base, { removes: true, seen });
    }
    for (const [path, wanted] of sections) {
      await withdrawSections(await this.#reader(), base, recordPath(path), wanted, seen);
    }
  }

  async confirm(address: string, seen?: string): Promise<RecordConfirmation> {
    this.#checkPerson(
      'Only a person can confirm a record.',
      '"memory-bank confirm" does it, and the page of the record. Agents verify records: verify_memory.',
    );
    return confirm(await this.#reader(), address, seen);
  }

  async person(): Promise<string> {
    return personOf(await this.#reader());
  }

  async isConfirmed(address: string): Promise<boolean> {
    return isConfirmed(await this.#reader(), address);
  }

  async confirmable(path: string): Promise<readonly Confirmable[]> {
    return confirmable(await this.#reader(), path);
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

  /** @throws MemoryError `invalid_input` for a comment that no trailer can hold, `secret`. */
  #checkComment(comment: string): void {
    if (comment.length > maxTrailer || comment.includes('\n')) {
      throw new MemoryError(
        'invalid_input',
        `The comment has ${comment.length} characters or several lines.`,
        { hint: `It is one line of the commit: at most ${maxTrailer} characters.` },
      );
    }
    const why = { subject: '', trailers: { Comment: comment } };
    this.#history.memory.secretGuard().checkChange([], why, comment, () => undefined);
  }

  /** Removes the branch of a review and its work tree; returns false if it has another last commit. */
  #end(name: string, tip: Oid): Promise<boolean> {
    const { repository } = this.#history;
    const top = treeFolder(repository.tree.commonDir, reviewBranches + name);
    return repository.direct.removeBranch(prefix + name, tip, top);
  }

  /** @throws MemoryError `conflict` for a review that began in another history than the memory now has. */
  async #checkRelated(name: string, review: Oid, base: Oid | undefined): Promise<void> {
    if (base !== undefined && (await areRelated(await this.#reader(), base, review))) return;
    throw new MemoryError('conflict', `The review ${name} cannot be merged: ${rewritten}.`, {
      hint: `Accept its records one by one, "memory-bank review accept ${name} <record>", then drop the rest.`,
      data: { review: name },
    });
  }

  #tipOf(name: string): Oid {
    const tip = this.#history.repository.refs.resolve(prefix + name);
    if (tip !== undefined) return tip;
    throw new MemoryError('not_found', `There is no review ${JSON.stringify(name)}.`, {
      hint: '"memory-bank review" lists them.',
    });
  }

  async #reader(): Promise<HistoryReader> {
    return new HistoryReader(this.#history, this.#rights, await this.#rights.access());
  }
}

/** Brings sections of a record back to the state of a commit. */
async function withdrawSections(
  reader: HistoryReader,
  base: Oid,
  path: string,
  sections: readonly string[],
  seen: string | undefined,
): Promise<void> {
  const { actor, onCommit } = reader.rights;
  const records = reader.history.records(base);
  await records.refresh();
  const before = records.view.read(path) && records.text(path);
  const { made } = await reader.history.memory.change(
    () => ({
      subject: `withdraw ${sections.map((section) => `${path}#${section}`).join(', ')}`,
      trailers: { Restored: base },
    }),
    async (draft) => {
      await draft.refresh();
      if (seen !== undefined) await checkSeen(reader, path, seen);
      await draft.rewrite(path, (text) =>
        chosenSections(path, text, before ?? '', sections, 'The review'),
      );
    },
    reader.access,
    await actor(),
    { caller: reader.rights, alone: true },
  );
  if (made) onCommit(made);
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
