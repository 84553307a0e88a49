import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { newStack } from '../reftable/table-addition.ts';
import { nameOf } from '../reftable/table-bytes.ts';
import { TableStack } from '../reftable/table-stack.ts';
import type { GitConfig } from '../repository/config.ts';
import { objectFormatIn } from '../repository/repository-format.ts';
import type { HeldRef, LogPlan, LogSite, RefSite } from './ref-change.ts';
import { folderOf, type RefPlaces } from './ref-places.ts';
import { idsIn, maxLogLines, type RefStore, withHead } from './ref-store.ts';
import { createsReflogs } from './reflog.ts';
import { entriesOf, HeldStack, HeldTableRef, logHead } from './table-ref-change.ts';

/** The folder of the tables in a git directory. */
const folderName = 'reftable';

/** The refs that show an operation under way; git keeps those with more than one value in files. */
const pseudoRefs: ReadonlySet<string> = new Set(['CHERRY_PICK_HEAD', 'REVERT_HEAD']);

/** Refs and reflogs in tables: one stack for the refs of all work trees, and one for each linked work tree. */
export class TableRefs implements RefStore {
  readonly #files: Files;
  readonly #places: RefPlaces;
  readonly #shared: TableStack;
  readonly #own: TableStack;
  /** The number of the last transaction of refs, and when their table was written. */
  readonly #changes = new Map<string, { readonly index: number; readonly time: number }>();

  constructor(files: Files, places: RefPlaces) {
    [this.#files, this.#places] = [files, places];
    const { gitDir, commonDir } = places;
    this.#shared = new TableStack(files, join(commonDir, folderName));
    this.#own =
      gitDir === commonDir ? this.#shared : new TableStack(files, join(gitDir, folderName));
  }

  value(ref: string): string | undefined {
    return this.#stack(ref).find(ref)?.record.value;
  }

  values(prefix: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const { key, value } of this.#shared.list(prefix)) {
      if (value !== undefined) found.set(nameOf(key), value);
    }
    return found;
  }

  lost(ref: string): MemoryError {
    const value = this.value(ref);
    return new MemoryError('damaged', `The ref ${ref} cannot be read: it has the value ${value}.`, {
      hint: `Set it with "git update-ref --no-deref ${ref} <commit>".`,
      data: { ref },
    });
  }

  has(name: string): boolean {
    return pseudoRefs.has(name) && this.value(name) !== undefined;
  }

  lastChange(refs: readonly string[]): number {
    return Math.max(0, ...refs.map((ref) => this.#changeOf(ref)));
  }

  /** When a ref last changed. Merging tables keeps the number of the transaction, but not the time of the file. */
  #changeOf(ref: string): number {
    const found = this.#stack(ref).find(ref);
    if (!found) return 0;
    const { index } = found.record;
    const known = this.#changes.get(ref);
    if (known?.index === index) return known.time;
    const time = this.#files.lstat(found.table.path)?.ctimeMs ?? 0;
    this.#changes.set(ref, { index, time });
    return time;
  }

  earlierValues(ref: string): Oid[] {
    const lines = this.#stack(ref).log(ref, maxLogLines);
    return idsIn(lines.flatMap(({ entry }) => (entry ? [[entry.to, entry.from]] : [])));
  }

  lockedFiles(branch: string | undefined): string[] {
    return [...new Set(withHead(branch).map((ref) => this.#stack(ref).listPath))];
  }

  async hold(site: RefSite, ref: string, hasHead: boolean): Promise<HeldRef> {
    const stack = this.#stack(ref);
    const own = hasHead && stack !== this.#own ? await this.#holdStack(site, this.#own) : undefined;
    try {
      const held = await this.#holdStack(site, stack);
      const names = hasHead && ref !== 'HEAD' ? ['HEAD', ref] : [ref];
      const logged = names.filter((name) => this.keepsLog(site.config, [name]));
      return new HeldTableRef(site, this.#format, ref, held, own, logged);
    } catch (error) {
      own?.release();
      throw error;
    }
  }

  async #holdStack(site: RefSite, stack: TableStack): Promise<HeldStack> {
    const lock = await site.take(stack.listPath, stack === this.#shared ? 'ref' : 'head');
    return new HeldStack(site.disk, stack, lock);
  }

  get #format() {
    return objectFormatIn(this.#files, this.#places.commonDir);
  }

  /** The line of HEAD in the stack of a linked work tree follows the commit; others are in one table with it. */
  planLogs(config: GitConfig, branch: string | undefined, lines: string): LogPlan {
    const isApart = branch !== undefined && this.#stack(branch) !== this.#own;
    return { logs: [], logLines: isApart && this.keepsLog(config, ['HEAD']) ? lines : '' };
  }

  keepsLog(config: GitConfig, refs: readonly string[]): boolean {
    return createsReflogs(config) || refs.some((ref) => this.#stack(ref).log(ref, 1).length > 0);
  }

  async settleLogs({ logLines }: LogPlan, hasHappened: boolean, site: LogSite): Promise<void> {
    const lines = entriesOf(logLines);
    const last = lines.at(-1)?.to;
    const isThere = () => this.#own.log('HEAD', 1)[0]?.entry?.to === last;
    if (!hasHappened || last === undefined || isThere()) return;
    const lock = await site.adopt(this.#own.listPath, 'head');
    const held = new HeldStack(site.disk, this.#own, lock);
    try {
      if (!isThere()) await logHead(held, this.#format, lines);
    } finally {
      held.release();
    }
  }

  filesOfNew(branch: string): [string, Buffer][] {
    return newStack(this.#format, branch);
  }

  strays(): [] {
    return [];
  }

  #stack(ref: string): TableStack {
    return folderOf(this.#places, ref) === this.#places.commonDir ? this.#shared : this.#own;
  }
}
