import type { LockRole } from '../locks/lock.ts';
import type { GitConfig } from '../repository/config.ts';
import { HeldFileRef } from './file-ref-change.ts';
import type { FileRefs } from './file-refs.ts';
import type {
  HeldRef,
  LogPlan,
  LogSite,
  RefChange,
  RefDraft,
  RefSite,
  RefWriter,
} from './ref-change.ts';
import { withHead } from './ref-store.ts';
import { completeReflogs, flushReflogs, reflogsOf, trimReflogs } from './reflog.ts';

/** Changes refs and reflogs in files. */
export class FileRefWriter implements RefWriter {
  readonly #refs: FileRefs;

  constructor(refs: FileRefs) {
    this.#refs = refs;
  }

  async hold(site: RefSite, ref: string, hasHead: boolean): Promise<HeldRef> {
    const held = this.#open(site, ref, hasHead);
    await held.acquire(roleOf(ref));
    return held;
  }

  async draft(site: RefSite, ref: string, change: RefChange): Promise<RefDraft> {
    const held = this.#open(site, ref, true);
    try {
      const folders = await held.stage(change);
      const lock = async () => {
        await held.acquire(roleOf(ref));
        return held;
      };
      return { folders, lock, discard: () => held.release() };
    } catch (error) {
      held.release();
      throw error;
    }
  }

  #open(site: RefSite, ref: string, hasHead: boolean): HeldFileRef {
    const refs = this.#refs;
    const isNamed = hasHead && ref !== 'HEAD';
    const head = isNamed ? site.open(refs.path('HEAD'), 'head') : undefined;
    try {
      const lock = site.open(refs.path(ref), roleOf(ref));
      return new HeldFileRef(site, refs.places, ref, lock, head, () => refs.isPacked(ref));
    } catch (error) {
      head?.release();
      throw error;
    }
  }

  planLogs(config: GitConfig, branch: string | undefined, logLines: string): LogPlan {
    const { files, places } = this.#refs;
    return { logs: reflogsOf(files, places, config, withHead(branch)), logLines };
  }

  keepsLog(config: GitConfig, refs: readonly string[]): boolean {
    const { files, places } = this.#refs;
    return reflogsOf(files, places, config, refs).length > 0;
  }

  async settleLogs(plan: LogPlan, hasHappened: boolean, { disk }: LogSite): Promise<void> {
    const { commonDir } = this.#refs.places;
    if (!hasHappened) trimReflogs(disk, commonDir, plan.logs, plan.logLines);
    else await flushReflogs(disk, completeReflogs(disk, commonDir, plan.logs, plan.logLines));
  }

  filesOfNew(branch: string): [string, Buffer][] {
    return [['HEAD', Buffer.from(`ref: ${branch}\n`)]];
  }
}

function roleOf(ref: string): LockRole {
  return ref === 'HEAD' ? 'head' : 'ref';
}
