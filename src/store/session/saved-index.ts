import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { Folder } from '../../git/disk/folder.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { type EncodedRecords, saveRecords } from '../records/record-writer.ts';
import { maxSavedBytes, recordSections, savedContent } from '../records/saved-layout.ts';
import { SavedRecords } from '../records/saved-records.ts';
import { inSlices } from '../records/slices.ts';
import type { RecordSearch } from '../search/record-search.ts';
import { SavedSearch } from '../search/terms/saved-search.ts';
import { DerivedFile } from './derived-file.ts';

/** Size limit of the file in percent of the size of the record files. */
export const maxPercent = 150;
/** A file of at most this size is worth it for any memory, in bytes. */
export const leastLimit = 64 * 1024;
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
  readonly #types: readonly AnyRecordType[];
  readonly #file: DerivedFile;
  /** The files that the records are compared with. */
  readonly #folder: Folder;
  readonly #least: number;
  #records: SavedRecords | undefined;
  /** The number of records in the file, and whether it has the search index; undefined without a file. */
  #written: { readonly records: number; readonly searchable: boolean } | undefined;
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
    this.#types = types;
    this.#file = new DerivedFile(memory, files, 'records', savedContent, maxSavedBytes);
    this.#folder = new Folder(files, memory.path);
    this.#least = least;
    memory.view.onChange(() => {
      this.#changes += 1;
    });
  }

  /** Reads the file before the first look at the disk. */
  load(): void {
    const file = this.#least === Number.POSITIVE_INFINITY ? undefined : this.#file.read();
    const records = file && SavedRecords.read(file, this.#types, this.#folder);
    if (!file || !records) return;
    const read = () => {
      const saved = SavedSearch.read(file, recordSections, records.paths.length, true);
      if (!saved) this.#written = { records: records.paths.length, searchable: false };
      return saved;
    };
    // The search has to know of changes that the view announces from now on.
    this.#search.adopt({ records, read });
    if (!this.#memory.view.preload(records)) {
      this.#search.adopt(undefined);
      return;
    }
    this.#records = records;
    this.#written = { records: records.paths.length, searchable: file.has(recordSections) };
    this.#changes = 0;
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
    return this.#written?.searchable === true;
  }

  /** Writes the file soon, if that is worth it. */
  writeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#isStale()
      ? setTimeout(() => void this.#write().catch(() => undefined), delay).unref()
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
    if (!this.#written) return this.#memory.view.count >= this.#least;
    if (this.#hasManyChanges) return true;
    return this.#search.isComplete && !this.#written.searchable;
  }

  get #hasManyChanges(): boolean {
    return this.#changes > fewChanges + changedShare * (this.#written?.records ?? 0);
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
    const { view } = this.#memory;
    const records = await inSlices(saveRecords(view, this.#types, this.#records));
    const searchable = this.#search.isComplete;
    const index = searchable ? await inSlices(this.#search.saving(records.paths)) : [];
    if (this.#changes !== before) {
      // The parts may be of different states.
      this.writeSoon();
      return;
    }
    const pieces = this.#fitting(records, index);
    this.#written = { records: records.paths.length, searchable };
    this.#changes = 0;
    if (!pieces) return;
    await this.#file.write(pieces);
  }

  /**
   * The file with as many of the sections as fit; undefined if too few do.
   *
   * Only the values are left out where records are very short: without the index, a search has to read all.
   */
  #fitting(
    { sections: records, bytes, counted }: EncodedRecords,
    index: readonly Uint8Array[],
  ): Uint8Array[] | undefined {
    const withoutValues = records.map((section, at) =>
      at < recordSections - 2 ? section : new Uint8Array(),
    );
    const forms = [
      { sections: [...records, ...index], size: bytes },
      { sections: [...withoutValues, ...index], size: counted },
      { sections: withoutValues, size: counted },
    ];
    for (const { sections, size } of forms) {
      const pieces = this.#file.pieces(sections);
      const most = Math.min(maxSavedBytes, Math.max(leastLimit, (maxPercent / 100) * size));
      if (pieces.reduce((sum, { length }) => sum + length, 0) <= most) return pieces;
    }
    return undefined;
  }
}
