import type { SearchRequest, SearchResult } from '../../core/memory/search-hit.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import { LiveRecords } from '../records/live-records.ts';
import { decodeText, maxFileBytes } from '../records/record-file.ts';
import type { Records } from '../records/record-reader.ts';
import type { TreeSearch, TreeSearches } from './tree-searches.ts';

/** The records of one commit, read from its trees with the rules of the work tree. */
export class PastRecords implements Records {
  readonly view: LiveRecords;
  readonly #folder: TreeFolder;
  readonly #searches: TreeSearches;
  readonly #tree: Oid | undefined;
  #search: TreeSearch | undefined;
  #listed = false;

  /** @param searches the searches of trees in this process. */
  constructor(
    odb: ObjectDatabase,
    tree: Oid | undefined,
    types: readonly AnyRecordType[],
    searches: TreeSearches,
  ) {
    this.#folder = new TreeFolder(odb, tree);
    this.#tree = tree;
    this.#searches = searches;
    this.view = new LiveRecords(this.#folder, types);
  }

  async refresh(): Promise<void> {
    if (!this.#listed) this.view.refresh('names');
    this.#listed = true;
  }

  /** Searches the records; see `RecordSearch.find`. */
  find(
    request: SearchRequest,
    readable: ((path: string) => boolean) | undefined,
  ): Promise<SearchResult> {
    this.#search ??= this.#searches.open(this.#folder, this.#tree);
    return this.#search.find(request, readable);
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
