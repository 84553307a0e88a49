import { newStack } from '../reftable/table-addition.ts';
import type { TableStack } from '../reftable/table-stack.ts';
import type { GitConfig } from '../repository/config.ts';
import type { HeldRef, LogPlan, LogSite, RefSite, RefWriter } from './ref-change.ts';
import { createsReflogs } from './reflog.ts';
import { entriesOf, HeldStack, HeldTableRef, logHead } from './table-ref-change.ts';
import type { TableRefs } from './table-refs.ts';

/** Changes refs and reflogs in tables. */
export class TableRefWriter implements RefWriter {
  readonly #refs: TableRefs;

  constructor(refs: TableRefs) {
    this.#refs = refs;
  }

  async hold(site: RefSite, ref: string, hasHead: boolean): Promise<HeldRef> {
    const refs = this.#refs;
    const stack = refs.stackOf(ref);
    const own = hasHead && stack !== refs.own ? await this.#holdStack(site, refs.own) : undefined;
    try {
      const held = await this.#holdStack(site, stack);
      const names = hasHead && ref !== 'HEAD' ? ['HEAD', ref] : [ref];
      const logged = names.filter((name) => this.keepsLog(site.config, [name]));
      return new HeldTableRef(site, refs.format, ref, held, own, logged);
    } catch (error) {
      own?.release();
      throw error;
    }
  }

  async #holdStack(site: RefSite, stack: TableStack): Promise<HeldStack> {
    const lock = await site.take(stack.listPath, stack === this.#refs.shared ? 'ref' : 'head');
    return new HeldStack(site.disk, stack, lock);
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
