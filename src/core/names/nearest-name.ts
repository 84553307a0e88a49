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
