import type { Embedder } from '../../core/declarations/embedder.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { monotonicTime } from '../../core/timing/clock.ts';
import { checksum } from '../../core/values/checksum.ts';
import { DerivedFile } from '../derived/derived-file.ts';
import { derivedPlace } from '../records/derived-place.ts';
import type { LiveRecords } from '../records/live-records.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { Slice } from '../records/slices.ts';
import type { CompareMeaning, MeaningSignal } from '../search/meaning/meaning.ts';
import { cosine, VectorCache } from '../search/meaning/vector-cache.ts';
import type { IndexedDocument } from '../search/terms/searched-collection.ts';
import { hasSecret } from '../secrets/scan.ts';

/** The weight of the signal. */
const modelWeight = 0.3;
/** A larger record has no vector, in bytes. */
const maxRecordBytes = 1024 * 1024;
/** The part of a record that the model gets, in characters. */
const maxText = 6000;
/** Texts of one request. */
const batch = 16;
/** How long a search waits for the vector of its question, in milliseconds. */
const maxWaitMs = 200;
/** How long the model is left alone after a failure, in milliseconds: doubled by each further one. */
const firstPause = 30_000;
const longestPause = 30 * 60_000;
/** Number of questions whose vectors are kept. */
const maxQuestions = 200;
/** The file is written after this many new vectors, and at the end. */
const writeEvery = 512;

/** The version of the format of the file, and the size from which it is not read, in bytes. */
const version = 1;
const maxFileBytes = 64 * 1024 * 1024;

/**
 * Ranks by similarity of meaning, as the embedding model of the user sees it.
 *
 * The vectors of records are made in the background and kept by content. A search waits a moment for
 * the vector of its question; without it, the ranking is that of the other signals.
 */
export class EmbeddingSignal implements MeaningSignal {
  readonly name = 'model';
  readonly weight = modelWeight;
  readonly #embedder: Embedder;
  readonly #file: DerivedFile;
  readonly #records: LiveRecords;
  readonly #delay: number;
  readonly #warn: (message: string) => void;
  readonly #cache = new VectorCache();
  /** The key of each record's text; undefined for a text that the model does not get. */
  readonly #keys = new Map<string, string | undefined>();
  /** Records whose keys are not known, or not up to date. */
  readonly #changed = new Set<string>();
  readonly #documents = new WeakMap<IndexedDocument, string>();
  readonly #questions = new Map<string, Float32Array | undefined>();
  readonly #end = new AbortController();
  /** Whether the last question was answered in time. */
  #isFast = true;
  #pause = firstPause;
  #pausedUntil = 0;
  #hasWarned = false;
  #mayReset = true;
  #unwritten = 0;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;

  /** @param delay how long after a search the vectors of changed records are made, in milliseconds. */
  constructor(
    embedder: Embedder,
    file: DerivedFile,
    records: LiveRecords,
    delay: number,
    warn: (message: string) => void,
  ) {
    this.#embedder = embedder;
    this.#file = file;
    this.#records = records;
    this.#delay = delay;
    this.#warn = warn;
    const saved = file.read();
    if (saved) this.#cache.load(saved);
    records.onChange((path) => this.#changed.add(path));
    for (const path of records.paths()) this.#changed.add(path);
  }

  async prepare(query: string): Promise<CompareMeaning | undefined> {
    this.#workSoon();
    if (this.#cache.size === 0 || this.#end.signal.aborted) return undefined;
    const asked = await this.#ofQuestion(query.slice(0, maxText));
    if (asked?.length !== this.#cache.dimensions) return undefined;
    const similarity = (document: IndexedDocument) => {
      const kept = this.#cache.get(this.#keyOf(document));
      return kept && cosine(asked, kept);
    };
    return function* compare(_query, documents) {
      const found: (number | undefined)[] = [];
      for (const document of documents) {
        found.push(similarity(document));
        yield;
      }
      return found;
    };
  }

  /** Stops the work and writes the vectors. */
  async close(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#work;
    await this.#write().catch(() => undefined);
  }

  /** The vector of a question; undefined if it is not there in time. */
  async #ofQuestion(query: string): Promise<Float32Array | undefined> {
    if (this.#questions.has(query)) return this.#questions.get(query);
    if (this.#isPaused || hasSecret(query)) return undefined;
    const start = monotonicTime();
    const answer = this.#embedder.embed([query], this.#end.signal).then(
      ([vector]) => {
        this.#isFast = monotonicTime() - start < maxWaitMs;
        this.#questions.set(query, vector);
        const [oldest] = this.#questions.keys();
        if (this.#questions.size > maxQuestions) this.#questions.delete(oldest ?? '');
        return vector;
      },
      (error: unknown) => {
        this.#fail(error);
        return undefined;
      },
    );
    // A slow model delays one search, and no further one until it is fast again.
    return this.#isFast
      ? soon(answer, maxWaitMs, () => {
          this.#isFast = false;
        })
      : undefined;
  }

  get #isPaused(): boolean {
    return monotonicTime() < this.#pausedUntil;
  }

  #fail(error: unknown): void {
    if (this.#end.signal.aborted) return;
    this.#pausedUntil = monotonicTime() + this.#pause;
    this.#pause = Math.min(2 * this.#pause, longestPause);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const problem = error instanceof Error ? error.message : String(error);
    this.#warn(`${problem} The search works without it.`);
  }

  #workSoon(): void {
    if (this.#timer || this.#work || this.#changed.size === 0 || this.#end.signal.aborted) return;
    if (this.#isPaused) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#work = this.#update()
        .catch((error) => this.#fail(error))
        .finally(() => {
          this.#work = undefined;
        });
    }, this.#delay).unref();
  }

  /** Makes the vectors of the records that changed. */
  async #update(): Promise<void> {
    const slice = new Slice();
    const texts = new Map<string, string>();
    const paths: string[] = [];
    for (const path of this.#changed) {
      if (this.#end.signal.aborted) return;
      if (slice.isOver) await slice.turn();
      const record = this.#records.known(path, maxRecordBytes);
      const fields = record?.value && record.type.search(record.value);
      const text = fields && textOf(fields);
      const mayLeave = fields && text && !hasSecret(text, fields);
      const key = mayLeave ? checksum(text) : undefined;
      this.#keys.set(path, key);
      // A change from here on is announced again.
      this.#changed.delete(path);
      paths.push(path);
      if (key !== undefined && text && !this.#cache.has(key) && !this.#cache.isFull) {
        texts.set(key, text);
      }
      if (texts.size < batch) continue;
      await this.#embed(texts, paths);
      texts.clear();
      paths.length = 0;
    }
    if (texts.size > 0) await this.#embed(texts, paths);
    await this.#write();
  }

  /** Makes the vectors of some texts; the paths count as changed again if that fails. */
  async #embed(texts: ReadonlyMap<string, string>, paths: readonly string[]): Promise<void> {
    const asked = [...texts.values()];
    const vectors = await this.#embedder.embed(asked, this.#end.signal).catch((error) => {
      for (const path of paths) this.#changed.add(path);
      throw error;
    });
    const length = vectors[0]?.length;
    if (this.#cache.size > 0 && length !== undefined && length !== this.#cache.dimensions) {
      if (!this.#mayReset)
        throw new Error('The embedding model changes the length of its vectors.');
      // The model of an earlier process had another length.
      this.#cache.keep(new Set());
      this.#questions.clear();
      for (const path of this.#records.paths()) this.#changed.add(path);
    }
    this.#mayReset = false;
    for (const [at, key] of [...texts.keys()].entries()) {
      const vector = vectors[at];
      if (vector) this.#cache.add(key, vector);
    }
    this.#pause = firstPause;
    this.#unwritten += texts.size;
    if (this.#unwritten >= writeEvery) await this.#write();
  }

  async #write(): Promise<void> {
    if (this.#unwritten === 0) return;
    this.#unwritten = 0;
    const isKnown = (path: string) => !this.#changed.has(path);
    const keys = [...this.#keys].flatMap(([path, key]) => (key && isKnown(path) ? [key] : []));
    // While keys are unknown, each vector may be in use.
    if (this.#changed.size === 0) this.#cache.keep(new Set(keys));
    await this.#file.write(this.#file.pieces(this.#cache.encode()));
  }

  #keyOf(document: IndexedDocument): string {
    const known = this.#documents.get(document);
    if (known !== undefined) return known;
    const key = checksum(textOf(document.fields));
    this.#documents.set(document, key);
    return key;
  }
}

function textOf({ title, body = '', reason = '', notes = '' }: SearchFields): string {
  return [title, body, reason, notes]
    .filter((part) => part !== '')
    .join('\n\n')
    .slice(0, maxText);
}

/** Waits for an answer, at most `time` milliseconds. */
async function soon<T>(
  answer: Promise<T>,
  time: number,
  onLate: () => void,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      onLate();
      resolve(undefined);
    }, time);
  });
  try {
    return await Promise.race([answer, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** The file of the vectors that a model has made. */
export function embeddingFile(memory: MemoryFolder, model: string): DerivedFile {
  return new DerivedFile(() => derivedPlace(memory), 'vectors', [version, model], maxFileBytes);
}
