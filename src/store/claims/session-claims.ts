import type { Claims, MadeClaim, WorkClaim } from '../../core/memory/claims.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { withStorageErrors } from '../../git/disk/storage-error.ts';
import type { EncodedObject, Oid } from '../../git/objects/object.ts';
import { identity } from '../../git/refs/identity.ts';
import type { Remote } from '../../git/remote/remote.ts';
import { recordPath } from '../history/history-reader.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import type { CallRights } from '../records/call-rights.ts';
import { forbidden } from '../records/record-reader.ts';
import {
  type ClaimFile,
  claimName,
  encodeClaim,
  isLive,
  liveClaims,
  localClaims,
  readClaim,
  sharedClaims,
} from './claim-file.ts';
import { fetchClaims } from './shared-claims.ts';

/** Limit of lost races for a claim on the remote. */
const maxAttempts = 10;
/** How long a call waits for the remote, in milliseconds. */
const maxWaitMs = 10_000;

/** A ref and the claim to which it points; undefined for a file that is not a claim. */
interface Held {
  readonly oid: Oid;
  readonly file: ClaimFile | undefined;
}

/** Why a claim is known on this machine only. */
const noRemote = 'the branch has no upstream.';

/** The claims, for one call of one session. */
export class SessionClaims implements Claims {
  readonly #history: MemoryHistory;
  readonly #rights: CallRights;
  readonly #now: () => Date;

  constructor(history: MemoryHistory, rights: CallRights, now: () => Date) {
    this.#history = history;
    this.#rights = rights;
    this.#now = now;
  }

  list(): Promise<ReadonlyMap<string, WorkClaim>> {
    return withStorageErrors('read the claims', () => this.#list());
  }

  claim(path: string, minutes: number): Promise<MadeClaim> {
    return withStorageErrors('claim a record', () => this.#claim(path, minutes));
  }

  release(path: string, force: boolean): Promise<boolean> {
    return withStorageErrors('release a record', () => this.#release(path, force));
  }

  async #list(): Promise<ReadonlyMap<string, WorkClaim>> {
    const found = new Map<string, WorkClaim>();
    const { memory } = this.#history;
    const repository = memory.repository();
    if (!repository?.canReadRefs) return found;
    const { id: session } = this.#rights.session;
    const access = await this.#rights.access();
    for (const [path, file] of liveClaims(repository, memory.inTree(''), this.#now())) {
      if (access.mayRead(path)) found.set(path, toClaim(file, path, session));
    }
    return found;
  }

  async #claim(given: string, minutes: number): Promise<MadeClaim> {
    const work = await this.#begin(given);
    const { agent, session, person } = work.owner;
    const now = this.#now();
    const file: ClaimFile = {
      record: work.record,
      agent,
      session,
      person: person ?? identity(work.repository.config(), 'author', now).name,
      since: now.toISOString(),
      until: new Date(now.getTime() + minutes * 60_000).toISOString(),
    };
    const value = encodeClaim(work.repository.odb, file);
    const claim = toClaim(file, work.path, session);
    const { remote, closed } = await this.#remote(work);
    await this.#refresh(work, remote);
    await this.#reserve(work, value);
    if (!remote) return { claim, unshared: closed?.text ?? noRemote };
    try {
      await this.#share(work, remote, value);
    } catch (error) {
      if (work.isUnreachable(error)) return { claim, unshared: error.text };
      await this.#set(work, localClaims, undefined);
      throw error;
    }
    await this.#set(work, sharedClaims, value.oid);
    await this.#set(work, localClaims, undefined);
    return { claim };
  }

  async #release(given: string, force: boolean): Promise<boolean> {
    const work = await this.#begin(given);
    const { remote, closed } = await this.#remote(work);
    const { session } = work.owner;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const shared = work.at(sharedClaims);
      const live = [shared, work.at(localClaims)].filter((held) => this.#isHeld(held));
      if (!force) for (const held of live) this.#checkFree(held, session, work.path);
      if (shared && closed) throw closed;
      const { ref } = work;
      const lease = { ref: ref(sharedClaims), from: shared?.oid, to: undefined };
      if (shared && remote && !(await remote.swap(lease, work.signal))) {
        await fetchClaims(work.repository, remote, work.signal);
        continue;
      }
      await this.#set(work, sharedClaims, undefined);
      await this.#set(work, localClaims, undefined);
      return live.length > 0;
    }
    throw lostRaces(work.path);
  }

  async #begin(given: string): Promise<Work> {
    const path = recordPath(given);
    const access = await this.#rights.access();
    const { memory, repository } = this.#history;
    await memory.refresh();
    if (memory.view.read(path)?.key === undefined) {
      throw new MemoryError('not_found', `There is no record at ${path}.`, {
        hint: 'Give a path relative to .memory-bank/, as search results do.',
        data: { path },
      });
    }
    if (!access.mayWrite(path)) throw forbidden('claim', path, access);
    const { session, agent, author } = await this.#rights.actor();
    const owner = { session, agent: agent ?? '', person: author?.name };
    return new Work(repository, path, memory.inTree(path), owner, this.#rights.signal);
  }

  /** The remote that decides between machines, or the reason why none can be asked; neither if there is none. */
  async #remote(work: Work): Promise<{ readonly remote?: Remote; readonly closed?: MemoryError }> {
    const { remotes } = work.repository;
    try {
      const hub = remotes.hub();
      return hub ? { remote: await remotes.at(hub) } : {};
    } catch (error) {
      if (!work.isUnreachable(error)) throw error;
      return { closed: error };
    }
  }

  /** Gets the claims of the remote if one that this clone knows is in the way: it may be over. */
  async #refresh(work: Work, remote: Remote | undefined): Promise<void> {
    const { session } = work.owner;
    const shared = work.at(sharedClaims);
    if (!remote || !this.#isHeld(shared) || shared?.file?.session === session) return;
    try {
      await fetchClaims(work.repository, remote, work.signal);
    } catch (error) {
      if (!work.isUnreachable(error)) throw error;
    }
  }

  /** Claims the record on this machine. */
  async #reserve(work: Work, value: EncodedObject): Promise<void> {
    const { session } = work.owner;
    const ref = work.ref(localClaims);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      this.#checkFree(work.at(sharedClaims), session, work.path);
      const held = work.at(localClaims);
      this.#checkFree(held, session, work.path);
      const swap = { ref, from: held?.oid, to: value.oid };
      if (await work.repository.direct.swapOwnRef(swap, [value], this.#rights.signal)) return;
    }
    throw lostRaces(work.path);
  }

  /** Claims the record on the remote. */
  async #share(work: Work, remote: Remote, value: EncodedObject): Promise<void> {
    const { session } = work.owner;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const held = work.at(sharedClaims);
      this.#checkFree(held, session, work.path);
      const lease = { ref: work.ref(sharedClaims), from: held?.oid, to: value.oid };
      if (await remote.swap(lease, work.signal)) return;
      await fetchClaims(work.repository, remote, work.signal);
    }
    throw lostRaces(work.path);
  }

  /** Sets a ref to what the remote, or this machine, has agreed to. */
  async #set(work: Work, prefix: string, to: Oid | undefined): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const from = work.at(prefix)?.oid;
      if (from === to) return;
      if (await work.repository.direct.swapOwnRef({ ref: work.ref(prefix), from, to })) return;
    }
  }

  #isHeld(held: Held | undefined): boolean {
    return held?.file !== undefined && isLive(held.file, this.#now());
  }

  /** @throws MemoryError `conflict`. */
  #checkFree(held: Held | undefined, session: string, path: string): void {
    if (!held?.file || !this.#isHeld(held) || held.file.session === session) return;
    const { agent, person, until } = held.file;
    const owner = [agent, person && `(${person})`].filter((part) => part).join(' ');
    throw new MemoryError('conflict', `${owner} has claimed ${path} until ${until}.`, {
      hint: 'Work on another one, or try again after that time.',
      data: { path, agent, until },
    });
  }
}

/** The session that makes or ends a claim. */
interface Owner {
  readonly session: string;
  readonly agent: string;
  /** The author of its commits; undefined for the one of git's configuration. */
  readonly person: string | undefined;
}

/** A record, and the refs of its claims. */
class Work {
  readonly repository: Repository;
  readonly path: string;
  /** The path relative to the top of the work tree. */
  readonly record: string;
  readonly owner: Owner;
  /** Aborted when the caller cancels the call, or the remote takes too long. */
  readonly signal: AbortSignal;
  /** A field, so that it is not collected before it fires. */
  readonly #late = new AbortController();

  constructor(
    repository: Repository,
    path: string,
    record: string,
    owner: Owner,
    call: AbortSignal,
  ) {
    this.repository = repository;
    this.path = path;
    this.record = record;
    this.owner = owner;
    this.signal = AbortSignal.any([call, this.#late.signal]);
    setTimeout(() => this.#late.abort(noAnswer()), maxWaitMs).unref();
  }

  readonly ref = (prefix: string): string => `${prefix}${claimName(this.record)}`;

  /** Whether an error means that the remote cannot be asked now. */
  isUnreachable(error: unknown): error is MemoryError {
    return error instanceof MemoryError && ['remote', 'unsupported'].includes(error.code);
  }

  at(prefix: string): Held | undefined {
    const oid = this.repository.refs.resolve(this.ref(prefix));
    return oid === undefined ? undefined : { oid, file: readClaim(this.repository.odb, oid) };
  }
}

function toClaim({ record: _, ...file }: ClaimFile, path: string, session: string): WorkClaim {
  return { path, ...file, mine: file.session === session };
}

function noAnswer(): MemoryError {
  return new MemoryError(
    'remote',
    `The remote did not answer within ${maxWaitMs / 1000} seconds.`,
    {
      hint: 'Try again when it can be reached: "git fetch" in a terminal shows whether it can.',
    },
  );
}

function lostRaces(path: string): MemoryError {
  return new MemoryError('busy', `Other sessions change the claim of ${path} all the time.`, {
    hint: 'Try again.',
  });
}
