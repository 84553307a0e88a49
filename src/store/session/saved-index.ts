import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { Folder } from '../../git/disk/folder.ts';
import { DerivedFile } from '../derived/derived-file.ts';
import { derivedPlace } from '../records/derived-place.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { maxSavedBytes, savedContent } from '../records/saved-layout.ts';
import type { RecordSearch } from '../search/record-search.ts';
import { SavedState } from '../search/saved-state.ts';

/** How long after a look at the disk the file is written, in milliseconds. */
const delay = 500;
/** The file is written again after more changes than this, and a share of the records. */
const fewChanges = 32;
const changedShare = 1 / 64;

/**
 * The decoded records and the search index in a file of the git directory, for the next process.
 *
 * It is read before the first look at the disk, which then compares the stat of each file.
 */
export class SavedIndex {
  readonly #memory: MemoryFolder;
  readonly #search: RecordSearch;
  readonly #file: DerivedFile;
  readonly #state: SavedState;
  readonly #least: number;
  /** Changes of records that the file does not have. */
  #changes = 0;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;

  /** @param least with fewer records the file is not worth its cost; infinite for no file at all. */
  constructor(
    memory: MemoryFolder,
    search: RecordSearch,
    types: readonly AnyRecordType[],
    files: Files,
    least: number,
  ) {
    this.#memory = memory;
    this.#search = search;
    const place = () => derivedPlace(memory);
    this.#file = new DerivedFile(place, 'records', savedContent, maxSavedBytes);
    const folder = new Folder(files, memory.path);
    this.#state = new SavedState(this.#file, memory.view, search, types, folder);
    this.#least = least;
    memory.view.onChange(() => {
      this.#changes += 1;
    });
  }

  /** Reads the file before the first look at the disk. */
  load(): void {
    if (this.#least === Number.POSITIVE_INFINITY) return;
    if (this.#state.load()) this.#changes = 0;
  }

  /** Writes the file unless it has a recent index of the search; returns false if that lacks a record. */
  async save(): Promise<boolean> {
    if (this.#least === Number.POSITIVE_INFINITY || !this.#file.hasPlace) return false;
    if (!(await this.#search.becomesComplete())) return false;
    const isRecent = this.isSearchable && !this.#hasManyChanges;
    if (!isRecent) await this.#write();
    return true;
  }

  /** Whether the file has the search index. */
  get isSearchable(): boolean {
    return this.#state.saved?.searchable === true;
  }

  /** Writes the file soon, if that is worth it. */
  writeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#isStale()
      ? setTimeout(() => {
          // The records that a call reads meanwhile would be read twice.
          if (this.#memory.readers > 0) this.writeSoon();
          else void this.#write().catch(() => undefined);
        }, delay).unref()
      : undefined;
  }

  /** Writes the file if that is worth it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#work?.catch(() => undefined);
    // An error means that the next process reads all records again.
    if (this.#isStale()) await this.#write().catch(() => undefined);
    clearTimeout(this.#timer);
  }

  #isStale(): boolean {
    if (!this.#memory.swept) return false;
    if (!this.#state.saved) return this.#memory.view.count >= this.#least;
    if (this.#hasManyChanges) return true;
    return this.#search.isComplete && !this.isSearchable;
  }

  get #hasManyChanges(): boolean {
    return this.#changes > fewChanges + changedShare * (this.#state.saved?.records ?? 0);
  }

  #write(): Promise<void> {
    this.#work ??= this.#writing().finally(() => {
      this.#work = undefined;
    });
    return this.#work;
  }

  async #writing(): Promise<void> {
    if (!this.#file.hasPlace) return;
    // A search of the next process needs no less than one of the last.
    if (this.isSearchable) await this.#search.becomesComplete();
    const before = this.#changes;
    const encoded = await this.#state.encode();
    if (this.#changes !== before) {
      // The parts may be of different states.
      this.writeSoon();
      return;
    }
    this.#changes = 0;
    await this.#state.write(encoded);
  }
}
