/** Longest title that is shown, in UTF-16 code units. */
const longestTitle = 200;

/** A title as it is shown; a longer text than fits a line is cut. */
export function shownTitle(title: string): string {
  if (title.length <= longestTitle) return title;
  return `${title.slice(0, longestTitle).replace(/[\ud800-\udbff]$/, '')}…`;
}
