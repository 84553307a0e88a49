/** Returns the offset at which the line that contains `at` begins. */
export function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start--;
  return start;
}

/** Returns the offset at which the line that contains `at` ends, before its line end. */
export function lineEnd(text: string, at: number): number {
  const eol = /[\r\n]/g;
  eol.lastIndex = at;
  return eol.exec(text)?.index ?? text.length;
}

/** Returns the offset after the line end (`\n`, `\r\n` or `\r`) at `at`, if there is one. */
export function afterEol(text: string, at: number): number {
  if (text[at] === '\r' && text[at + 1] === '\n') return at + 2;
  return Math.min(at + 1, text.length);
}

/** Returns the offset at which the last line before `end` ends that is not blank, or 0. */
export function trimmedEnd(text: string, end: number): number {
  let at = end;
  while (at > 0 && ' \t\r\n'.includes(text.charAt(at - 1))) at--;
  return at === 0 ? 0 : lineEnd(text, at);
}

/** Returns a text without the blank lines at both ends; its first line keeps its indentation. */
export function withoutBlankEnds(text: string): string {
  const first = text.search(/[^ \t\r\n]/);
  return first < 0 ? '' : text.slice(lineStart(text, first), trimmedEnd(text, text.length));
}

/** Returns the number of the line that contains `at`; the first one has number 1. */
export function lineNumber(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
