import { FileRefWriter } from './file-ref-writer.ts';
import type { RefWriter } from './ref-change.ts';
import type { Refs } from './refs.ts';
import { TableRefWriter } from './table-ref-writer.ts';
import { TableRefs } from './table-refs.ts';

/** Changes refs in the form in which a repository keeps them now. */
export function writerOf({ store }: Refs): RefWriter {
  return store instanceof TableRefs ? new TableRefWriter(store) : new FileRefWriter(store);
}
