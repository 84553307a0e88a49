import { setTimeout as sleep } from 'node:timers/promises';
import type { Synchronization, SyncRequest } from '../../core/memory/history.ts';
import { monotonicTime } from '../../core/timing/clock.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Proposal } from '../../git/commit/commit-plan.ts';
import type { Prepared } from '../../git/commit/mutation.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { type Remote, shortName, type Upstream } from '../../git/remote/remote.ts';
import { claimRefs, claimsOf, fetchClaims, takeClaims } from '../claims/shared-claims.ts';
import { pairMoves } from '../history/comparison.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { commitMessage } from '../records/message.ts';
import { divergence, droppedBy } from './divergence.ts';
import { bringIn } from './joining.ts';
import { checkArrivals } from './size-check.ts';
import { codeRefusal } from './unpublished.ts';

/** Limit of lost races for the branch. */
export const maxAttempts = 10;
/** The longest pause after a lost race, in milliseconds. */
const longestPause = 15_000;
/** The window of that pause, in durations of the attempt that was lost. */
const pauseWindow = 3;
/** Limit of our commits that the remote is given to compare. */
const maxKnown = 32;
const noCommits: readonly Oid[] = [];

/** The commits to push and the changes to apply in one attempt. */
interface Attempt {
  readonly head: Oid;
  /** Undefined if nothing changes here. */
  readonly prepared: Prepared | undefined;
  /** Commits that the remote does not have. */
  readonly commits: readonly Oid[];
  readonly files: number;
}

/** Fetches, merges and pushes the current branch; see `History`. */
export function sync(reader: HistoryReader, request: SyncRequest): Promise<Synchronization> {
  return new Sync(reader, request).run();
}

class Sync {
  readonly #reader: HistoryReader;
  readonly #request: SyncRequest;
  readonly #repository: Repository;
  readonly #upstream: Upstream;
  readonly #name: string;
  #sent = 0;
  /** Whether the claims of other machines came with the branch. */
  #hasClaims = false;

  constructor(reader: HistoryReader, request: SyncRequest) {
    this.#reader = reader;
    this.#request = request;
    this.#repository = reader.history.repository;
    // A rebase detaches HEAD: the reason is the rebase, not the missing branch.
    this.#repository.checkWritable();
    this.#upstream = this.#repository.remotes.upstream();
    this.#name = shortName(this.#upstream.remote, this.#upstream.ref);
  }

  async run(): Promise<Synchronization> {
    const { signal } = this.#reader.rights;
    const before = this.#head();
    const source = await this.#repository.remotes.at(this.#upstream.fetch);
    const target = await this.#repository.remotes.at(this.#upstream.push);
    let window = 0;
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      // Two attempts that overlap lose again, so pauses are spread over several durations of one. They
      // need not grow: an attempt takes longer by itself while many race.
      if (window > 0) await sleep(Math.random() * window, undefined, { signal });
      const begun = monotonicTime();
      const tip = await this.#fetch(source);
      const attempt = await this.#prepare(tip);
      const done = await this.#complete(attempt, tip, target);
      if (done) {
        if (!this.#hasClaims)
          await this.#getClaims(() => fetchClaims(this.#repository, target, signal));
        return { ...(await this.#describe(before, attempt)), begun };
      }
      window = Math.min(longestPause, pauseWindow * (monotonicTime() - begun));
    }
    throw new MemoryError(
      'busy',
      `Each push to ${this.#name} lost a race against the push of another client.`,
      {
        hint: 'Try again.',
      },
    );
  }

  /** @throws MemoryError `busy` if another branch was checked out, which has another upstream. */
  #head(): Oid {
    const { oid, ref } = this.#repository.head();
    if (ref !== this.#upstream.branch) {
      throw new MemoryError('busy', 'Another branch was checked out during the sync.', {
        hint: 'Try again.',
      });
    }
    if (oid !== undefined) return oid;
    throw new MemoryError('not_found', 'There is no commit on this branch yet.', {
      hint: `Run "git pull" to get the commits of ${this.#upstream.remote}, or make a first commit.`,
    });
  }

  async #fetch(remote: Remote): Promise<Oid | undefined> {
    const { tracking, ref } = this.#upstream;
    const last = tracking === undefined ? undefined : this.#repository.refs.resolve(tracking);
    const { history, rights } = this.#reader;
    const folder = history.memory.inTree('');
    const head = this.#head();
    const inspect = (objects: ObjectDatabase, tip: Oid) =>
      checkArrivals(objects, { head, tip, known: this.#repository.odb }, folder);
    // A mirror does not have the claims.
    const claims = this.#upstream.fetch.url === this.#upstream.push.url ? claimRefs : undefined;
    const before = claimsOf(this.#repository);
    const found = await remote.fetch(ref, this.#known(last), inspect, rights.signal, claims);
    const tip = found?.tip;
    if (found && claims) {
      this.#hasClaims = true;
      await this.#getClaims(() => takeClaims(this.#repository, before, found.below));
    }
    if (tip !== undefined) {
      await this.#checkRewritten(tip, last);
      await this.#track(tip);
    } else if (last !== undefined) {
      throw new MemoryError('not_found', `${this.#name} no longer exists.`, {
        hint: 'It may have been merged and deleted. Switch to another branch, or create it again with "git push".',
      });
    }
    return tip;
  }

  /**
   * Refuses to merge a history that the remote has dropped: that would bring back, for all clones, what
   * somebody has removed.
   *
   * It comes before the remote-tracking branch is updated, so that the next sync finds it again.
   */
  async #checkRewritten(tip: Oid, last: Oid | undefined): Promise<void> {
    const { tracking, fetch, push } = this.#upstream;
    if (tracking === undefined) return;
    // A mirror may not have the last push yet.
    const known = fetch.url === push.url ? last : undefined;
    const earlier = this.#repository.earlierValues(tracking);
    const dropped = await droppedBy(this.#reader, this.#head(), tip, known, earlier);
    if (!dropped) return;
    const { remote, ref } = this.#upstream;
    const old = dropped.tip.slice(0, 12);
    const commitsAre =
      dropped.count === 1 ? 'a commit that is' : `${dropped.count} commits that are`;
    const branch = ref.replace(/^refs\/heads\//, '');
    throw new MemoryError(
      'conflict',
      `The history of ${this.#name} was rewritten: it no longer has ${commitsAre} here, up to ${old}.`,
      {
        hint: `To take over the new history and keep your own commits: "git fetch ${remote} ${branch}", then "git rebase --onto FETCH_HEAD ${old}". To bring the old commits back for all: "git pull --no-rebase", then sync again. Nothing was changed.`,
        data: { dropped: dropped.tip, commits: dropped.count },
      },
    );
  }

  /** Commits that we have with all their ancestors, so that the remote sends only the rest. */
  #known(last: Oid | undefined): Oid[] {
    const { odb } = this.#repository;
    const known = last === undefined ? [] : [last];
    for (let at: Oid | undefined = this.#head(); at !== undefined && known.length < maxKnown; ) {
      if (!odb.has(at)) break;
      known.push(at);
      [at] = parseCommit(odb.content(at, 'commit')).parents;
    }
    return known;
  }

  /** Updates the remote-tracking branch, which is for people; if that fails, the next fetch does it. */
  async #track(tip: Oid): Promise<void> {
    const { tracking } = this.#upstream;
    if (tracking === undefined) return;
    const move = { to: tip, log: 'memory-bank sync' };
    await this.#repository.direct.moveRef(tracking, move).catch((error) => {
      if (!(error instanceof MemoryError)) throw error;
    });
  }

  /** Gets the claims of other machines; if that fails, the next sync or claim does it. */
  async #getClaims(get: () => Promise<void>): Promise<void> {
    try {
      await get();
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
    }
  }

  /** Plans what makes both sides the same. */
  async #prepare(tip: Oid | undefined): Promise<Attempt> {
    const { history, rights } = this.#reader;
    const actor = await rights.actor();
    let found = { head: this.#head(), commits: noCommits, files: 0 };
    // Indexing a long history takes a while; done before the lock is taken, it does not block others.
    await divergence(this.#reader, found.head, tip);
    const propose = async (): Promise<Proposal | undefined> => {
      const head = this.#head();
      const { base, ahead } = await divergence(this.#reader, head, tip);
      found = { head, commits: ahead, files: 0 };
      if (tip === undefined || base === undefined || base === tip) return undefined;
      const lines = { base, head, tip, name: this.#name };
      const { changes, records, files } = bringIn(this.#reader, lines, this.#request);
      found = { head, commits: ahead, files };
      const why = { subject: `merge ${this.#name}`, trailers: { Merged: tip } };
      const message = commitMessage(why, records, actor);
      const join = { tip, forward: base === head };
      const { author } = actor;
      return { changes, message, author, adopt: history.memory.adoption(), join };
    };
    const prepared = await this.#repository.prepare(propose, rights);
    this.#checkOutside(found.commits);
    const made = prepared?.plan.commits.filter(({ oid }) => oid !== tip).map(({ oid }) => oid);
    return { ...found, prepared, commits: [...found.commits, ...(made ?? [])] };
  }

  /** Refuses to publish a user's unpushed commits of other files without confirmation. */
  #checkOutside(commits: readonly Oid[]): void {
    const refusal = this.#request.confirm
      ? undefined
      : codeRefusal(this.#reader, this.#upstream, commits);
    if (refusal) throw refusal;
  }

  /**
   * Pushes, and then changes this clone: nothing changes here that the remote does not have.
   *
   * @returns false if a race was lost, so that the attempt has to be planned again.
   */
  async #complete(
    { head, prepared, commits }: Attempt,
    tip: Oid | undefined,
    remote: Remote,
  ): Promise<boolean> {
    const { signal, onCommit } = this.#reader.rights;
    const to = prepared?.oid ?? head;
    if (to !== tip) {
      const push = { ref: this.#upstream.ref, from: tip, to };
      if (!(await remote.push(push, signal))) return false;
      this.#sent += commits.length;
      await this.#track(to);
    }
    if (!prepared) return true;
    const made = await this.#repository.apply(prepared, signal);
    if (made && made.oid !== tip) onCommit(made);
    return made !== undefined;
  }

  async #describe(head: Oid, { files }: Attempt): Promise<Omit<Synchronization, 'begun'>> {
    const now = this.#head();
    const moves = pairMoves(this.#reader.changes(head, now, undefined), this.#reader.versions);
    return {
      upstream: this.#name,
      commit: await this.#reader.describe(now),
      received: moves.map(({ change }) => change),
      files,
      sent: this.#sent,
    };
  }
}
