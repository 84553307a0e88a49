import { FileRefWriter } from './file-ref-writer.ts';
import type { HeldRef, RefChange, RefDraft, RefSite, RefWriter } from './ref-change.ts';
import type { Refs } from './refs.ts';
import { TableRefWriter } from './table-ref-writer.ts';
import { TableRefs } from './table-refs.ts';

/** Changes refs in the form in which a repository keeps them now. */
export function writerOf({ store }: Refs): RefWriter {
  return store instanceof TableRefs ? new TableRefWriter(store) : new FileRefWriter(store);
}

/** Locks a ref for a change, but not HEAD. */
export async function holdRef(refs: Refs, site: RefSite, ref: string): Promise<HeldRef> {
  const opened = writerOf(refs).open(site, ref, false);
  await opened.acquire();
  return opened;
}

/** Writes a change of HEAD's ref before the ref is locked: git waits for its locks only 0.1 seconds. */
export async function draftRef(
  refs: Refs,
  site: RefSite,
  ref: string,
  change: RefChange,
): Promise<RefDraft> {
  const opened = writerOf(refs).open(site, ref, true);
  const lock = async () => {
    await opened.acquire();
    await opened.renew(change);
    return opened;
  };
  try {
    return { folders: await opened.stage(change), lock, discard: () => opened.discard() };
  } catch (error) {
    opened.discard();
    throw error;
  }
}
