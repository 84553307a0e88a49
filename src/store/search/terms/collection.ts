import type { SearchFields } from '../../../core/record/record-type.ts';
import { positionIn } from '../../records/owned-paths.ts';
import type { Steps } from '../../records/slices.ts';
import { analyse } from '../text/analyser.ts';
import { pieces } from '../text/search-pieces.ts';
import { Dictionary, type Word } from './dictionary.ts';
import { DocumentVectors } from './document-vectors.ts';
import { numbersOf } from './number-list.ts';
import { without, withWeight } from './postings.ts';
import type { SavedSearch } from './saved-search.ts';
import { fieldNames, fieldWeights, hashOf, plain, type SearchDocument } from './search-document.ts';
import type { IndexedDocument, SearchedCollection } from './searched-collection.ts';

/** Known words that are added or removed in one step. */
const stepTokens = 4096;
/** Texts of at least this length are analysed once, however many documents share them. */
const sharedLength = 4096;

/** The tokens of a text, and the number of content words among them. */
interface Words {
  readonly words: readonly Word[];
  readonly length: number;
}

const nothing: Words = { words: [], length: 0 };

/** A document that this process has indexed. */
class LiveDocument implements IndexedDocument {
  readonly id: string;
  readonly fields: SearchFields;
  readonly number: number;
  readonly name: string;
  readonly words: readonly (readonly Word[])[];
  #terms: readonly Uint32Array[] | undefined;

  constructor({ id, fields }: SearchDocument, number: number, words: readonly (readonly Word[])[]) {
    this.id = id;
    this.fields = fields;
    this.number = number;
    this.name = plain(fields.title);
    this.words = words;
  }

  get terms(): readonly Uint32Array[] {
    this.#terms ??= this.words.map((words) => numbersOf(words, ({ term }) => term.number));
    return this.#terms;
  }
}

/** A document of a saved index; its fields and words are read when they are first needed. */
class StoredDocument implements IndexedDocument {
  readonly id: string;
  readonly number: number;
  readonly #readFields: () => SearchFields;
  readonly #readWords: () => readonly (readonly Word[])[];
  readonly #readTerms: () => readonly Uint32Array[];
  #fields: SearchFields | undefined;
  #words: readonly (readonly Word[])[] | undefined;
  #terms: readonly Uint32Array[] | undefined;

  constructor(
    id: string,
    number: number,
    fields: () => SearchFields,
    words: () => readonly (readonly Word[])[],
    terms: () => readonly Uint32Array[],
  ) {
    this.id = id;
    this.number = number;
    this.#readFields = fields;
    this.#readWords = words;
    this.#readTerms = terms;
  }

  get fields(): SearchFields {
    this.#fields ??= this.#readFields();
    return this.#fields;
  }

  get name(): string {
    return plain(this.fields.title);
  }

  get words(): readonly (readonly Word[])[] {
    this.#words ??= this.#readWords();
    return this.#words;
  }

  get terms(): readonly Uint32Array[] {
    this.#terms ??= this.#readTerms();
    return this.#terms;
  }
}

/** The inverted index: the documents of each term, and the words of each document. */
export class Collection implements SearchedCollection {
  readonly dictionary = new Dictionary();
  /** The packed vectors of the documents, as far as they were needed. */
  readonly vectors = new DocumentVectors();
  /** The documents by number; the number of a removed document is reused. */
  #entries: (IndexedDocument | undefined)[] = [];
  #ids: (string | undefined)[] = [];
  /** The saved index that the first documents are from, and how to read their fields. */
  #saved: SavedSearch | undefined;
  #fieldsOf: (id: string) => SearchFields | undefined = () => undefined;
  /** Whether the vectors of the saved index were taken. */
  #hasTaken = false;
  /** The name that a search has asked for last, with its hash. */
  #asked: { readonly name: string; readonly hash: number } = { name: '', hash: hashOf('') };
  /** The number of content words of each document, by document number. */
  #lengths: number[] = [];
  /** The hash of the normalised title of each document, by document number. */
  #titles: number[] = [];
  /** The numbers of the documents that this process has indexed, by id. */
  readonly #numbers = new Map<string, number>();
  /** The sorted ids of the saved index, by number. */
  #savedIds: readonly string[] = [];
  readonly #free: number[] = [];
  #size = 0;
  /** The total number of tokens of all documents. */
  tokens = 0;
  #totalLength = 0;
  /** The words of long texts, by text. */
  readonly #shared = new Map<string, Words & { uses: number }>();
  /** Buffer for the words of one piece; it keeps its capacity between pieces. */
  readonly #words: Word[] = [];

  get size(): number {
    return this.#size;
  }

  get averageLength(): number {
    return this.#totalLength / this.size;
  }

  /**
   * Adds the documents of a saved index; the collection must be empty.
   *
   * @param ids the id of each document.
   * @param fieldsOf reads the fields of a document, or undefined if it is gone.
   */
  adopt(
    saved: SavedSearch,
    ids: readonly string[],
    fieldsOf: (id: string) => SearchFields | undefined,
  ): void {
    this.#saved = saved;
    this.#fieldsOf = fieldsOf;
    this.dictionary.adopt(saved);
    this.#ids = ids.slice();
    this.#entries = new Array(ids.length);
    this.#lengths = saved.lengths();
    this.#titles = saved.titleHashes();
    this.#savedIds = ids;
    this.#size = saved.facts.size;
    this.#totalLength = saved.facts.length;
    for (const row of saved.unindexed()) {
      this.#ids[row] = undefined;
      this.#free.push(row);
    }
    this.tokens = saved.facts.tokens;
  }

  /** One more than the highest document number. */
  get capacity(): number {
    return this.#ids.length;
  }

  /** The document with a number; undefined if there is none. */
  entry(number: number): IndexedDocument | undefined {
    const id = this.#ids[number];
    if (id === undefined) return undefined;
    this.#entries[number] ??= new StoredDocument(
      id,
      number,
      () => this.#fieldsOf(id) ?? { title: '' },
      () => this.#savedWords(number),
      () => this.#saved?.termsOf(number) ?? [],
    );
    return this.#entries[number];
  }

  has(number: number): boolean {
    return this.#ids[number] !== undefined;
  }

  /** The id of the document with a number; undefined if there is none. */
  idOf(number: number): string | undefined {
    return this.#ids[number];
  }

  /** The ids of the documents by number; undefined where there is none. */
  get ids(): readonly (string | undefined)[] {
    return this.#ids;
  }

  lengthOf(number: number): number {
    return this.#lengths[number] ?? 0;
  }

  numberOf(id: string): number | undefined {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const number = positionIn(this.#savedIds, id);
    return this.#ids[number] === id ? number : undefined;
  }

  /** Whether the normalised title of a document equals a name. */
  isNamed(number: number, name: string): boolean {
    if (this.#asked.name !== name) this.#asked = { name, hash: hashOf(name) };
    return this.#titles[number] === this.#asked.hash && this.entry(number)?.name === name;
  }

  /** The hash of the normalised title of a document. */
  titleHash(number: number): number {
    return this.#titles[number] ?? 0;
  }

  takeVectors(made: string): void {
    const saved = this.#saved;
    if (!saved || this.#hasTaken) return;
    this.#hasTaken = true;
    const { starts, packed } = saved.vectors(made) ?? {};
    if (!starts || !packed) return;
    const isSame = (row: number) => this.has(row) && !(this.#entries[row] instanceof LiveDocument);
    this.vectors.addAll(starts, packed, isSame);
  }

  termsOf(number: number): readonly Uint32Array[] {
    return this.#entries[number]?.terms ?? this.#saved?.termsOf(number) ?? [];
  }

  /** The words of each field of a document; those of a saved one do not stay in memory. */
  wordsOf(number: number): readonly (readonly Word[])[] {
    return this.#entries[number]?.words ?? this.#savedWords(number);
  }

  #savedWords(number: number): readonly (readonly Word[])[] {
    const fields = this.#saved?.wordsOf(number) ?? [];
    return fields.map((places) => places.flatMap((place) => this.dictionary.wordAt(place) ?? []));
  }

  /** One number for each document, another one when the number of its words changes. */
  *fingerprints(): Generator<number> {
    for (const [number, id] of this.#ids.entries()) {
      if (id !== undefined)
        yield (hashOf(id) + Math.imul(this.#lengths[number] ?? 0, 0x9e37_79b1)) >>> 0;
    }
  }

  /** The documents whose id is accepted. */
  documents(accepts: (id: string) => boolean): IndexedDocument[] {
    const found: IndexedDocument[] = [];
    for (const [number, id] of this.#ids.entries()) {
      const entry = id !== undefined && accepts(id) ? this.entry(number) : undefined;
      if (entry) found.push(entry);
    }
    return found;
  }

  /**
   * Adds a new document with only short texts, as nearly all are; a generator would double the cost.
   *
   * @returns false when a text is long or the document is known; then nothing is added.
   */
  addShort(document: SearchDocument): boolean {
    const { id, fields } = document;
    if (this.numberOf(id) !== undefined) return false;
    for (const field of fieldNames) if ((fields[field]?.length ?? 0) >= sharedLength) return false;
    const number = this.#newNumber();
    const texts: Words[] = [];
    for (const field of fieldNames) {
      texts.push(this.#divide(fields[field] ?? '', number, fieldWeights[field]));
    }
    this.#keep(document, number, texts);
    return true;
  }

  /** Adds a document that is not known. */
  *adding(document: SearchDocument): Steps {
    const number = this.#newNumber();
    const texts: Words[] = [];
    for (const field of fieldNames) {
      texts.push(yield* this.#enter(document.fields[field] ?? '', number, fieldWeights[field]));
    }
    this.#keep(document, number, texts);
  }

  #newNumber(): number {
    const number = this.#free.pop() ?? this.#ids.length;
    this.vectors.delete(number);
    this.#entries[number] = undefined;
    this.#ids[number] = undefined;
    return number;
  }

  #keep({ id, fields }: SearchDocument, number: number, texts: readonly Words[]): void {
    const words: (readonly Word[])[] = [];
    let total = 0;
    for (const text of texts) {
      words.push(text.words);
      total += text.length;
      this.tokens += text.words.length;
    }
    this.#numbers.set(id, number);
    this.#size += 1;
    this.#ids[number] = id;
    const entry = new LiveDocument({ id, fields }, number, words);
    this.#entries[number] = entry;
    this.#titles[number] = hashOf(entry.name);
    this.#lengths[number] = total;
    this.#totalLength += total;
  }

  *removing(id: string): Steps {
    const number = this.numberOf(id);
    const entry = number === undefined ? undefined : this.entry(number);
    if (number === undefined || entry === undefined) return;
    // From here on no search finds it, however long the rest takes.
    const texts = entry.words;
    this.#numbers.delete(id);
    this.#size -= 1;
    this.#ids[number] = undefined;
    this.#entries[number] = undefined;
    this.vectors.delete(number);
    this.#totalLength -= this.#lengths[number] ?? 0;
    let steps = 0;
    for (const [order, words] of texts.entries()) {
      for (const word of words) {
        word.term.postings = without(word.term.postings, number);
        this.dictionary.remove(word);
        if (++steps % stepTokens === 0) yield;
      }
      this.tokens -= words.length;
      if (entry instanceof StoredDocument) continue;
      this.#forget(entry.fields[fieldNames[order] ?? 'title'] ?? '');
    }
    this.#free.push(number);
  }

  /** The words of a text, entered for a document; a long text that is known is not analysed again. */
  *#enter(text: string, number: number, weight: number): Steps<Words> {
    if (text.length < sharedLength) return this.#divide(text, number, weight);
    const known = this.#shared.get(text);
    if (known) {
      known.uses += 1;
      for (let at = 0; at < known.words.length; at++) {
        const word = known.words[at] as Word;
        word.uses += 1;
        word.term.postings = withWeight(word.term.postings, number, weight);
        if (at % stepTokens === stepTokens - 1) yield;
      }
      return known;
    }
    const parts: Words[] = [];
    for (const { start, piece } of pieces(text)) {
      if (start > 0) yield;
      parts.push(this.#divide(piece, number, weight));
    }
    const words = parts.flatMap((part) => part.words);
    const found = { words, length: parts.reduce((sum, part) => sum + part.length, 0) };
    this.#shared.set(text, { ...found, uses: 1 });
    return found;
  }

  /** The words of a short text, or of a piece of a long one, entered for a document. */
  #divide(text: string, number: number, weight: number): Words {
    if (text === '') return nothing;
    const words = this.#words;
    let count = 0;
    let length = 0;
    analyse(text, (token) => {
      const word = this.dictionary.add(token.word, token.term);
      words[count++] = word;
      word.term.postings = withWeight(word.term.postings, number, weight);
      if (!word.stop && (token.kind === 'word' || token.kind === 'letter')) length += 1;
    });
    // A copy, because a list that has grown keeps spare capacity.
    return { words: words.slice(0, count), length };
  }

  #forget(text: string): void {
    const known = text.length < sharedLength ? undefined : this.#shared.get(text);
    if (known && --known.uses === 0) this.#shared.delete(text);
  }
}
