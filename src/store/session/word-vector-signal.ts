import { DerivedFile } from '../derived/derived-file.ts';
import { bytesOf, isSorted, jsonBytes, type SectionFile } from '../derived/section-file.ts';
import { projectTexts } from '../history/project-texts.ts';
import { derivedPlace } from '../records/derived-place.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { inSlices, type Steps } from '../records/slices.ts';
import { LearnedMeaning, learnedSignal } from '../search/meaning/learned-meaning.ts';
import type { CompareMeaning, MeaningSignal } from '../search/meaning/meaning.ts';
import type { ProjectText } from '../search/meaning/training-matrix.ts';
import { dimensions, WordVectors } from '../search/meaning/word-vectors.ts';
import type { RecordSearch } from '../search/record-search.ts';

/** With fewer records, hits are too few to be in a wrong order. */
const leastRecords = 20;
/** With fewer records, words are learned also from other texts of the project, up to this many texts. */
const enoughRecords = 500;
const enoughTexts = 2000;
/** Vectors are learned again after more changed records than this, and a share of the records. */
const fewChanges = 20;
const changedShare = 1 / 10;

/** The version of the format of the file, and the size from which it is not read, in bytes. */
const version = 1;
export const maxWordBytes = 64 * 1024 * 1024;

/** The sections of the file by position. */
const sections = { terms: 0, rarities: 1, vectors: 2, fingerprints: 3 } as const;

/** The vectors, and the records they were learned from. */
interface Learned {
  /** The fingerprints of the records. */
  readonly from: ReadonlySet<number>;
  /** Undefined if the texts were too few. */
  readonly words: WordVectors | undefined;
}

/**
 * Ranks by similarity of meaning, learned from the words of the memory and of its project alone.
 *
 * Nothing waits for it: a search uses the vectors that there are, and has new ones learned in the
 * background. They are kept in a derived file for the next process.
 */
export class WordVectorSignal implements MeaningSignal {
  readonly name = learnedSignal.name;
  readonly weight = learnedSignal.weight;
  readonly #search: RecordSearch;
  readonly #file: DerivedFile;
  readonly #texts: (limit: number) => Steps<ProjectText[]> | undefined;
  readonly #delay: number;
  #learned: Learned | undefined;
  #meaning: LearnedMeaning | undefined;
  /** The version of the file that was read or written last. */
  #version: string | undefined;
  /** The state of the index at the last check. */
  #checked: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #closed = false;

  /**
   * @param texts reads texts of the project that are not records.
   * @param delay how long after a search the vectors are checked, in milliseconds.
   */
  constructor(
    search: RecordSearch,
    file: DerivedFile,
    texts: (limit: number) => Steps<ProjectText[]> | undefined,
    delay: number,
  ) {
    this.#search = search;
    this.#file = file;
    this.#texts = texts;
    this.#delay = delay;
    this.#load();
  }

  /** Opens the vectors of a memory, which are also learned from other texts of its project. */
  static open(memory: MemoryFolder, search: RecordSearch, delay: number): WordVectorSignal {
    const texts = (limit: number) => {
      const repository = memory.code();
      return repository && projectTexts(repository, memory.folderInCode, limit);
    };
    return new WordVectorSignal(search, wordVectorFile(memory), texts, delay);
  }

  async prepare(): Promise<CompareMeaning | undefined> {
    this.#checkSoon();
    const meaning = this.#meaning;
    return meaning && ((query, documents) => meaning.compare(query, documents));
  }

  /** Returns the vectors that fit the memory as it is now; learns them if others would. */
  async current(): Promise<WordVectors | undefined> {
    await this.#update();
    return this.#learned?.words;
  }

  /** Stops learning. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  #checkSoon(): void {
    if (this.#timer || this.#closed || this.#checked === this.#search.changes) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#update();
    }, this.#delay).unref();
  }

  #update(): Promise<void> {
    // Without new vectors the ranking stays as it is.
    this.#work ??= this.#check()
      .catch(() => undefined)
      .finally(() => {
        this.#work = undefined;
      });
    return this.#work;
  }

  /** Learns new vectors if enough records have changed. */
  async #check(): Promise<void> {
    const { changes } = this.#search;
    if (this.#checked === changes) return;
    if (!this.#search.isComplete) {
      // A large memory is still being indexed.
      this.#checkSoon();
      return;
    }
    this.#checked = changes;
    const fingerprints = await inSlices(this.#search.fingerprints(), this.#pause);
    // Another process may have learned them already.
    if (this.#version !== this.#file.version()) this.#load();
    if (!isStale(this.#learned, fingerprints)) return;
    const limit = fingerprints.length < enoughRecords ? enoughTexts - fingerprints.length : 0;
    const enough = fingerprints.length >= leastRecords;
    const reading = enough && limit > 0 ? this.#texts(limit) : undefined;
    const texts = reading ? await inSlices(reading, this.#pause) : [];
    const words = enough ? await inSlices(this.#search.learning(texts), this.#pause) : undefined;
    this.#use({ from: new Set(fingerprints), words });
    if (words) await this.#write(words, fingerprints);
  }

  readonly #pause = () => {
    if (this.#closed) throw new Error('closed');
  };

  #use(learned: Learned): void {
    this.#learned = learned;
    this.#meaning = learned.words && new LearnedMeaning(learned.words);
  }

  #load(): void {
    const version = this.#file.version();
    const file = version === undefined ? undefined : this.#file.read();
    this.#version = version;
    const words = file && readVectors(file);
    const from = file?.section(sections.fingerprints);
    if (!words || !from || from.length % 4 !== 0) return;
    const numbers = new Uint32Array(from.buffer, from.byteOffset, from.length / 4);
    this.#use({ from: new Set(numbers), words });
  }

  async #write(words: WordVectors, fingerprints: Uint32Array): Promise<void> {
    const found = [
      jsonBytes(words.terms),
      bytesOf(words.rarities),
      bytesOf(words.vectors),
      bytesOf(fingerprints),
    ];
    await this.#file.write(this.#file.pieces(found));
    this.#version = this.#file.version();
  }
}

/** The file of the vectors. */
function wordVectorFile(memory: MemoryFolder): DerivedFile {
  return new DerivedFile(() => derivedPlace(memory), 'words', [version, dimensions], maxWordBytes);
}

/** Whether enough records have changed for other vectors. */
function isStale(learned: Learned | undefined, now: Uint32Array): boolean {
  if (!learned) return true;
  const added = now.reduce((sum, number) => sum + (learned.from.has(number) ? 0 : 1), 0);
  const removed = learned.from.size - (now.length - added);
  return Math.max(added, removed) > fewChanges + changedShare * learned.from.size;
}

/** Reads the vectors of a file; undefined if they are damaged. */
function readVectors(file: SectionFile): WordVectors | undefined {
  const terms = file.json(sections.terms);
  const rarities = file.section(sections.rarities);
  const vectors = file.section(sections.vectors);
  if (!isSorted(terms) || !rarities || !vectors) return undefined;
  if (rarities.length !== 4 * terms.length) return undefined;
  if (vectors.length !== dimensions * terms.length) return undefined;
  return new WordVectors(
    terms,
    new Float32Array(rarities.buffer, rarities.byteOffset, terms.length),
    new Int8Array(vectors.buffer, vectors.byteOffset, vectors.length),
  );
}
