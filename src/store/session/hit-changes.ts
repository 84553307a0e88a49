import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { authorName, isOfPerson } from '../../core/memory/author-name.ts';
import { type CommitInfo, isVerification } from '../../core/memory/commit-log.ts';
import type { HitChange, SearchHit } from '../../core/memory/search-hit.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import { type Oid, objectId, parseCommit } from '../../git/objects/object.ts';
import type { ChangeIndex } from '../history/change-index.ts';
import { Confirmations } from '../history/confirmations.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { IndexedCommit } from '../history/repository-history.ts';
import { commitInfo, isAcceptance } from '../records/message.ts';
import { squashedMessages } from '../records/message-parts.ts';
import { acceptedCommits } from '../reviews/accepted-commits.ts';
import { LatestCommits } from './latest-commits.ts';
import { SectionCommits, type WrittenSection } from './section-commits.ts';

/** Time that a search waits for the index of the history, in milliseconds. */
const maxWaitMs = 1000;
/** With more paths, the folders of the commit are listed once instead of being searched for each path. */
const manyPaths = 64;
/** Limit of the results that stay in memory. */
const maxKnown = 20_000;

/** A hit whose last change is asked for. */
export type Asked = Pick<SearchHit, 'path' | 'section'>;

/** A commit that changed a hit. */
interface ChangeIn {
  readonly oid: Oid;
  readonly of: Asked;
}

/** A file that has been compared with its last commit. */
interface Compared {
  readonly last: Oid;
  readonly stat: Stat;
  readonly isSame: boolean;
}

/** Knows the last change of records and of sections; what it has found stays in memory. */
export class HitChanges {
  readonly #latest = new LatestCommits();
  /** By commit, in a squash also by record: who made the change, and whether a person has accepted it. */
  readonly #made = new Map<string, HitChange>();
  /** The commits whose message contains those of several. */
  readonly #squashes = new Set<Oid>();
  /** By path, last commit of the path and section: the commit that wrote the section. */
  readonly #sections = new Map<string, WrittenSection>();
  /** By path. */
  readonly #compared = new Map<string, Compared>();
  #acceptances = { seen: 0, any: false };

  /**
   * Adds its last change to each hit, where it is known.
   *
   * @param past the commit whose records the hits are; undefined for those of the work tree.
   * @param wait how long to wait for the index of the history, in milliseconds.
   */
  async addTo<T extends Asked>(
    reader: HistoryReader,
    hits: readonly T[],
    past?: Oid,
    wait = maxWaitMs,
  ): Promise<readonly (T & { readonly changed?: HitChange })[]> {
    const changes = await this.#of(reader, hits, past, wait);
    return hits.map((hit, at) => {
      const changed = changes[at];
      return changed ? { ...hit, changed } : hit;
    });
  }

  async #of(
    reader: HistoryReader,
    hits: readonly Asked[],
    past: Oid | undefined,
    wait: number,
  ): Promise<readonly (HitChange | undefined)[]> {
    try {
      if (hits.length === 0) return [];
      const head = past ?? reader.head;
      const place = head === undefined ? undefined : await this.#place(reader, head, wait);
      if (head === undefined || !place) return [];
      return await this.#changes(reader, head, place, hits, past);
    } catch (error) {
      // A search also answers where the history cannot be read.
      if (error instanceof MemoryError && error.code !== 'cancelled') return [];
      throw error;
    }
  }

  /** The index of the history, unless it takes too long to make; then it is made for later searches. */
  async #place(reader: HistoryReader, head: Oid, wait: number): Promise<IndexedCommit | undefined> {
    const known = reader.history.known(head);
    if (known) return known;
    const place = reader.indexedCommit(head);
    const found = place.catch((error) => {
      if (error instanceof MemoryError) return undefined;
      throw error;
    });
    return Promise.race([found, delay(wait, undefined, { ref: false })]);
  }

  async #changes(
    reader: HistoryReader,
    head: Oid,
    place: IndexedCommit,
    hits: readonly Asked[],
    past: Oid | undefined,
  ): Promise<readonly (HitChange | undefined)[]> {
    const { index, number } = place;
    const paths = [...new Set(hits.map(({ path }) => path))];
    const all = () => reader.history.memory.view.paths();
    const latestOf = past === undefined ? this.#latest : new LatestCommits();
    const latest = await latestOf.of(index, number, paths, all);
    if (past === undefined && paths.length > manyPaths)
      await reader.history.records(head).refresh();
    const written = new SectionCommits(reader, place, (path) => textNow(reader, path, past));
    const found = hits.map((hit) => {
      const last = latest.get(hit.path);
      if (last === undefined) return undefined;
      if (past === undefined) {
        const { oid } = index.commit(last);
        if (!this.#isCommitted(reader, head, oid, hit.path)) return undefined;
      }
      const { commit, verified } = this.#writtenAt(hit, last, index, written);
      const changeIn = (number: number) => ({ oid: index.commit(number).oid, of: hit });
      return {
        own: changeIn(commit),
        verified: verified === undefined ? undefined : changeIn(verified),
      };
    });
    const changes = found.flatMap((one) => (one ? [one.own, one.verified ?? []].flat() : []));
    await this.#learn(reader, head, place, changes);
    const confirmations = new Confirmations(reader, place);
    const isUnknown = found.includes(undefined) && isMoving(reader, head);
    return found.map((one, at) => {
      if (one === undefined) return isUnknown ? undefined : uncommitted;
      const own = this.#made.get(this.#key(one.own));
      const verified = one.verified && this.#made.get(this.#key(one.verified));
      const change = own && verified && !own.confirmed ? confirmedBy(own, verified) : own;
      const hit = hits[at];
      if (!change || !hit || confirmations.isEmpty) return change;
      const confirming = confirmations.ofText(hit, textNow(reader, hit.path, past) ?? '');
      if (confirming === undefined) return change;
      return confirmedAs(change, reader.history.commit(index.commit(confirming).oid));
    });
  }

  /**
   * Whether a file is as HEAD has it. Their times say nothing about it: the commit may be from another
   * clock, and a copy can keep the time of its original.
   */
  #isCommitted(reader: HistoryReader, head: Oid, last: Oid, path: string): boolean {
    const record = reader.record(path);
    if (!record) return false;
    const { stat, settled } = record;
    const known = this.#compared.get(path);
    if (known?.last === last && sameStat(known.stat, stat)) return known.isSame;
    const isSame = isAsCommitted(reader, head, path);
    // A file that was changed a moment ago can change again without another timestamp.
    if (settled) keep(this.#compared, path, { last, stat, isSame });
    return isSame;
  }

  /** The commit since which a record or section is as it is, among those that changed the record. */
  #writtenAt(
    { path, section }: Asked,
    last: number,
    index: ChangeIndex,
    written: SectionCommits,
  ): WrittenSection {
    if (section === undefined || hasAdded(index, last, path)) {
      return { commit: last, verified: undefined };
    }
    const key = `${path}\0${last}\0${section}`;
    const known = this.#sections.get(key);
    if (known !== undefined) return known;
    const found = written.of(path, section) ?? { commit: last, verified: undefined };
    keep(this.#sections, key, found);
    return found;
  }

  /** Reads what commits say of their makers, and finds out which of them a person has accepted. */
  async #learn(
    reader: HistoryReader,
    head: Oid,
    { index, number }: IndexedCommit,
    found: readonly ChangeIn[],
  ): Promise<void> {
    if (this.#made.size >= maxKnown) this.#made.clear();
    const unknown = found.filter((change) => !this.#made.has(this.#key(change)));
    if (unknown.length === 0) return;
    const { odb } = reader.history.repository;
    const accepts = (oid: Oid) => isAcceptance(parseCommit(odb.content(oid, 'commit')).message);
    for (; this.#acceptances.seen <= number; this.#acceptances.seen++) {
      const { oid, parents } = index.commit(this.#acceptances.seen);
      // The change of a part of a review is a commit like any other, and looked at when it is found.
      if (!this.#acceptances.any && parents.length > 1) this.#acceptances.any = accepts(oid);
    }
    const accepted = this.#acceptances.any
      ? await acceptedCommits(reader, head, new Set(unknown.map(({ oid }) => oid)))
      : undefined;
    for (const change of unknown) {
      const { oid, of } = change;
      const commit = parseCommit(odb.content(oid, 'commit'));
      if (squashedMessages(commit.message).length > 0) this.#squashes.add(oid);
      const info = commitInfo(oid, commit, of);
      const isAccepted = (accepted?.has(oid) || info.isAcceptance) ?? false;
      this.#made.set(this.#key(change), changeOf(info, isAccepted));
    }
  }

  #key({ oid, of }: ChangeIn): string {
    return this.#squashes.has(oid) ? JSON.stringify([oid, of.path, of.section]) : oid;
  }
}

/** The change of a file that differs from its last commit. */
const uncommitted: HitChange = { by: '', maker: 'person' };

function changeOf(info: CommitInfo, isAccepted: boolean): HitChange {
  const { at, author, agent } = info;
  const maker = agent === undefined ? 'git' : isOfPerson(agent) ? 'person' : 'agent';
  const by = maker === 'agent' ? authorName(info) : nameOf(author);
  const confirmed = isAccepted ? 'review' : isVerification(info) ? 'verification' : undefined;
  return { at, by, maker, ...(confirmed && { confirmed }) };
}

/** A change that a later commit verified; it says by whom, unless that is the maker of the change. */
function confirmedBy(own: HitChange, { by, maker }: HitChange): HitChange {
  const verifier = by === own.by && maker === own.maker ? undefined : { by, maker };
  return { ...own, confirmed: 'verification', ...(verifier && { verifier }) };
}

/** A change of what a person confirmed as it is. */
function confirmedAs(change: HitChange, { at, author }: CommitInfo): HitChange {
  return { ...change, confirmed: 'person', confirmation: { by: nameOf(author), at } };
}

/** The name of an author without the address. */
function nameOf(author: string): string {
  return author.replace(/ <[^<>]*>$/, '');
}

/** Whether git is changing the work tree, as in a checkout: a file may be of a commit that HEAD is not yet. */
function isMoving(reader: HistoryReader, head: Oid): boolean {
  const { repository, memory } = reader.history;
  const lock = join(repository.tree.gitDir, 'index.lock');
  return repository.head().oid !== head || memory.files.lstat(lock) !== undefined;
}

/** The text of a record of the work tree, or of a commit. */
function textNow(reader: HistoryReader, path: string, past: Oid | undefined): string | undefined {
  const { history } = reader;
  return past === undefined ? history.memory.text(path) : history.records(past).text(path);
}

/** Whether a record is as a commit has it, apart from the ends of its lines. */
function isAsCommitted(reader: HistoryReader, commit: Oid, path: string): boolean {
  const { history } = reader;
  const records = history.records(commit);
  const oid = records.oid(path);
  const text = oid === undefined ? undefined : history.memory.text(path);
  if (text === undefined) return false;
  // To compute the id takes less time than to read the object.
  const own = objectId('blob', Buffer.from(plain(text)), history.repository.odb.format);
  return own === oid || plain(records.text(path) ?? '') === plain(text);
}

/** Whether a commit has added a record that was nowhere before: all of its sections are from it. */
function hasAdded(index: ChangeIndex, commit: number, path: string): boolean {
  const { parents } = index.commit(commit);
  if (parents.length > 1 || index.isCut(commit)) return false;
  const change = index.changeOf(commit, 0, path);
  const isNew = change !== undefined && change.before === undefined;
  return isNew && index.removals(commit, 0).length === 0;
}

function plain(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Adds to a cache, which is emptied when it is full. */
function keep<K, V>(cache: Map<K, V>, key: K, value: V): void {
  if (cache.size >= maxKnown) cache.clear();
  cache.set(key, value);
}
