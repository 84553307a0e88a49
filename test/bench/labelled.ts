import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SearchDocument } from '../../src/store/search/index.ts';

/** A question, and the relevance of the entries that answer it. */
export interface Question {
  readonly query: string;
  /** Grades by entry id; other entries are not relevant. */
  readonly grades: ReadonlyMap<string, number>;
}

/** Documents with questions about them. */
export interface LabelledSet {
  readonly title: string;
  readonly documents: readonly SearchDocument[];
  readonly questions: readonly Question[];
}

interface EntryLine {
  readonly id: string;
  readonly key: string;
  readonly value: string;
  readonly reason: string;
  readonly context: string;
}

interface QuestionLine {
  readonly query: string;
  readonly rel: { readonly [id: string]: number };
}

/** Reads our own set, and the development sets if they are present. */
export function labelledSets(): LabelledSet[] {
  const own = readSet('Memory of a project’s agents (our own set)', 'test/fixtures/search');
  const shared = ['../shared/search-dev', '../../shared/search-dev'].find((path) =>
    existsSync(path),
  );
  if (shared === undefined) return [own];
  return [
    own,
    readSet('Decisions, with subjects of commits that cite them (peps)', join(shared, 'peps')),
    readSet('Code, with queries of a web search engine (cosqa)', join(shared, 'cosqa')),
  ];
}

function readSet(title: string, folder: string): LabelledSet {
  const documents = lines<EntryLine>(resolve(folder, 'entries.jsonl')).map((entry) => ({
    id: entry.id,
    fields: { title: entry.key, body: entry.value, reason: entry.reason, notes: entry.context },
  }));
  const questions = lines<QuestionLine>(resolve(folder, 'queries.jsonl')).map((question) => ({
    query: question.query,
    grades: new Map(Object.entries(question.rel)),
  }));
  return { title, documents, questions };
}

function lines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line): T => JSON.parse(line));
}

/** Quality of answers; each figure is a mean over the questions, in per cent. */
export class Quality {
  #count = 0;
  readonly #sums = { recall5: 0, recall10: 0, mrr: 0, ndcg10: 0 };

  /** @param found ids, the best first. */
  add({ grades }: Question, found: readonly string[]): void {
    this.#count += 1;
    const relevant = (limit: number) => found.slice(0, limit).filter((id) => grades.has(id)).length;
    this.#sums.recall5 += relevant(5) / grades.size;
    this.#sums.recall10 += relevant(10) / grades.size;
    const rank = found.slice(0, 10).findIndex((id) => grades.has(id));
    if (rank >= 0) this.#sums.mrr += 1 / (rank + 1);
    const ideal = [...grades.values()].sort((a, b) => b - a);
    const gained = found.map((id) => grades.get(id) ?? 0);
    this.#sums.ndcg10 += discounted(gained) / discounted(ideal);
  }

  get(figure: 'recall5' | 'recall10' | 'mrr' | 'ndcg10'): number {
    return (100 * this.#sums[figure]) / this.#count;
  }
}

function discounted(grades: readonly number[]): number {
  return grades.slice(0, 10).reduce((sum, grade, rank) => sum + grade / Math.log2(rank + 2), 0);
}

/** Selects the misspelled words of a question: none, the longest, or all of five or more letters. */
export type Typos = 'none' | 'one' | 'every';

/** Returns the question with one edit in each selected word, never in the first letter. */
export function misspell(query: string, typos: Typos, random: () => number): string {
  if (typos === 'none') return query;
  const words = [...query.matchAll(/\p{L}{3,}/gu)];
  const longest = words.reduce((most, word) => Math.max(most, word[0].length), 0);
  const chosen =
    typos === 'one'
      ? words.filter((word) => word[0].length === longest).slice(0, 1)
      : words.filter((word) => word[0].length >= 5);
  let text = '';
  let end = 0;
  for (const word of chosen) {
    text += query.slice(end, word.index) + edit(word[0], random);
    end = word.index + word[0].length;
  }
  return text + query.slice(end);
}

/** Returns a word with a letter deleted, inserted, replaced or swapped with the next. */
function edit(word: string, random: () => number): string {
  const draw = (below: number) => Math.floor(random() * below);
  const letter = String.fromCharCode(97 + draw(26));
  const at = 1 + draw(word.length - 1);
  const swapAt = 1 + draw(word.length - 2);
  const edits = [
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + letter + word.slice(at),
    word.slice(0, at) + letter + word.slice(at + 1),
    word.slice(0, swapAt) + word[swapAt + 1] + word[swapAt] + word.slice(swapAt + 2),
  ];
  const edited = edits[draw(4)] ?? word;
  // A letter replaced by itself, or swapped with an equal one, is not a typo.
  return edited === word ? edit(word, random) : edited;
}
