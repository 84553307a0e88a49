import type { Steps } from '../../records/slices.ts';
import { ByteList } from './byte-list.ts';
import type { Collection } from './collection.ts';
import type { Term, Word } from './dictionary.ts';
import { vectorBytes } from './document-vectors.ts';
import { documentOf, type Postings, weightIn, withWeight } from './postings.ts';
import { indexed, indexSections, type Labels, leftOut, perDocument } from './saved-search.ts';
import { fieldNames, fieldWeights } from './search-document.ts';

/** The state of the row of a record. */
export type RowState = { readonly labels: Labels } | 'left out' | undefined;

/**
 * Encodes an index in steps.
 *
 * @param paths the record of each row.
 * @param stateOf says whether the record at a path is indexed.
 * @param made identifies how the vectors are made; undefined for none.
 */
export function* saveSearch(
  collection: Collection,
  paths: readonly string[],
  stateOf: (path: string) => RowState,
  made: string | undefined,
): Steps<Uint8Array[]> {
  const words = [...collection.dictionary.words()].sort((a, b) => (a.text < b.text ? -1 : 1));
  const terms = [...new Set(words.map(({ term }) => term))];
  terms.sort((a, b) => (a.text < b.text ? -1 : 1));
  yield;
  const placeOf = new Map<Word, number>(words.map((word, place) => [word, place]));
  const termPlace = new Map<Term, number>(terms.map((term, place) => [term, place]));
  const lists: Postings[] = terms.map(() => []);
  const labels = new Map<string, number>();
  const stream = new ByteList();
  const wordsAt = new Uint32Array(paths.length + 1);
  const documents = new Uint32Array(perDocument * paths.length);
  const vectorsAt = new Uint32Array(paths.length + 1);
  const vectors: Uint8Array[] = [];
  let length = 0;
  let size = 0;
  for (const [row, path] of paths.entries()) {
    yield;
    wordsAt[row] = stream.length;
    vectorsAt[row + 1] = vectorsAt[row] ?? 0;
    const state = stateOf(path);
    if (state === 'left out') documents[perDocument * row] = leftOut;
    const number = collection.numberOf(path);
    if (state === undefined || state === 'left out' || number === undefined) continue;
    for (const [order, found] of collection.wordsOf(number).entries()) {
      stream.add(found.length);
      const weight = fieldWeights[fieldNames[order] ?? 'notes'];
      for (const word of found) {
        stream.add(placeOf.get(word) ?? 0);
        const place = termPlace.get(word.term) ?? 0;
        lists[place] = withWeight(lists[place] ?? [], row, weight);
      }
    }
    const text = JSON.stringify([state.labels.type, state.labels.category]);
    const label = labels.get(text) ?? labels.size;
    labels.set(text, label);
    const words = collection.lengthOf(number);
    documents.set([indexed, words, collection.titleHash(number), label], perDocument * row);
    const packed = made === undefined ? undefined : collection.vectors.of(number);
    if (packed) {
      // A copy, because the block changes between two steps.
      vectors.push(packed.slice());
      vectorsAt[row + 1] = (vectorsAt[row] ?? 0) + packed.length / vectorBytes;
    }
    length += words;
    size += 1;
  }
  wordsAt[paths.length] = stream.length;
  const postings = new ByteList();
  const postingsAt = new Uint32Array(terms.length + 1);
  for (const [place, list] of lists.entries()) {
    if (place % 256 === 0) yield;
    postingsAt[place] = postings.length;
    let last = -1;
    for (const posting of list) {
      postings.add(documentOf(posting) - last - 1);
      postings.add(weightIn(posting));
      last = documentOf(posting);
    }
  }
  postingsAt[terms.length] = postings.length;
  return indexSections({
    facts: {
      labels: [...labels.keys()].map(toLabels),
      tokens: collection.tokens,
      length,
      size,
      ...(made !== undefined && { made }),
    },
    words: words.map(({ text }) => text),
    terms: terms.map(({ text }) => text),
    termOf: Uint32Array.from(words, ({ term }) => termPlace.get(term) ?? 0),
    uses: Uint32Array.from(words, ({ uses }) => uses),
    postingsAt,
    postings: postings.bytes,
    wordsAt,
    tokens: stream.bytes,
    documents,
    vectorsAt,
    vectors: Buffer.concat(vectors),
  });
}

function toLabels(json: string): Labels {
  const [type, category]: unknown[] = JSON.parse(json);
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof category === 'string' && { category }),
  };
}
