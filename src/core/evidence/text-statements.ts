/** Limit of the text that is searched, in characters. */
const maxText = 256 * 1024;
const units = 'day|week|month|year|quarter|sprint|monday|tuesday|wednesday|thursday|friday';
const relative = new RegExp(
  `(?<![\\w-])(?:yesterday|tomorrow|(?:last|next)\\s(?:${units}|saturday|sunday)|(?:\\d{1,3}|a|two|three|few)\\s(?:days?|weeks?|months?|years?)\\sago)(?![\\w-])`,
  'i',
);

/** Each of those dates contains one of these; most texts contain none. */
const parts = ['yesterday', 'tomorrow', 'last', 'next', 'ago'];

/** The first date in a text that depends on the day of reading; quoted text and code do not count. */
export function relativeDate(text: string): string | undefined {
  const start = text.slice(0, maxText);
  const lower = start.toLowerCase();
  if (!parts.some((part) => lower.includes(part)) || !relative.test(start)) return undefined;
  const plain = start.replace(/`[^`\n]*`|"[^"\n]*"|“[^”\n]*”/g, ' ');
  return relative.exec(plain)?.[0];
}

/** A title in the form in which two of them are compared. */
function plainTitle(title: string): string {
  return title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The title with which the statement of a decision begins, as `plainTitle` writes it. */
export function decisionTitle(text: string): string {
  const end = text.indexOf(': ');
  return plainTitle(end < 0 ? text : text.slice(0, end));
}
