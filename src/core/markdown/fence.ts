/**
 * Writes a text as a block of code, whose fence is longer than any in the text.
 *
 * @param text ends in a line end.
 */
export function fenced(text: string, language: string): string {
  let fence = '```';
  for (const [run] of text.matchAll(/`{3,}/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence}${language}\n${text}${fence}`;
}
