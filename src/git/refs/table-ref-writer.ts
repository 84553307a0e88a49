import type { LockRole } from '../locks/lock.ts';
import { newStack } from '../reftable/table-addition.ts';
import type { TableStack } from '../reftable/table-stack.ts';
import type { GitConfig } from '../repository/config.ts';
import type { LogPlan, LogSite, OpenRef, RefSite, RefWriter } from './ref-change.ts';
import { createsReflogs } from './reflog.ts';
import { entriesOf, HeldStack, HeldTableRef, logHead } from './table-ref-change.ts';
import type { TableRefs } from './table-refs.ts';

/** Changes refs and reflogs in tables. */
export class TableRefWriter implements RefWriter {
  readonly #refs: TableRefs;

  constructor(refs: TableRefs) {
    this.#refs = refs;
  }

  open(site: RefSite, ref: string, hasHead: boolean): OpenRef {
    const refs = this.#refs;
    const stack = refs.stackOf(ref);
    const open = (one: TableStack, role: LockRole) =>
      new HeldStack(site.disk, one, site.open(one.listPath, role));
    const own = hasHead && stack !== refs.own ? open(refs.own, 'head') : undefined;
    try {
      const names = hasHead && ref !== 'HEAD' ? ['HEAD', ref] : [ref];
      const logged = () => names.filter((name) => this.keepsLog(site.config, [name]));
      const held = open(stack, stack === refs.shared ? 'ref' : 'head');
      return new HeldTableRef(site, refs.format, ref, held, own, logged);
    } catch (error) {
      own?.release();
      throw error;
    }
  }

  /** The line of HEAD in the stack of a linked work tree follows the commit; others are in one table with it. */
  planLogs(config: GitConfig, branch: string | undefined, lines: string): LogPlan {
    const { own } = this.#refs;
    const isApart = branch !== undefined && this.#refs.stackOf(branch) !== own;
    return { logs: [], logLines: isApart && this.keepsLog(config, ['HEAD']) ? lines : '' };
  }

  keepsLog(config: GitConfig, refs: readonly string[]): boolean {
    const hasLog = (ref: string) => this.#refs.stackOf(ref).log(ref, 1).length > 0;
    return createsReflogs(config) || refs.some(hasLog);
  }

  async settleLogs({ logLines }: LogPlan, hasHappened: boolean, site: LogSite): Promise<void> {
    const { own, format } = this.#refs;
    const lines = entriesOf(logLines);
    const last = lines.at(-1)?.to;
    const isThere = () => own.log('HEAD', 1)[0]?.entry?.to === last;
    if (!hasHappened || last === undefined || isThere()) return;
    const lock = await site.adopt(own.listPath, 'head');
    const held = new HeldStack(site.disk, own, lock);
    try {
      if (!isThere()) await logHead(held, format, lines);
    } finally {
      held.release();
    }
  }

  filesOfNew(branch: string): [string, Buffer][] {
    return newStack(this.#refs.format, branch);
  }
}
