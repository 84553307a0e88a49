import type { GitConfig } from '../repository/config.ts';
import { HeldFileRef } from './file-ref-change.ts';
import type { FileRefs } from './file-refs.ts';
import type { LogPlan, LogSite, OpenRef, RefSite, RefWriter } from './ref-change.ts';
import { withHead } from './ref-store.ts';
import { completeReflogs, flushReflogs, reflogsOf, trimReflogs } from './reflog.ts';

/** Changes refs and reflogs in files. */
export class FileRefWriter implements RefWriter {
  readonly #refs: FileRefs;

  constructor(refs: FileRefs) {
    this.#refs = refs;
  }

  open(site: RefSite, ref: string, hasHead: boolean): OpenRef {
    const refs = this.#refs;
    const isNamed = hasHead && ref !== 'HEAD';
    const head = isNamed ? site.open(refs.path('HEAD'), 'head') : undefined;
    try {
      const lock = site.open(refs.path(ref), ref === 'HEAD' ? 'head' : 'ref');
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
