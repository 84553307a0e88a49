import { basename, join } from 'node:path';
import { type Disk, together } from '../disk/disk.ts';
import type { GitLock } from '../locks/lock.ts';
import { formatSignature, type Signature } from '../objects/object.ts';
import { noObject, type ObjectFormat } from '../objects/object-format.ts';
import {
  planAddition,
  sweepTables,
  type TableAddition,
  type TableChange,
} from '../reftable/table-addition.ts';
import type { ReflogEntry } from '../reftable/table-records.ts';
import type { TableStack } from '../reftable/table-stack.ts';
import type { OpenRef, RefChange, RefSite } from './ref-change.ts';
import type { PlannedCommit } from './reflog.ts';

/** A stack of tables whose list is locked, or will be before `place`. */
export class HeldStack {
  readonly lock: GitLock;
  readonly stack: TableStack;
  readonly disk: Disk;
  #addition: TableAddition | undefined;
  isPlaced = false;

  constructor(disk: Disk, stack: TableStack, lock: GitLock) {
    [this.disk, this.stack, this.lock] = [disk, stack, lock];
  }

  /** Writes the next table and the list with it. */
  async stage(change: TableChange): Promise<void> {
    const { disk } = this;
    this.#discardTable();
    const addition = planAddition(disk.files, this.stack, change);
    this.#sweep(addition);
    this.#addition = addition;
    await together([
      disk.create(this.#path(addition.name), [addition.bytes]),
      this.lock.fill([addition.list]),
    ]);
  }

  /**
   * Writes them again, under the lock, if other processes have changed the stack before it was taken.
   *
   * @returns whether they had.
   */
  async renew(change: TableChange): Promise<boolean> {
    const { files } = this.disk;
    const addition = this.#addition;
    const isCurrent =
      addition !== undefined &&
      namesOf(this.stack).join() === addition.names.join() &&
      files.lstat(this.#path(addition.name)) !== undefined &&
      // Another process merges them at the moment.
      !addition.replaced.some(({ path }) => files.lstat(`${path}.lock`));
    if (isCurrent) this.#sweep(addition);
    else await this.stage(change);
    return !isCurrent;
  }

  place(): void {
    this.lock.commit(this.stack.listPath);
    this.isPlaced = true;
  }

  /** Removes the tables that were merged; the new list must be on the medium. */
  tidy(): void {
    for (const { path } of this.#addition?.replaced ?? []) this.disk.tryDiscard(path);
  }

  /** Removes a table that no list names. */
  release(): void {
    if (!this.isPlaced && this.lock.isOurs()) this.#discardTable();
    this.lock.release();
  }

  /** Removes what was written before the lock was taken. */
  discard(): void {
    this.#discardTable();
    this.lock.release();
  }

  #discardTable(): void {
    const name = this.#addition?.name;
    if (name !== undefined) this.disk.tryDiscard(this.#path(name));
    this.#addition = undefined;
  }

  /** Removes tables of dead processes. Not each time: that is one more listing of the folder. */
  #sweep({ replaced, names, name }: TableAddition): void {
    // Without the lock, they may be of a live process that has it.
    if (replaced.length === 0 || !this.lock.isOurs()) return;
    sweepTables(this.disk, this.stack.folder, [...names, name]);
  }

  #path(name: string): string {
    return join(this.stack.folder, name);
  }
}

/** The names of the tables in a stack now. */
function namesOf(stack: TableStack): string[] {
  return stack.look((tables) => tables.map(({ path }) => basename(path)));
}

/** A locked ref in tables; all refs of a stack have one lock. */
export class HeldTableRef implements OpenRef {
  readonly locks: readonly [GitLock, ...GitLock[]];
  readonly #site: RefSite;
  readonly #format: ObjectFormat;
  readonly #ref: string;
  readonly #stack: HeldStack;
  /** The stack of a linked work tree, for the reflog of its HEAD. */
  readonly #own: HeldStack | undefined;
  /** The refs whose reflogs in the stack get lines; HEAD in the other stack. */
  readonly #logged: () => readonly string[];
  #change: RefChange | undefined;

  constructor(
    site: RefSite,
    format: ObjectFormat,
    ref: string,
    stack: HeldStack,
    own: HeldStack | undefined,
    logged: () => readonly string[],
  ) {
    [this.#site, this.#format, this.#ref] = [site, format, ref];
    [this.#stack, this.#own, this.#logged] = [stack, own, logged];
    this.locks = own ? [stack.lock, own.lock] : [stack.lock];
  }

  get isPlaced(): boolean {
    return this.#stack.isPlaced;
  }

  async acquire(): Promise<void> {
    const { wait } = this.#site;
    try {
      await this.#own?.lock.acquire(wait);
      await this.#stack.lock.acquire(wait);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  async stage(change: RefChange): Promise<string[]> {
    this.#change = change;
    await this.#stack.stage(this.#tableChange(change));
    return [this.#stack.stack.folder];
  }

  async renew(change: RefChange): Promise<void> {
    try {
      const isNew = await this.#stack.renew(this.#tableChange(change));
      if (isNew) await this.#site.disk.settle([this.#stack.stack.folder]);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  discard(): void {
    this.#own?.lock.release();
    this.#stack.discard();
  }

  #tableChange(change: RefChange): TableChange {
    const logged = this.#logged().filter((name) => name !== 'HEAD' || !this.#own);
    const [format, lines] = [this.#format, this.#lines(change)];
    return { format, ref: this.#ref, value: change.to, lines, logged };
  }

  async place(): Promise<void> {
    this.#stack.place();
  }

  async finish(folders: readonly string[]): Promise<void> {
    const { disk } = this.#site;
    await disk.settle([...folders, this.#stack.stack.folder]);
    this.#stack.tidy();
    if (this.#own && this.#change && this.#logged().includes('HEAD')) {
      await logHead(this.#own, this.#format, this.#lines(this.#change));
    }
    this.#own?.release();
  }

  release(): void {
    this.#own?.release();
    this.#stack.release();
  }

  leave(): void {
    for (const lock of this.locks) lock.leave();
  }

  #lines({ log }: RefChange): ReflogEntry[] {
    return log ? log.commits.map((commit) => toEntry(commit, log.committer, this.#format)) : [];
  }
}

/** Adds lines to the reflog of HEAD in the stack of a linked work tree. */
export async function logHead(
  held: HeldStack,
  format: ObjectFormat,
  lines: readonly ReflogEntry[],
): Promise<void> {
  const { disk } = held;
  await held.stage({ format, lines, logged: ['HEAD'] });
  await disk.settle([held.stack.folder]);
  held.place();
  await disk.settle([held.stack.folder]);
  held.tidy();
}

function toEntry(
  { oid, before, log }: PlannedCommit,
  committer: Signature,
  format: ObjectFormat,
): ReflogEntry {
  const { name, email, seconds } = committer;
  return {
    from: before ?? noObject(format),
    to: oid,
    name: Buffer.from(name, 'utf8'),
    email: Buffer.from(email, 'utf8'),
    seconds,
    zone: Number(formatSignature(committer).slice(-5)),
    message: Buffer.from(`${log}\n`, 'utf8'),
  };
}

const logLine =
  /^(?<from>[0-9a-f]+) (?<to>[0-9a-f]+) (?<name>.*) <(?<email>[^>]*)> (?<seconds>\d+) (?<zone>[+-]\d{4})\t(?<log>.*)$/;

/** Reads lines of a reflog as `reflogLines` writes them. */
export function entriesOf(text: string): ReflogEntry[] {
  return text.split('\n').flatMap((line) => {
    const {
      from,
      to,
      name = '',
      email = '',
      seconds,
      zone,
      log,
    } = logLine.exec(line)?.groups ?? {};
    if (from === undefined || to === undefined) return [];
    const [named, addressed] = [Buffer.from(name, 'utf8'), Buffer.from(email, 'utf8')];
    const message = Buffer.from(`${log}\n`, 'utf8');
    return [
      {
        from,
        to,
        name: named,
        email: addressed,
        seconds: Number(seconds),
        zone: Number(zone),
        message,
      },
    ];
  });
}
