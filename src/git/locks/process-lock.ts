import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryError } from '../../core/values/error.ts';

import type { Disk } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import {
  type LockRole,
  type LockWait,
  lockRoles,
  longestGap,
  monotonicTime,
  proofPath,
  waitFor,
  waitForGit,
} from './lock.ts';
import { OwnedNames } from './owned-names.ts';
import { isDead, newToken, type ProcessToken } from './token.ts';

/** Idle time after which the files of a process may be removed, in milliseconds. */
const idleTime = 24 * 3_600_000;
/** Failed attempts before a waiter announces itself. */
const silentAttempts = 4;

/**
 * Ids of tokens that this process no longer uses, but whose files it could not remove. Their holder
 * counts as dead.
 */
const ended = new Set<string>();

/**
 * The mutex of the servers of one repository: `memory-bank/lock` in the common git directory, which
 * names its holder; see `OwnedNames`.
 *
 * A lock is taken from its holder only if the holder is proved dead, never because of its age: a stopped
 * process is alive. Removing a dead holder's lock needs a second lock, named after the dead token, so
 * that two processes that find it dead cannot remove the lock of a third.
 *
 * A waiter polls, so it would starve next to a busy process that takes the lock again at once. It
 * therefore announces itself by a file, and the busy process pauses after its turn for the length of
 * one poll.
 */
export class ProcessLock {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #local: boolean;
  readonly #names: OwnedNames;
  /** Used for all turns of this process, as long as none of them leaves files behind. */
  #token: ProcessToken | undefined;
  /** Until when this process pauses, because others waited when it released the lock. */
  #backAt = 0;

  /** @param folder our own folder in the common git directory; it must exist. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
    this.#local = isLocal(folder);
    this.#names = new OwnedNames(disk, folder);
  }

  async take(wait: LockWait): Promise<ProcessToken> {
    const token = this.#token ?? newToken();
    this.#token = token;
    const own = this.#path(ownerName(token.id));
    const bytes = Buffer.from(`${JSON.stringify(token)}\n`);
    const waiting = this.#path(waitingName(token.id));
    let failed = 0;
    const attempt = async () => {
      // A cleaner may have read this file half-written and removed it as stale.
      if (!this.#disk.files.lstat(own)) await this.#disk.create(own, [bytes]);
      await this.#names.ready(token.id, bytes);
      if (this.#tryTake('lock', token.id)) return token;
      if (++failed === silentAttempts) this.#announceWait(waiting);
      return undefined;
    };
    try {
      const rest = this.#backAt - monotonicTime();
      if (rest > 0) await sleep(rest);
      return await waitFor(attempt, wait, () => this.#busy()).finally(() => {
        if (failed >= silentAttempts) this.#disk.tryDiscard(waiting);
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Announces that this process waits; if the disk refuses, it waits longer. */
  #announceWait(waiting: string): void {
    try {
      this.#disk.files.close(this.#disk.openNew(waiting, 'wx'));
    } catch (error) {
      if (errno(error) === undefined) throw error;
    }
  }

  /** Releases the lock. It does not throw, because the change may be done; files are removed later. */
  release({ id }: ProcessToken): void {
    this.#quietly(id, () => {
      const names = this.#disk.files.list(this.#folder) ?? [];
      const awaited = names.some(({ name }) => name.startsWith(waitingName('')));
      if (awaited) this.#backAt = monotonicTime() + longestGap;
      // A turn that left files behind ends its token, so that the next process cleans up after it.
      if (names.some(({ name }) => name.endsWith(id) && !this.isAtRest(name))) this.close();
    });
    this.#quietly(id, () => {
      this.#names.release('lock', id);
    });
  }

  /** Drops the token and its files; a later turn takes a new one. */
  close(): void {
    const { id } = this.#token ?? {};
    this.#token = undefined;
    if (id === undefined) return;
    this.#quietly(id, () => {
      const journal = journalName(id);
      if (this.isAtRest(journal)) this.#disk.discard(this.#path(journal));
      this.#disk.discard(this.#path(waitingName(id)));
      this.#names.discard(id);
      this.#disk.discard(this.#path(ownerName(id)));
    });
  }

  /** Whether an idle process has such a file in our folder. */
  isAtRest(name: string): boolean {
    if (/^(?:owner|waiting|turn)-/.test(name)) return true;
    return name.startsWith('journal-') && !this.#disk.files.lstat(this.#path(name))?.size;
  }

  #quietly(id: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (errno(error) === undefined) throw error;
      this.#token = undefined;
      ended.add(id);
    }
  }

  /**
   * Names of the files that processes which died or gave up have left in our folder, by token id. A
   * token whose `owner-` file exists belongs to a live process.
   */
  leftovers(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const { name, kind } of this.#disk.files.list(this.#folder) ?? []) {
      // Without hard links, only the lock itself may show that its holder has left locks of git.
      const isTaken = name === 'lock' && kind === 'directory';
      const id = isTaken ? this.#names.holder(name)?.id : tokenIn(name);
      if (id !== undefined) found.set(id, [...(found.get(id) ?? []), name]);
    }
    if (this.#token) found.delete(this.#token.id);
    for (const [id, names] of found) {
      const owner = this.#names.holder(ownerName(id));
      if (owner && !this.#isGone(owner) && !this.#isIdle(names)) found.delete(id);
    }
    return found;
  }

  /**
   * Whether these files belong to a process that has been idle for long, perhaps in a removed
   * container. If it is alive, it creates them again.
   */
  #isIdle(names: readonly string[]): boolean {
    return names.every((name) => {
      const { mtimeMs = Date.now() } = this.#disk.files.lstat(this.#path(name)) ?? {};
      return this.isAtRest(name) && mtimeMs < Date.now() - idleTime;
    });
  }

  #isGone(holder: ProcessToken): boolean {
    return ended.has(holder.id) || isDead(holder, this.#local);
  }

  /** @param id of the token of this process. */
  #tryTake(name: string, id: string): boolean {
    if (this.#names.take(name, id)) return true;
    const holder = this.#names.holder(name);
    if (!holder || !this.#isGone(holder)) return false;
    const breaking = `break-${holder.id}`;
    if (!this.#tryTake(breaking, id)) return false;
    this.#names.release(name, holder.id);
    this.#names.release(breaking, id);
    return this.#names.take(name, id);
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #busy(): MemoryError {
    const holder = this.#names.holder('lock');
    const lock = this.#path('lock');
    const who = holder ? `the memory-bank process ${holder.pid}` : 'another memory-bank process';
    const data = { lock, ...(holder ? { pid: holder.pid } : {}) };
    const awaited = holder && this.#awaitedBy(holder);
    if (awaited) {
      const text = `Another git process holds its lock of the ${awaited === 'packed' ? 'packed refs' : awaited === 'config' ? 'configuration' : awaited}; ${who} waits for it.`;
      return new MemoryError('busy', text, { hint: waitForGit, data });
    }
    return new MemoryError('busy', `The memory is locked by ${who}.`, {
      hint: 'Try again. If it stays locked, "memory-bank doctor" names the lock holder and since when it is held.',
      data,
    });
  }

  /** The git lock that a process waits for: its file for that lock has no second link yet. */
  #awaitedBy({ id }: ProcessToken): LockRole | undefined {
    if (this.#names.isFolder('lock')) return undefined;
    return lockRoles.find(
      (role) => this.#disk.files.lstat(proofPath(this.#folder, role, id))?.links === 1,
    );
  }
}

/**
 * The token id in the name of a file in our folder. Locks, journals, proofs and staged files have that
 * of their process.
 */
export function tokenIn(name: string): string | undefined {
  return /^[a-z]+\d*-([0-9a-z]+-[0-9a-f]{16})$/.exec(name)?.[1];
}

function ownerName(id: string): string {
  return `owner-${id}`;
}

function waitingName(id: string): string {
  return `waiting-${id}`;
}

/** File systems that two kernels can mount concurrently, by magic number. */
const sharedFileSystems = new Set([
  0x6969, // NFS
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x517b, // SMB
  0x01021997, // 9p
  0x65735546, // FUSE, virtiofs
  0x00c36400, // Ceph
  0x5346414f, // AFS
  0x0bd00bd0, // Lustre
  0x01161970, // GFS2
  0x7461636f, // OCFS2
  0x47504653, // GPFS
]);

/** Whether only this kernel can mount the disk of a folder. */
export function isLocal(folder: string): boolean {
  try {
    return process.platform === 'linux' && !sharedFileSystems.has(statfsSync(folder).type >>> 0);
  } catch {
    return false;
  }
}

export function journalName(token: string): string {
  return `journal-${token}`;
}
