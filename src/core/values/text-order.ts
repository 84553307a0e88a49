/** Compares two texts by their UTF-16 code units, for `sort`. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
