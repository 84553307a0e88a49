/** The name of a list that is most like a word; undefined where none is like it. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const wanted = plain(word);
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const other = plain(name);
    // The distance is at least the difference of the lengths.
    if (Math.abs(other.length - wanted.length) >= least) continue;
    const distance = editDistance(wanted, other);
    if (distance >= least) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

/** `featureSlug`, `feature-slug` and `feature_slug` are one name to a reader. */
function plain(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** The number of characters to insert, remove or replace: the Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, char] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (char === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/**
 * Returns titles in the order of their closeness to a text, the closest first.
 *
 * A title is close if it has the pairs of letters of the text; of two that have them, the shorter one.
 */
export function nearestNames<T>(
  text: string,
  all: readonly T[],
  titleOf: (one: T) => string,
  least = 0,
): T[] {
  const wanted = pairsOf(text);
  return all
    .map((one) => ({ one, closeness: closeness(wanted, pairsOf(titleOf(one))) }))
    .filter((rated) => rated.closeness >= least)
    .sort((a, b) => b.closeness - a.closeness)
    .map(({ one }) => one);
}

/** The share of the wanted pairs that a title has, and the share that both have in common: 0 to 1. */
function closeness(wanted: ReadonlySet<string>, title: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of wanted) if (title.has(pair)) shared += 1;
  if (shared === 0) return 0;
  return (0.75 * shared) / wanted.size + (0.5 * shared) / (wanted.size + title.size);
}

/** Pairs of adjacent letters and digits of a text, of any script; its ends count as letters. */
function pairsOf(text: string): ReadonlySet<string> {
  const words = text
    .slice(0, 300)
    .normalize()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  const letters = [...` ${words} `];
  return new Set(letters.slice(1).map((letter, at) => `${letters[at]}${letter}`));
}
