import type { NamedSection } from '../../core/markdown/section-path.ts';
import type { SearchFields } from '../../core/record-type.ts';
import type { SectionFile } from '../records/section-file.ts';
import { allAtOnce } from '../records/slices.ts';
import { Dictionary, type Word } from './dictionary.ts';
import { PackedTexts, packedSections } from './packed-texts.ts';
import { PagedBytes, pagedSections } from './paged-bytes.ts';
import type { TextOutline } from './passage-area.ts';
import { SavedSearch } from './saved-search.ts';
import { type Hit, hashOf, plain } from './search-document.ts';
import type { IndexedDocument, SearchedCollection } from './searched-collection.ts';
import { placeIn } from './stored-words.ts';
import { findByWords, shownScore, type WordSearchOptions } from './word-search.ts';

/** The sections by position; those of the index follow. */
export const storedSections = {
  paths: 0,
  textsAt: packedSections,
  texts: packedSections + 1,
  index: packedSections + 1 + pagedSections,
} as const;

/** A section of a markdown text; the last number is that of its parent, or -1. */
type StoredSection = readonly [section: Omit<NamedSection, 'parent'>, parent: number];
/** A document as it is stored: its fields, the outline of a body that is markdown, and a note. */
export type StoredText = readonly [
  fields: SearchFields,
  outline: { readonly start: number; readonly sections: readonly StoredSection[] } | null,
  note: unknown,
];

const noOutline: TextOutline = { start: 0, sections: [] };

/**
 * A search index in a file, for a process that asks one question: it reads and decodes only the parts
 * that the answer needs. `encodeSearch` writes the file.
 *
 * A method throws an error when it meets damage.
 */
export class StoredIndex implements SearchedCollection {
  readonly dictionary = new Dictionary();
  readonly #saved: SavedSearch;
  readonly #paths: PackedTexts;
  readonly #textsAt: Uint32Array;
  readonly #texts: PagedBytes;
  readonly #entries = new Map<number, StoredEntry>();
  readonly #notes = new WeakMap<SearchFields, unknown>();
  readonly #outlines = new WeakMap<SearchFields, TextOutline>();
  #asked: { readonly name: string; readonly hash: number } = { name: '', hash: hashOf('') };

  private constructor(
    saved: SavedSearch,
    paths: PackedTexts,
    textsAt: Uint32Array,
    texts: PagedBytes,
  ) {
    this.#saved = saved;
    this.#paths = paths;
    this.#textsAt = textsAt;
    this.#texts = texts;
    this.dictionary.adopt(saved);
  }

  /**
   * Reads the index of a file; undefined if it is missing or damaged.
   *
   * @param first the position of its first section.
   */
  static read(file: SectionFile, first: number): StoredIndex | undefined {
    const paths = PackedTexts.read(file, first + storedSections.paths, false);
    const count = paths?.length ?? 0;
    const textsAt = file.integers(first + storedSections.textsAt, count + 1);
    const texts = PagedBytes.read(file, first + storedSections.texts, false);
    const saved = SavedSearch.read(file, first + storedSections.index, count, false);
    if (!paths || !textsAt || !texts || !saved) return undefined;
    return new StoredIndex(saved, paths, textsAt, texts);
  }

  get size(): number {
    return this.#saved.facts.size;
  }

  get capacity(): number {
    return this.#saved.count;
  }

  get averageLength(): number {
    return this.#saved.facts.length / this.size;
  }

  lengthOf(number: number): number {
    return this.#saved.lengthOf(number);
  }

  has(number: number): boolean {
    return this.#saved.isIndexed(number);
  }

  idOf(number: number): string | undefined {
    return this.#paths.at(number);
  }

  isNamed(number: number, name: string): boolean {
    if (this.#asked.name !== name) this.#asked = { name, hash: hashOf(name) };
    if (this.#saved.titleHash(number) !== this.#asked.hash) return false;
    return this.entry(number).name === name;
  }

  entry(number: number): StoredEntry {
    const known = this.#entries.get(number);
    if (known) return known;
    const entry = new StoredEntry(this, number);
    this.#entries.set(number, entry);
    return entry;
  }

  /** The fields of a document; undefined if there is none with this id. */
  fieldsOf(id: string): SearchFields | undefined {
    const number = placeIn(this.#paths, id);
    return number < 0 ? undefined : this.entry(number).fields;
  }

  /**
   * Finds the documents that have words of a query, by their shown score and then by id.
   *
   * A caller that needs only the first hits takes no more: to make a hit takes longer than to rank it.
   *
   * @param leastScore hits with a lower one are left out.
   */
  *search(query: string, options: WordSearchOptions, leastScore: number): Generator<Hit> {
    const outlineOf = (fields: SearchFields) => this.#outlines.get(fields) ?? noOutline;
    const { ranked, hit } = allAtOnce(findByWords(this, query, options, outlineOf));
    const found = ranked
      .map((one) => ({ one, id: one.entry.id, score: shownScore(one) }))
      .filter(({ score }) => score >= leastScore)
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    for (const { one } of found) yield allAtOnce(hit(one));
  }

  /** The note that was stored with a document; undefined if there is none with this id. */
  noteOf(id: string): unknown {
    const number = placeIn(this.#paths, id);
    return number < 0 ? undefined : this.#notes.get(this.entry(number).fields);
  }

  /** Reads the fields of a document. */
  readFields(number: number): SearchFields {
    const text = this.#texts.text(this.#textsAt[number] ?? 0, this.#textsAt[number + 1] ?? 0);
    const [fields, outline, note] = JSON.parse(text) as StoredText;
    this.#notes.set(fields, note);
    if (outline) this.#outlines.set(fields, toOutline(outline));
    return fields;
  }

  /** Reads the terms of the words of a document. */
  readTerms(number: number): readonly Uint32Array[] {
    return this.#saved.termsOf(number);
  }

  /** Reads the words of a document. */
  readWords(number: number): readonly (readonly Word[])[] {
    const fields = this.#saved.wordsOf(number);
    return fields.map((places) => places.flatMap((place) => this.dictionary.wordAt(place) ?? []));
  }
}

/** A document of a stored index. */
class StoredEntry implements IndexedDocument {
  readonly number: number;
  readonly #index: StoredIndex;
  #fields: SearchFields | undefined;
  #terms: readonly Uint32Array[] | undefined;

  constructor(index: StoredIndex, number: number) {
    this.#index = index;
    this.number = number;
  }

  get id(): string {
    return this.#index.idOf(this.number) ?? '';
  }

  get fields(): SearchFields {
    this.#fields ??= this.#index.readFields(this.number);
    return this.#fields;
  }

  get name(): string {
    return plain(this.fields.title);
  }

  get terms(): readonly Uint32Array[] {
    this.#terms ??= this.#index.readTerms(this.number);
    return this.#terms;
  }

  get words(): readonly (readonly Word[])[] {
    return this.#index.readWords(this.number);
  }
}

function toOutline({ start, sections }: NonNullable<StoredText[1]>): TextOutline {
  const all: NamedSection[] = [];
  for (const [section, parent] of sections) {
    const above = all[parent];
    all.push({ ...section, ...(above && { parent: above }) });
  }
  return { start, sections: all };
}
