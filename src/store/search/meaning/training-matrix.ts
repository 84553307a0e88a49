import type { Steps } from '../../records/slices.ts';
import type { Collection } from '../terms/collection.ts';
import { documentOf, type Postings, weightOf, withWeight } from '../terms/postings.ts';
import { hashOf } from '../terms/search-document.ts';
import { analyse } from '../text/analyser.ts';
import { stopWords } from '../text/stop-words.ts';

/** A text of the project that is not a record: a commit message, a paragraph of its docs. */
export interface ProjectText {
  /** Not the id of another text. */
  readonly id: string;
  readonly text: string;
}

/** A term in fewer texts than this has no neighbours to learn from. */
const rarest = 2;
/** A term in more than this share of the texts says little about any of them. */
const commonest = 1 / 4;
/** Limit of texts; of more of them, the ones with the least hashes are used. */
const maxTexts = 20_000;
/** Postings read in one step. */
const stepPostings = 16_384;

/** The texts that contain a term, and how much the term says about each of them. */
export interface TermRow {
  readonly text: string;
  /** The inverse document frequency. */
  readonly rarity: number;
  readonly texts: Uint32Array;
  readonly values: Float32Array;
}

export interface TrainingMatrix {
  /** Sorted by term. */
  readonly rows: readonly TermRow[];
  /** The number of texts. */
  readonly texts: number;
}

/**
 * Builds the matrix of terms and texts; each text is a vector of length 1.
 *
 * It depends on the content and ids of the texts alone, not on the order in which they were indexed.
 */
export function* trainingMatrix(
  { ids, dictionary }: Collection,
  others: readonly ProjectText[],
): Steps<TrainingMatrix> {
  const columns = columnsOf([...ids, ...others.map(({ id }) => id)]);
  yield;
  const added = yield* postingsOf(others, ids.length);
  const rows: TermRow[] = [];
  const squares = new Float64Array(columns.count);
  let done = 0;
  const enter = (text: string, postings: Postings, more: Postings) => {
    done += postings.length + more.length;
    const row = stopWords.has(text) ? undefined : toRow(text, postings, more, columns);
    if (!row) return;
    for (let at = 0; at < row.texts.length; at++) {
      const column = row.texts[at] as number;
      squares[column] = (squares[column] as number) + (row.values[at] as number) ** 2;
    }
    rows.push(row);
  };
  for (const { text, postings } of dictionary.terms()) {
    enter(text, postings, added.get(text) ?? []);
    added.delete(text);
    if (done < stepPostings) continue;
    done = 0;
    yield;
  }
  for (const [text, postings] of added) enter(text, [], postings);
  yield;
  rows.sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const { texts, values } of rows) {
    for (let at = 0; at < texts.length; at++) {
      const square = squares[texts[at] as number] as number;
      values[at] = (values[at] as number) / Math.sqrt(square);
    }
  }
  return { rows, texts: columns.count };
}

interface Columns {
  /** The column of each text by its number; -1 for a text that is not used. */
  readonly of: Int32Array;
  readonly count: number;
}

function columnsOf(ids: readonly (string | undefined)[]): Columns {
  const used: { number: number; id: string; hash: number }[] = [];
  for (const [number, id] of ids.entries()) {
    if (id !== undefined) used.push({ number, id, hash: hashOf(id) });
  }
  used.sort((a, b) => a.hash - b.hash || (a.id < b.id ? -1 : 1));
  const of = new Int32Array(ids.length).fill(-1);
  const count = Math.min(used.length, maxTexts);
  for (let column = 0; column < count; column++) of[used[column]?.number ?? 0] = column;
  return { of, count };
}

/** The postings of the terms of texts that are not in the index. */
function* postingsOf(others: readonly ProjectText[], first: number): Steps<Map<string, Postings>> {
  const found = new Map<string, Postings>();
  for (const [at, { text }] of others.entries()) {
    analyse(text, ({ word, term }) => {
      if (!stopWords.has(word)) found.set(term, withWeight(found.get(term) ?? [], first + at, 1));
    });
    yield;
  }
  return found;
}

/** The row of a term; undefined for one that is too rare or too common. */
function toRow(
  text: string,
  postings: Postings,
  more: Postings,
  { of, count }: Columns,
): TermRow | undefined {
  const entries = new Float64Array(postings.length + more.length);
  let frequency = 0;
  for (const list of [postings, more]) {
    for (const posting of list) {
      const column = of[documentOf(posting)] ?? -1;
      // The weight is below 2^10, so that the order is that of the columns.
      if (column >= 0) entries[frequency++] = 1024 * column + weightOf(posting);
    }
  }
  if (frequency < rarest || frequency > commonest * count) return undefined;
  const sorted = entries.subarray(0, frequency).sort();
  const rarity = Math.log(count / frequency);
  const texts = new Uint32Array(frequency);
  const values = new Float32Array(frequency);
  for (let at = 0; at < frequency; at++) {
    const entry = sorted[at] as number;
    texts[at] = Math.floor(entry / 1024);
    values[at] = rarity * (1 + Math.log(Math.max(1, entry % 1024)));
  }
  return { text, rarity, texts, values };
}
