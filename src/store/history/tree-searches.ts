import type { SearchRequest, SearchResult } from '../../core/memory/search-hit.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { TreeFolder } from '../../git/objects/tree-folder.ts';
import { maxTreeBytes } from '../derived/derived-cleaning.ts';
import { DerivedFile } from '../derived/derived-file.ts';
import { derivedPlace } from '../records/derived-place.ts';
import { LiveRecords } from '../records/live-records.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { savedContent, typeMark } from '../records/saved-layout.ts';
import { shippedTable } from '../search/meaning/shipped-table.ts';
import { RecordSearch } from '../search/record-search.ts';
import { SavedState } from '../search/saved-state.ts';

/** How long after a search its index is saved, in milliseconds. */
const delay = 500;

/**
 * The searches of trees of git in one process. Their indexes are saved for the next process when nothing
 * is searched.
 */
export class TreeSearches {
  readonly #memory: MemoryFolder;
  readonly #least: number;
  /** Those whose index is not saved yet. */
  readonly #unsaved = new Set<TreeSearch>();
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #closed = false;

  /** @param least with fewer records a file is not worth its cost; infinite for no files at all. */
  constructor(memory: MemoryFolder, least: number) {
    this.#memory = memory;
    this.#least = least;
  }

  /** Opens the search of a tree, with the index that an earlier process has saved. */
  open(folder: TreeFolder, tree: Oid | undefined): TreeSearch {
    return new TreeSearch(folder, this.#memory, tree, this.#least, (search) => {
      this.#unsaved.add(search);
      this.#saveSoon();
    });
  }

  /** Saves the indexes that are not saved yet, and stops indexing. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#work;
    await this.#save(true);
  }

  #saveSoon(): void {
    clearTimeout(this.#timer);
    if (this.#closed || this.#unsaved.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#work ??= this.#save(false).finally(() => {
        this.#work = undefined;
        // A large memory is still being indexed.
        this.#saveSoon();
      });
    }, delay).unref();
  }

  /** @param isLast whether those that are still being indexed are also saved, as far as they are. */
  async #save(isLast: boolean): Promise<void> {
    for (const search of [...this.#unsaved]) {
      this.#unsaved.delete(search);
      // An error means that the next process reads all records again.
      const isSaved = await search.save(isLast).catch(() => true);
      if (isLast) search.close();
      else if (!isSaved) this.#unsaved.add(search);
    }
  }
}

/** The search of the records of a tree of git, which never change. */
export class TreeSearch {
  readonly #view: LiveRecords;
  readonly #search: RecordSearch;
  readonly #file: DerivedFile;
  readonly #state: SavedState;
  readonly #least: number;
  readonly #onSearched: (search: TreeSearch) => void;
  #isOpen = false;
  /** The version of the file when it was read. */
  #version: string | undefined;

  /** @param onSearched called after a search whose index is not saved yet. */
  constructor(
    folder: TreeFolder,
    memory: MemoryFolder,
    tree: Oid | undefined,
    least: number,
    onSearched: (search: TreeSearch) => void,
  ) {
    const { types } = memory;
    this.#view = new LiveRecords(folder, types);
    const table = () => shippedTable(memory.files);
    const synonyms = () => memory.settings.synonyms;
    this.#search = new RecordSearch(this.#view, types, async () => [], table, synonyms);
    const isSaved = tree !== undefined && least < Number.POSITIVE_INFINITY;
    const place = () => (isSaved ? derivedPlace(memory, tree) : undefined);
    // A file with another name than its own counts as missing.
    const content = [...savedContent, tree, types.map(typeMark)];
    this.#file = new DerivedFile(place, 'records', content, maxTreeBytes);
    this.#state = new SavedState(this.#file, this.#view, this.#search, types, undefined);
    this.#least = least;
    this.#onSearched = onSearched;
  }

  /** Searches the records; see `RecordSearch.find`. */
  async find(
    request: SearchRequest,
    readable: ((path: string) => boolean) | undefined,
  ): Promise<SearchResult> {
    this.#open();
    const found = await this.#search.find(request, readable);
    const isSaved = this.#state.saved?.searchable === true;
    if (!isSaved && this.#view.count >= this.#least && this.#file.hasPlace) this.#onSearched(this);
    return found;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    if (this.#state.load()) this.#file.touch();
    else this.#view.refresh('names');
    this.#version = this.#file.version();
  }

  /**
   * Saves the records and the index, unless another process has done so meanwhile.
   *
   * @param asItIs whether the records are saved without an index that is not complete.
   * @returns false if it has to be tried again later, because a large memory is still being indexed.
   */
  async save(asItIs: boolean): Promise<boolean> {
    if (!asItIs) await this.#search.becomesComplete();
    if (!asItIs && !this.#search.isComplete) return false;
    const version = this.#file.version();
    const isNew = version !== undefined && version !== this.#version;
    if (!isNew) await this.#state.write(await this.#state.encode());
    return true;
  }

  /** Stops the indexing that runs in the background. */
  close(): void {
    this.#search.close();
  }
}
