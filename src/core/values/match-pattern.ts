/** Returns an expression with one group that finds any of some words, the longest first. */
export function matchPattern(matches: readonly string[]): RegExp | undefined {
  const words = matches.filter((match) => match !== '').sort((a, b) => b.length - a.length);
  if (words.length === 0) return undefined;
  const escaped = words.map((word) => {
    // With the flag `u`, a backslash before any other character is an error.
    const text = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    // A number in another number did not match.
    return /^\d+$/.test(word) ? `(?<!\\d)${text}(?!\\d)` : text;
  });
  return new RegExp(`(${escaped.join('|')})`, 'giu');
}
