import { type Block, parseBlocks } from '../../core/markdown/blocks.ts';
import { contentStart } from '../../core/markdown/sections.ts';

/** A piece of a markdown text: a heading with its section, an item of a list, a row of a table, or prose. */
export interface Piece {
  readonly kind: 'section' | 'item' | 'prose';
  /** Its first line without list marker or hashes: the text of a heading or of an item. */
  readonly label: string;
  /** Identifies the piece among its siblings: its label, with a number if an earlier one has it. */
  readonly key: string;
  /** The blank lines above it. */
  readonly gap: readonly string[];
  /** Its lines above the first piece in it. */
  readonly head: readonly string[];
  /** The items and the prose in it. */
  readonly body: readonly Piece[];
  /** The sections in it. */
  readonly sections: readonly Piece[];
  /** All its lines. */
  readonly lines: readonly string[];
  /** All its lines as one text. */
  readonly text: string;
}

/** A markdown text as a tree. */
export interface Outline extends Pick<Piece, 'body' | 'sections'> {
  /** The blank lines at the end. */
  readonly gap: readonly string[];
}

/** Reads markdown as pieces; each line belongs to a piece or to the gap above one. */
export function readOutline(lines: readonly string[]): Outline {
  return new OutlineReader(lines).outline();
}

/** The lines of a block, or of an item or a row of one. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Undefined for front matter. */
  readonly block: Block | undefined;
  readonly kind: Piece['kind'];
}

class OutlineReader {
  readonly #lines: readonly string[];
  readonly #text: string;
  /** The offset of each line. */
  readonly #starts: number[] = [];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#text = lines.join('\n');
    let at = 0;
    for (const line of lines) {
      this.#starts.push(at);
      at += line.length + 1;
    }
  }

  outline(): Outline {
    const from = contentStart(this.#text);
    const spans = this.#spans(parseBlocks(this.#text, from), 0);
    if (from > 1)
      spans.unshift({ from: 0, to: this.#lineAt(from - 1) + 1, block: undefined, kind: 'prose' });
    const end = this.#lines.length;
    return { ...this.#content(spans, 0, end), gap: this.#lines.slice(this.#trimmed(end, 0)) };
  }

  /** The pieces under a heading, or at the beginning of the text. */
  #content(spans: readonly Span[], from: number, to: number): Pick<Piece, 'body' | 'sections'> {
    const first = spans.findIndex(({ kind }) => kind === 'section');
    const body = first < 0 ? spans : spans.slice(0, first);
    const above = body.at(-1)?.to ?? from;
    const sections = first < 0 ? [] : this.#sections(spans.slice(first), above, to);
    return { body: this.#body(body, from), sections };
  }

  /** @param above first line of the gap above the first section. */
  #sections(spans: readonly Span[], above: number, to: number): Piece[] {
    const pieces: Piece[] = [];
    let end = above;
    for (let next = 0; next < spans.length; ) {
      const heading = spans[next];
      const inner = next + 1;
      const level = heading?.block?.level ?? 0;
      next = inner;
      while (next < spans.length && (spans[next]?.block?.level ?? 7) > level) next++;
      if (!heading) break;
      const below = spans[next]?.from ?? to;
      const place = this.#place(end, heading.from, this.#trimmed(below, heading.to));
      const label = `${level} ${heading.block?.text ?? ''}`;
      const head = this.#lines.slice(heading.from, heading.to);
      const content = this.#content(spans.slice(inner, next), heading.to, below);
      const key = `section ${label}`;
      pieces.push({ kind: 'section', label, key, head, ...content, ...place });
      end = heading.from + place.lines.length;
    }
    return numbered(pieces);
  }

  /** @param above first line of the gap above the first piece. */
  #body(spans: readonly Span[], above: number): Piece[] {
    let end = above;
    const pieces = spans.map(({ from, to, block, kind }) => {
      const place = this.#place(end, from, to);
      end = to;
      const inner = kind === 'item' && block ? this.#spans(innerBlocks(block), from + 1) : [];
      const head = this.#lines.slice(from, this.#trimmed(inner[0]?.from ?? to, from));
      const trimmed = head.map((line) => line.trim()).join('\n');
      const label =
        block?.kind === 'item' ? trimmed.replace(/^(?:[-+*]|\d+[.)])\s+/, '') : place.text;
      const body = this.#body(inner, from + head.length);
      return { kind, label, key: `${block?.kind} ${label}`, head, body, sections: [], ...place };
    });
    return numbered(pieces);
  }

  /** The spans of some blocks below a line; lists and tables are divided into items and rows. */
  #spans(blocks: readonly Block[], below: number): Span[] {
    const spans: Span[] = [];
    const add = (block: Block, kind: Piece['kind'], first: number, to: number) => {
      // Blocks that begin on the same line, as in `- - a`, are one span.
      const from = Math.max(first, spans.at(-1)?.to ?? below);
      if (from < to) spans.push({ from, to, block, kind });
    };
    for (const block of blocks) {
      for (const part of block.kind === 'list' ? block.children : [block]) {
        const from = this.#lineAt(part.start);
        // An open code fence includes the blank lines below it.
        const to = this.#trimmed(this.#lineAt(part.end) + 1, from);
        if (part.kind === 'table') {
          add(part, 'prose', from, from + 2);
          for (let row = from + 2; row < to; row++) add(part, 'item', row, row + 1);
        } else {
          const kinds = { heading: 'section', item: 'item' } as const;
          add(
            part,
            part.kind === 'heading' || part.kind === 'item' ? kinds[part.kind] : 'prose',
            from,
            to,
          );
        }
      }
    }
    return spans;
  }

  #place(above: number, from: number, to: number): Pick<Piece, 'gap' | 'lines' | 'text'> {
    const lines = this.#lines.slice(from, to);
    return { gap: this.#lines.slice(above, from), lines, text: lines.join('\n') };
  }

  /** The end of the last line above `to` that is not blank, or `from`. */
  #trimmed(to: number, from: number): number {
    let end = to;
    while (end > from && /^[ \t\r]*$/.test(this.#lines[end - 1] ?? '')) end--;
    return end;
  }

  /** The number of the line that holds an offset. */
  #lineAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The blocks of an item below its first paragraph; empty if it begins with another block. */
function innerBlocks({ children }: Block): readonly Block[] {
  return children[0]?.kind === 'paragraph' ? children.slice(1) : [];
}

/** Makes keys unique by a number. */
export function numbered(pieces: readonly Piece[]): Piece[] {
  const seen = new Map<string, number>();
  return pieces.map((piece) => {
    const count = (seen.get(piece.key) ?? 0) + 1;
    seen.set(piece.key, count);
    return count === 1 ? piece : { ...piece, key: `${piece.key}\0${count}` };
  });
}
