/** The offset at which the line that holds `at` begins. */
export function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start--;
  return start;
}

/** The offset at which the line that holds `at` ends, before its line end. */
export function lineEnd(text: string, at: number): number {
  const eol = /[\r\n]/g;
  eol.lastIndex = at;
  return eol.exec(text)?.index ?? text.length;
}

/** The offset after the line end (`\n`, `\r\n` or `\r`) at `at`, if there is one. */
export function afterEol(text: string, at: number): number {
  if (text[at] === '\r' && text[at + 1] === '\n') return at + 2;
  return Math.min(at + 1, text.length);
}

/** The offset at which the last line above `end` ends that is not blank; 0 when there is none. */
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

/** How far a line has been read, in characters and in the columns that its tabs make. */
export class LineCursor {
  at = 0;
  /** Where the line ends. */
  stop = 0;
  /** What `ahead` found last. */
  next = 0;
  columns = 0;
  /** Column of `at`; inside a tab that was entered in part, more than its first. */
  #column = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  begin(start: number, stop: number): void {
    this.at = start;
    this.stop = stop;
    this.#column = 0;
  }

  /** The next character that is no white space, and how many columns away it is. */
  ahead(): { readonly next: number; readonly columns: number } {
    let next = this.at;
    let column = this.#column;
    for (; next < this.stop; next++) {
      const width = this.#width(next, column);
      if (width === 0) break;
      column += width;
    }
    this.next = next;
    this.columns = column - this.#column;
    // Called several times for each line: an object for each answer would cost more than the scan.
    return this;
  }

  /** Passes the white space ahead, by what `ahead` said of it, and a marker after it. */
  pass(next: number, columns: number, length: number): void {
    this.at = next + length;
    this.#column += columns + length;
  }

  /** Passes white space up to a number of columns; a tab may be passed in part. */
  advance(columns: number): void {
    const target = this.#column + columns;
    while (this.#column < target && this.at < this.stop) {
      const width = this.#width(this.at, this.#column);
      if (width === 0) return;
      if (this.#column + width <= target) this.at++;
      this.#column = Math.min(this.#column + width, target);
    }
  }

  /** The columns of the white space at an offset; 0 for anything else. */
  #width(at: number, column: number): number {
    const code = this.#text.charCodeAt(at);
    return code === 0x20 ? 1 : code === 0x09 ? 4 - (column % 4) : 0;
  }
}
