import type { NamedSection } from '../../core/markdown/section-path.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import type { SectionFile } from '../derived/section-file.ts';
import { positionIn } from '../records/owned-paths.ts';
import { recordSections, savedSections } from '../records/saved-layout.ts';
import { allAtOnce } from '../records/slices.ts';
import { findByWords } from './rank/word-search.ts';
import { Collection } from './terms/collection.ts';
import { SavedSearch } from './terms/saved-search.ts';
import type { Hit } from './terms/search-document.ts';
import { type CommonWords, readCommonWords } from './text/common-words.ts';
import type { TextOutline } from './text/passage-area.ts';

/** With more documents that differ from the saved index, and a share of all, it is not used. */
const fewChanges = 128;
const changedShare = 1 / 16;

/** A section of a markdown text; the last number is that of its parent, or -1. */
type StoredSection = readonly [section: Omit<NamedSection, 'parent'>, parent: number];
/** A document as it is stored: its fields, and the outline of a body that is markdown. */
export type StoredText = readonly [
  fields: SearchFields,
  outline: { readonly start: number; readonly sections: readonly StoredSection[] } | null,
];

/** The files of a memory as they are now, with the texts of its records. */
export interface CurrentTexts {
  /** Sorted. */
  readonly paths: readonly string[];
  /** The `statNumbers` of each path. */
  readonly stats: Float64Array;
  /** Whether a file is a record that a search can find. */
  isSearched(at: number): boolean;
  /** @throws Error when it is damaged. */
  textAt(at: number): StoredText | undefined;
}

const noOutline: TextOutline = { start: 0, sections: [] };

/**
 * The search index that servers save, for a process that asks one question: it reads and decodes only
 * the parts that the answer needs, and indexes the records that have changed since it was saved.
 *
 * A method throws an error when it meets damage.
 */
export class StoredIndex {
  readonly #collection = new Collection();
  readonly #current: CurrentTexts;
  readonly #common: CommonWords;
  readonly #outlines = new WeakMap<SearchFields, TextOutline>();

  private constructor(current: CurrentTexts, common: CommonWords) {
    this.#current = current;
    this.#common = common;
  }

  /**
   * Reads the index of a file of saved records; undefined if it is missing or damaged, lacks a record,
   * or is of a state long ago.
   *
   * @param common the file of the words that say little in the project.
   */
  static read(
    file: SectionFile,
    current: CurrentTexts,
    common?: SectionFile,
  ): StoredIndex | undefined {
    const paths = file.json(savedSections.paths) as readonly string[] | undefined;
    const count = paths?.length ?? 0;
    const stats = file.floats(savedSections.stats, statSize * count);
    const saved = SavedSearch.read(file, recordSections, count, false);
    if (!paths || !stats || !saved) return undefined;
    const changes = compare(paths, stats, saved, current);
    if (!changes) return undefined;
    const index = new StoredIndex(current, new Map(readCommonWords(common)?.words));
    const collection = index.#collection;
    collection.adopt(saved, paths, (id) => index.fieldsOf(id));
    for (const id of changes.removed) allAtOnce(collection.removing(id));
    for (const id of changes.added) {
      const fields = index.fieldsOf(id);
      if (fields && !collection.addShort({ id, fields }))
        allAtOnce(collection.adding({ id, fields }));
    }
    return index;
  }

  /** The fields of a document; undefined if there is none with this id. */
  fieldsOf(id: string): SearchFields | undefined {
    const at = positionIn(this.#current.paths, id);
    const text = this.#current.paths[at] === id ? this.#current.textAt(at) : undefined;
    if (!text) return undefined;
    const [fields, outline] = text;
    if (outline) this.#outlines.set(fields, toOutline(outline));
    return fields;
  }

  /**
   * Finds the documents that are surely about a text, the surest first.
   *
   * A caller that needs only the first hits takes no more: to make a hit takes longer than to rank it.
   */
  *search(text: string): Generator<Hit> {
    const outlineOf = (fields: SearchFields) => this.#outlines.get(fields) ?? noOutline;
    const { found } = allAtOnce(
      findByWords(this.#collection, text, { sure: 1, common: this.#common }, outlineOf),
    );
    for (const { hit } of found) yield allAtOnce(hit());
  }
}

/** Compares a saved index with the present records; undefined if too many differ, or one is left out. */
function compare(
  paths: readonly string[],
  stats: Float64Array,
  saved: SavedSearch,
  current: CurrentTexts,
): { readonly removed: readonly string[]; readonly added: readonly string[] } | undefined {
  const removed: string[] = [];
  const added: string[] = [];
  let row = 0;
  const passRow = () => {
    if (saved.isIndexed(row)) removed.push(paths[row] ?? '');
    row += 1;
  };
  // An iterator would take several times as long in a short process.
  for (let at = 0; at < current.paths.length; at++) {
    const path = current.paths[at] ?? '';
    if (paths[row] !== path) while (row < paths.length && (paths[row] ?? '') < path) passRow();
    const isSearched = current.isSearched(at);
    if (paths[row] !== path) {
      if (isSearched) added.push(path);
      continue;
    }
    if (saved.isLeftOut(row)) return undefined;
    if (isSearched === saved.isIndexed(row) && hasSameStat(stats, row, current.stats, at)) {
      row += 1;
      continue;
    }
    passRow();
    if (isSearched) added.push(path);
  }
  while (row < paths.length) passRow();
  const most = fewChanges + changedShare * paths.length;
  return removed.length + added.length > most ? undefined : { removed, added };
}

/** Whether two stats are equal; one that was not settled is not saved, and equals no other. */
function hasSameStat(some: Float64Array, at: number, others: Float64Array, place: number): boolean {
  for (let i = 0; i < statSize; i++) {
    if (some[statSize * at + i] !== others[statSize * place + i]) return false;
  }
  return true;
}

function toOutline({ start, sections }: NonNullable<StoredText[1]>): TextOutline {
  const all: NamedSection[] = [];
  for (const [section, parent] of sections) {
    const above = all[parent];
    all.push({ ...section, ...(above && { parent: above }) });
  }
  return { start, sections: all };
}
