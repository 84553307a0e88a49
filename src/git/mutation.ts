import type { BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';
import { MemoryError } from '../core/error.ts';
import type { GitConfig } from './config.ts';
import type { WorkTree } from './discover.ts';
import type { Stat } from './files.ts';
import { type IndexChange, IndexFile } from './index-file.ts';
import { type Journal, journalPath, temporaryName, writeJournal } from './journal.ts';
import { GitLock, type Patience } from './lock.ts';
import type { Oid, Signature } from './object.ts';
import type { Plan } from './plan.ts';
import { removeIfEmpty, type Site, settle } from './recovery.ts';
import { appendReflogs, reflogsOf } from './reflog.ts';
import type { Refs } from './refs.ts';
import { checkIdle } from './state.ts';
import type { Token } from './token.ts';

/** What a mutation needs of its repository. */
export interface Ground extends Site {
  readonly tree: WorkTree;
  readonly refs: Refs;
  readonly config: GitConfig;
  /** Told of what went wrong after the commit was made and could not be mended at once. */
  warn(message: string): void;
}

/** The index as the plan saw it. */
export interface KnownIndex {
  readonly file: IndexFile;
  /** Inode, size and time of the file; undefined when there was none. */
  readonly key: string | undefined;
}

/** A mutation that has come to be. */
export interface Applied {
  readonly commit: Oid;
  readonly ref: string | undefined;
  readonly index: KnownIndex;
}

/**
 * Carries out a plan, whose objects are stored already: files, index and ref change under git's own
 * locks, and the rename of the ref is the moment at which it has happened.
 *
 * @returns undefined when something that the plan rests on has changed meanwhile; nothing was done.
 * @throws MemoryError or a system error, after which nothing has changed.
 */
export async function applyPlan(
  ground: Ground,
  plan: Plan,
  known: KnownIndex,
  committer: Signature,
  token: Token,
  patience: Patience,
): Promise<Applied | undefined> {
  const locks = await takeLocks(ground, plan.head.ref, token, patience);
  try {
    checkIdle(ground.disk.files, ground.tree.gitDir);
    if (!holdsStill(ground, plan, known)) return undefined;
    return await new Mutation(ground, plan, known, committer, token, locks).run();
  } finally {
    for (const lock of [locks.ref, locks.head, locks.index]) lock?.release();
  }
}

interface Locks {
  readonly index: GitLock;
  readonly head: GitLock;
  /** Undefined when HEAD is detached: then HEAD itself is what changes. */
  readonly ref: GitLock | undefined;
}

/** In the order in which git takes them, so that two programs never wait for each other. */
async function takeLocks(
  ground: Ground,
  ref: string | undefined,
  token: Token,
  patience: Patience,
): Promise<Locks> {
  const { disk, folder, tree } = ground;
  const taken: GitLock[] = [];
  const take = async (target: string, role: 'index' | 'head' | 'ref') => {
    const lock = await GitLock.take(disk, target, role, folder, token, patience);
    taken.push(lock);
    return lock;
  };
  try {
    const index = await take(join(tree.gitDir, 'index'), 'index');
    const head = await take(join(tree.gitDir, 'HEAD'), 'head');
    if (ref === undefined) return { index, head, ref: undefined };
    const path = refPath(ground, ref);
    disk.makeDirectories(dirname(path));
    return { index, head, ref: await take(path, 'ref') };
  } catch (error) {
    for (const lock of taken.reverse()) lock.release();
    throw error;
  }
}

function refPath(ground: Ground, ref: string): string {
  return join(ground.refs.folderOf(ref), ref);
}

/** Whether HEAD, the index and the files are still what the plan was made from. */
function holdsStill(ground: Ground, plan: Plan, known: KnownIndex): boolean {
  const head = ground.refs.head();
  if (head.ref !== plan.head.ref || head.oid !== plan.head.oid) return false;
  if (indexKey(ground) !== known.key) return false;
  return plan.files.every(({ path, seen }) => {
    const found = ground.disk.files.read(join(ground.tree.top, path));
    return found === undefined || seen === undefined ? found === seen : found.equals(seen);
  });
}

/** Reads the index, or answers with the one that is known when it has not changed since. */
export function readIndex(ground: Ground, known: KnownIndex | undefined): KnownIndex {
  const key = indexKey(ground);
  if (known && known.key === key) return known;
  const bytes = ground.disk.files.read(join(ground.tree.gitDir, 'index'));
  return { file: new IndexFile(bytes), key };
}

export function indexKey(ground: Pick<Ground, 'disk' | 'tree'>): string | undefined {
  const stat = ground.disk.files.lstat(join(ground.tree.gitDir, 'index'));
  return stat && keyOf(stat);
}

/** Without the time of the last status change, which the rename into place moves. */
function keyOf(stat: Stat): string {
  return `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

interface NewIndex {
  readonly bytes: Buffer;
  readonly key: string;
}

/** Waits for all of them, also when one fails: nothing may be at work any more when it is undone. */
async function together<T extends readonly unknown[]>(
  ...work: { [K in keyof T]: Promise<T[K]> }
): Promise<T> {
  await Promise.allSettled(work);
  return Promise.all(work) as Promise<unknown> as Promise<T>;
}

class Mutation {
  readonly #ground: Ground;
  readonly #plan: Plan;
  readonly #known: KnownIndex;
  readonly #committer: Signature;
  readonly #token: Token;
  readonly #locks: Locks;
  readonly #commit: Oid;
  /** Folders whose entries have to be on the medium before the mutation is acknowledged. */
  readonly #changed = new Set<string>();

  constructor(
    ground: Ground,
    plan: Plan,
    known: KnownIndex,
    committer: Signature,
    token: Token,
    locks: Locks,
  ) {
    this.#ground = ground;
    this.#plan = plan;
    this.#known = known;
    this.#committer = committer;
    this.#token = token;
    this.#locks = locks;
    this.#commit = plan.commits.at(-1)?.oid ?? '';
  }

  async run(): Promise<Applied> {
    const { disk, folder } = this.#ground;
    const journal = this.#journal();
    await writeJournal(disk, folder, journal);
    let index: NewIndex;
    try {
      index = await this.#prepare(journal);
      this.#moveRef();
    } catch (error) {
      await this.#undo(journal, error);
      throw error;
    }
    return this.#finish(index, journal);
  }

  #journal(): Journal {
    const ground = this.#ground;
    const plan = this.#plan;
    return {
      token: this.#token.id,
      top: ground.tree.top,
      gitDir: ground.tree.gitDir,
      ref: plan.head.ref,
      parent: plan.head.oid,
      commit: this.#commit,
      files: plan.files.map(({ path, before, after, mode }) => ({ path, before, after, mode })),
      logs: reflogsOf(ground.disk, ground.config, ground.refs, plan.head.ref),
      folders: this.#missingFolders(),
    };
  }

  #missingFolders(): string[] {
    const { files } = this.#ground.disk;
    const missing = new Set<string>();
    for (const { path, bytes } of this.#plan.files) {
      const parts = path.split('/');
      for (let depth = 1; bytes && depth < parts.length; depth++) {
        const folder = join(this.#ground.tree.top, ...parts.slice(0, depth));
        const kind = files.lstat(folder)?.kind;
        if (kind === undefined) missing.add(folder);
        else if (kind !== 'directory') throw inTheWay(folder, kind);
      }
    }
    return [...missing];
  }

  /** Everything up to the commit point; the new index as it lies in its lock. */
  async #prepare(journal: Journal): Promise<NewIndex> {
    const { disk } = this.#ground;
    const stats = await this.#writeFiles();
    const set: IndexChange[] = [];
    const remove: string[] = [];
    for (const { path, after, mode } of this.#plan.files) {
      const stat = stats.get(path);
      if (after !== undefined && stat) set.push({ path, oid: after, mode, stat });
      else remove.push(path);
    }
    const index = this.#known.file.splice(set, remove, this.#plan.trees);
    const ref = this.#locks.ref ?? this.#locks.head;
    const [stat, , logFolders] = await together(
      this.#locks.index.fill([index]),
      ref.fill([Buffer.from(`${this.#commit}\n`, 'latin1')]),
      appendReflogs(disk, journal.logs, this.#plan.commits, this.#committer),
      disk.settle(this.#changed),
    );
    await disk.settle(logFolders);
    return { bytes: index, key: keyOf(stat) };
  }

  /** Puts each file in place under its name, whole. */
  async #writeFiles(): Promise<Map<string, BigIntStats>> {
    const { disk, tree } = this.#ground;
    const moves: { from: string; to: string; path: string }[] = [];
    for (const [i, { path, bytes, mode }] of this.#plan.files.entries()) {
      if (bytes === undefined) continue;
      const to = join(tree.top, path);
      for (const folder of disk.makeDirectories(dirname(to))) this.#changed.add(folder);
      const from = join(dirname(to), temporaryName(this.#token.id, i));
      const permissions = disk.files.lstat(to)?.mode;
      await disk.create(from, [bytes], 0o666 | (mode & 0o111), permissions);
      moves.push({ from, to, path });
    }
    const stats = new Map<string, BigIntStats>();
    for (const { from, to, path } of moves) {
      disk.files.rename(from, to);
      const stat = disk.files.lstatExact(to);
      if (stat) stats.set(path, stat);
      this.#changed.add(dirname(to));
    }
    for (const { path, bytes } of this.#plan.files) if (bytes === undefined) this.#remove(path);
    return stats;
  }

  /** Removes a file and, as git does, the folders that it leaves empty. */
  #remove(path: string): void {
    const { disk, tree } = this.#ground;
    disk.discard(join(tree.top, path));
    let folder = dirname(path);
    this.#changed.add(join(tree.top, folder));
    while (folder !== '.' && removeIfEmpty(disk, join(tree.top, folder))) {
      this.#changed.delete(join(tree.top, folder));
      folder = dirname(folder);
      this.#changed.add(join(tree.top, folder));
    }
  }

  #moveRef(): void {
    const { index, head, ref } = this.#locks;
    if (!index.isOurs() || !head.isOurs() || (ref && !ref.isOurs())) {
      throw new MemoryError('busy', 'A lock of this mutation was removed while it was at work.', {
        hint: 'Nothing was changed. Try again.',
      });
    }
    const ground = this.#ground;
    const name = this.#plan.head.ref;
    const target = name === undefined ? join(ground.tree.gitDir, 'HEAD') : refPath(ground, name);
    // Git leaves empty folders behind where a branch of that name once had others below it.
    if (ground.disk.files.lstat(target)?.kind === 'directory') this.#removeEmptyFolders(target);
    (ref ?? head).commit(target);
  }

  #removeEmptyFolders(folder: string): void {
    const { disk } = this.#ground;
    for (const { name, kind } of disk.files.list(folder) ?? []) {
      if (kind === 'directory') this.#removeEmptyFolders(join(folder, name));
    }
    removeIfEmpty(disk, folder);
  }

  /** After the commit point nothing throws any more: what fails here is finished by recovery. */
  async #finish(index: NewIndex, journal: Journal): Promise<Applied> {
    const { disk, folder, tree, refs } = this.#ground;
    const ref = this.#plan.head.ref;
    try {
      this.#locks.index.commit(join(tree.gitDir, 'index'));
      const refFolder = ref === undefined ? tree.gitDir : dirname(join(refs.folderOf(ref), ref));
      await disk.settle([refFolder, tree.gitDir]);
      disk.discard(journalPath(folder, journal.token));
    } catch (error) {
      this.#ground.warn(`The commit ${this.#commit} was made; finishing it failed: ${error}`);
    }
    const known = { file: new IndexFile(index.bytes), key: index.key };
    return { commit: this.#commit, ref, index: known };
  }

  async #undo(journal: Journal, cause: unknown): Promise<void> {
    try {
      await settle(this.#ground, this.#token, journal);
      this.#ground.disk.discard(journalPath(this.#ground.folder, journal.token));
    } catch (error) {
      // The journal stays: whoever takes the process lock next does what could not be done now.
      this.#ground.warn(`Undoing a change that failed (${cause}) failed as well: ${error}`);
    }
  }
}

function inTheWay(path: string, kind: string): MemoryError {
  const what = kind === 'link' ? 'a symbolic link' : 'a file';
  return new MemoryError('cannot_create', `${path} is ${what} where a folder should be.`, {
    hint: 'Memory is never written through a link or over a file: move it out of the way.',
    data: { path },
  });
}
