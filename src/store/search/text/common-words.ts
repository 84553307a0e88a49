import type { SectionFile } from '../../derived/section-file.ts';
import type { Steps } from '../../records/slices.ts';
import { analyse } from './analyser.ts';
import { stopWords } from './stop-words.ts';

/** The weights of the words that the texts of a project use often, by their terms; 1 is that of any other word. */
export type CommonWords = ReadonlyMap<string, number>;

/** With fewer texts, no word is common; a few more are taken for this number of them. */
const leastTexts = 20;
const fewTexts = 30;
/** A word whose rarity is this share of the highest one, or more, counts fully. */
const rare = 0.5;
const mostWords = 2_000;

/**
 * Finds the words that say little in a project, because many of its paragraphs have them.
 *
 * A memory weighs its own words by how often it has them; a young one does not yet repeat those of its project.
 */
export function* commonWords(texts: readonly string[]): Steps<[term: string, weight: number][]> {
  if (texts.length < leastTexts) return [];
  const holders = new Map<string, number>();
  for (const text of texts) {
    const terms = new Set<string>();
    analyse(text, ({ kind, word, term }) => {
      if (kind !== 'letter' && kind !== 'whole' && !stopWords.has(word)) terms.add(term);
    });
    for (const term of terms) holders.set(term, (holders.get(term) ?? 0) + 1);
    yield;
  }
  const all = Math.max(fewTexts, texts.length);
  const most = rarity(all, 1);
  const weighted = [...holders].flatMap(([term, count]): [string, number][] => {
    const weight = rarity(all, count) / most / rare;
    return weight < 1 ? [[term, Number(weight.toFixed(3))]] : [];
  });
  return weighted.sort(([, one], [, other]) => one - other).slice(0, mostWords);
}

function rarity(all: number, holders: number): number {
  return Math.log(1 + Math.max(0, all - holders + 0.5) / (holders + 0.5));
}

/** The content of a file of common words, and the commit whose texts they are from. */
export interface StoredCommonWords {
  readonly head: string;
  readonly words: readonly (readonly [term: string, weight: number])[];
}

/** Reads a file of common words; undefined if it is missing or damaged. */
export function readCommonWords(file: SectionFile | undefined): StoredCommonWords | undefined {
  // The checksum proves that this program has written the section.
  return file?.json(0) as StoredCommonWords | undefined;
}
