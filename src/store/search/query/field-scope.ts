import type { SearchFields, TextField } from '../../../core/record/record-type.ts';
import type { Term } from '../terms/dictionary.ts';
import { documentOf, weightOf } from '../terms/postings.ts';
import { fieldNames, fieldWeights } from '../terms/search-document.ts';
import type { SearchedCollection } from '../terms/searched-collection.ts';

/** The fields that a search looks at: a match in any other field neither finds a document nor counts. */
export class FieldScope {
  /** Whether it has all fields. */
  readonly isWhole: boolean;
  readonly #fields: ReadonlySet<TextField>;

  constructor(fields: readonly TextField[] = fieldNames) {
    this.#fields = new Set(fields);
    this.isWhole = this.#fields.size === fieldNames.length;
  }

  has(field: TextField): boolean {
    return this.#fields.has(field);
  }

  /** The text of a field; empty if the search does not look at the field. */
  text(fields: SearchFields, field: TextField): string {
    return this.has(field) ? (fields[field] ?? '') : '';
  }

  /** The weight of a term in a document. Postings hold the sum of all fields only. */
  weight(term: Term, posting: number, collection: SearchedCollection): number {
    if (this.isWhole) return weightOf(posting);
    const entry = collection.entry(documentOf(posting));
    let weight = 0;
    for (const [order, field] of fieldNames.entries()) {
      if (!this.has(field)) continue;
      for (const word of entry?.words[order] ?? []) {
        if (word.term === term) weight += fieldWeights[field];
      }
    }
    return weight;
  }

  /** The length of a document in words, as the ranking counts it. */
  length(collection: SearchedCollection, number: number): number {
    if (this.isWhole) return collection.lengthOf(number);
    const words = collection.entry(number)?.words ?? [];
    return fieldNames.reduce((sum, field, order) => {
      return this.has(field) ? sum + (words[order]?.length ?? 0) : sum;
    }, 0);
  }
}
