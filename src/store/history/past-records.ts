import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import { LiveRecords } from '../records/live-records.ts';
import { decodeText, maxFileBytes } from '../records/record-file.ts';
import type { Records } from '../records/record-reader.ts';
import { RecordSearch } from '../search/record-search.ts';

/** The records of one commit, read from its trees with the rules of the work tree. */
export class PastRecords implements Records {
  readonly view: LiveRecords;
  readonly search: RecordSearch;
  readonly #folder: TreeFolder;
  #listed = false;

  constructor(odb: ObjectDatabase, tree: Oid | undefined, types: readonly AnyRecordType[]) {
    this.#folder = new TreeFolder(odb, tree);
    this.view = new LiveRecords(this.#folder, types);
    this.search = new RecordSearch(this.view, types);
  }

  async refresh(): Promise<void> {
    if (!this.#listed) this.view.refresh('names');
    this.#listed = true;
  }

  /** The id of the blob at a path. */
  oid(path: string): Oid | undefined {
    return this.#folder.oid(path);
  }

  /**
   * Reads the text of a file; undefined if there is none.
   *
   * @throws MemoryError `damaged` if the file is not text.
   */
  text(path: string): string | undefined {
    const bytes = this.#folder.read(path, maxFileBytes);
    return bytes && decodeText(bytes);
  }
}
