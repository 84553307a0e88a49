import { analyse, type Token } from './analyser.ts';
import type { Dictionary, Term } from './dictionary.ts';
import { stopWords } from './stop-words.ts';

/** One thing that the query asks for, and the terms that count as it. */
export interface Concept {
  readonly weight: number;
  readonly terms: readonly { readonly term: Term; readonly weight: number }[];
}

/** A longer query is a pasted text: its first words say enough. */
const mostConcepts = 64;

/** What a query asks for, in the words that the index knows. */
export function plan(query: string, dictionary: Dictionary): Concept[] {
  const tokens: Token[] = [];
  analyse(query.slice(0, 20_000), (token) => {
    if (tokens.length < 4 * mostConcepts) tokens.push(token);
  });
  const telling = tokens.filter(({ word }) => !stopWords.has(word));
  const asked = telling.length > 0 ? telling : tokens;
  const concepts = new Map<string, Concept>();
  const add = (key: string, weight: number, terms: Concept['terms']) => {
    if (terms.length > 0 && !concepts.has(key)) concepts.set(key, { weight, terms });
  };
  for (const [index, token] of asked.entries()) {
    if (concepts.size >= mostConcepts) break;
    const term = dictionary.term(token.term);
    if (term) add(term.text, token.joined ? 0.6 : 1, [{ term, weight: 1 }]);
    else if (!token.joined) add(token.term, 1, standIns(token.word, dictionary));
    const next = asked[index + 1];
    if (next && !token.joined && !next.joined) {
      const both = dictionary.word(token.word + next.word)?.term;
      if (both) add(both.text, 0.6, [{ term: both, weight: 1 }]);
    }
  }
  return [...concepts.values()];
}

/** The known words that an unknown one may be a misspelling, a beginning or a compound of. */
function standIns(word: string, dictionary: Dictionary): Concept['terms'] {
  const terms = new Map<Term, number>();
  const offer = (term: Term, weight: number) => {
    terms.set(term, Math.max(weight, terms.get(term) ?? 0));
  };
  if (word.length >= 4) {
    for (const { word: known, likeness } of dictionary.corrections(word, 3)) {
      offer(known.term, 0.9 * likeness);
    }
  }
  if (word.length >= 2) {
    for (const { word: known, likeness } of dictionary.completions(word, 8)) {
      offer(known.term, 0.8 * likeness);
    }
  }
  for (let at = 3; terms.size === 0 && at <= word.length - 3; at++) {
    const left = dictionary.word(word.slice(0, at));
    const right = dictionary.word(word.slice(at));
    if (left && right) for (const part of [left, right]) offer(part.term, 0.5);
  }
  return [...terms].map(([term, weight]) => ({ term, weight }));
}
