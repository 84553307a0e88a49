import { analyse, stem, type Token } from './analyser.ts';
import type { Dictionary, Term } from './dictionary.ts';
import { stopWords } from './stop-words.ts';

/** One thing that the query asks for, and the terms that count as it. */
export interface Concept {
  readonly weight: number;
  /** Term to how much it counts, at most 1. */
  readonly terms: ReadonlyMap<Term, number>;
}

const corr = 3;
const comp = 8;
const corrWeight = 0.9;
const compWeight = 0.8;
const shortest = 4;
const hardly = 3;
const ratio = 50;
const hardlyWeight = 0.7;
/** How much a whole identifier counts beside its parts. */
const joinedWeight = 0.6;
/** How much two words of the query written as one count as each of them. */
const compoundWeight = 1;

/** A longer query is a pasted text: its first words say enough. */
const mostConcepts = 64;

interface Asked {
  readonly token: Token;
  readonly text: string;
  readonly terms: Map<Term, number>;
}

/** What a query asks for, in the words that the index knows. */
export function plan(query: string, dictionary: Dictionary): Concept[] {
  const tokens: Token[] = [];
  analyse(query.slice(0, 20_000), (token, offset) => {
    if (tokens.length < 4 * mostConcepts)
      tokens.push({ ...token, start: token.start + offset, end: token.end + offset });
  });
  const telling = tokens.filter(({ word }) => !stopWords.has(word));
  const asked: Asked[] = [];
  for (const token of telling.length > 0 ? telling : tokens) {
    if (token.joined) {
      const parts = asked.filter((p) => !p.token.joined && p.token.start >= token.start);
      const word = parts.some((p) => p.text !== p.token.word)
        ? parts.map((p) => p.text).join('')
        : token.word;
      const term = dictionary.term(stem(word)) ?? dictionary.term(token.term);
      if (term) asked.push({ token, text: word, terms: new Map([[term, 1]]) });
    } else asked.push({ token, ...read(token, dictionary) });
  }
  for (const [index, part] of asked.entries()) {
    const next = asked.slice(index + 1).find(({ token }) => !token.joined);
    if (next === undefined || part.token.joined) continue;
    const compound = dictionary.term(stem(part.text + next.text));
    if (compound === undefined) continue;
    part.terms.set(compound, compoundWeight);
    next.terms.set(compound, compoundWeight);
  }
  const concepts = new Map<string, Concept>();
  for (const { token, terms } of asked) {
    if (terms.size === 0 || concepts.has(token.term) || concepts.size >= mostConcepts) continue;
    concepts.set(token.term, { weight: token.joined ? joinedWeight : 1, terms });
  }
  return [...concepts.values()];
}

/** The known words that a word is, or that an unknown one may be a misspelling, a beginning or a compound of. */
function read({ word, term: text }: Token, dictionary: Dictionary): Omit<Asked, 'token'> {
  const terms = new Map<Term, number>();
  let spelt = word;
  const offer = (term: Term, weight: number) => {
    terms.set(term, Math.max(weight, terms.get(term) ?? 0));
  };
  const term = dictionary.term(text);
  if (term) {
    offer(term, 1);
    if (hardly && term.documents.length <= hardly && word.length >= 5) {
      const [first] = dictionary.corrections(word, 1);
      if (first && first.word.term.documents.length >= ratio * term.documents.length)
        offer(first.word.term, hardlyWeight);
    }
    return { text: spelt, terms };
  }
  if (word.length >= shortest) {
    for (const { word: known, likeness } of dictionary.corrections(word, corr)) {
      offer(known.term, corrWeight * likeness);
      if (spelt === word) spelt = known.text;
    }
  }
  if (word.length >= 2) {
    for (const { word: known, likeness } of dictionary.completions(word, comp)) {
      offer(known.term, compWeight * likeness);
    }
  }
  for (let at = 3; terms.size === 0 && at <= word.length - 3; at++) {
    const left = dictionary.word(word.slice(0, at));
    const right = dictionary.word(word.slice(at));
    if (left && right) for (const part of [left, right]) offer(part.term, 0.5);
  }
  return { text: spelt, terms };
}
