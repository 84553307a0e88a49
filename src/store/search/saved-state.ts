import type { AnyRecordType } from '../../core/record/record-type.ts';
import type { Folder } from '../../git/disk/folder.ts';
import type { DerivedFile } from '../derived/derived-file.ts';
import type { LiveRecords } from '../records/live-records.ts';
import { type EncodedRecords, saveRecords } from '../records/record-writer.ts';
import { recordSections } from '../records/saved-layout.ts';
import { SavedRecords } from '../records/saved-records.ts';
import { inSlices } from '../records/slices.ts';
import type { RecordSearch } from './record-search.ts';
import { SavedSearch } from './terms/saved-search.ts';

/** Size limit of the file in percent of the size of the record files. */
export const maxPercent = 150;
/** A file of at most this size is worth it for any memory, in bytes. */
export const leastLimit = 256 * 1024;

/** The content of the file. */
interface SavedParts {
  /** The number of records. */
  readonly records: number;
  /** Whether it has the search index. */
  readonly searchable: boolean;
}

/** The encoded content of a file; without pieces if too few of its sections fit. */
export interface EncodedState extends SavedParts {
  readonly pieces: readonly Uint8Array[] | undefined;
}

/** The decoded records and the search index of a state, in a derived file. */
export class SavedState {
  readonly #file: DerivedFile;
  readonly #view: LiveRecords;
  readonly #search: RecordSearch;
  readonly #types: readonly AnyRecordType[];
  readonly #folder: Folder | undefined;
  #records: SavedRecords | undefined;
  #saved: SavedParts | undefined;

  /** @param folder the files that the records are compared with; undefined for those of a commit. */
  constructor(
    file: DerivedFile,
    view: LiveRecords,
    search: RecordSearch,
    types: readonly AnyRecordType[],
    folder: Folder | undefined,
  ) {
    this.#file = file;
    this.#view = view;
    this.#search = search;
    this.#types = types;
    this.#folder = folder;
  }

  /** The content of the file as this process has read or written it; undefined without a file. */
  get saved(): SavedParts | undefined {
    return this.#saved;
  }

  /** Reads the file into the view and the search, before the first look; returns whether there is one. */
  load(): boolean {
    const file = this.#file.read();
    const records = file && SavedRecords.read(file, this.#types, this.#folder);
    if (!file || !records) return false;
    const count = records.paths.length;
    const read = () => {
      const index = SavedSearch.read(file, recordSections, count, true);
      if (!index) this.#saved = { records: count, searchable: false };
      return index;
    };
    // The search has to know of changes that the view announces from now on.
    this.#search.adopt({ records, read });
    if (!this.#view.preload(records)) {
      this.#search.adopt(undefined);
      return false;
    }
    this.#records = records;
    this.#saved = { records: count, searchable: file.has(recordSections) };
    return true;
  }

  /** Encodes the records, and the search index if it is complete; they must not change meanwhile. */
  async encode(): Promise<EncodedState> {
    const records = await inSlices(saveRecords(this.#view, this.#types, this.#records));
    const searchable = this.#search.isComplete;
    const index = searchable ? await inSlices(this.#search.saving(records.paths)) : [];
    return {
      records: records.paths.length,
      searchable,
      pieces: this.#fitting(records, index),
    };
  }

  /** Replaces the file. */
  async write({ pieces, ...parts }: EncodedState): Promise<void> {
    this.#saved = parts;
    if (pieces) await this.#file.write(pieces);
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
      const most = Math.min(this.#file.maxBytes, Math.max(leastLimit, (maxPercent / 100) * size));
      if (pieces.reduce((sum, { length }) => sum + length, 0) <= most) return pieces;
    }
    return undefined;
  }
}
