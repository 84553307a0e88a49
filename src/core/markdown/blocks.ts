import { afterEol, LineCursor, lineEnd } from './line.ts';
import { definitionsEnd, htmlStart, isTableHead } from './syntax.ts';

/** A block of a markdown text and its place in it. */
export interface Block {
  readonly kind:
    | 'heading'
    | 'paragraph'
    /** Indented code. */
    | 'code'
    /** Fenced code. */
    | 'fence'
    | 'html'
    | 'break'
    | 'table'
    | 'list'
    | 'item'
    | 'quote';
  /** Offset of its first character, the indentation left out. */
  start: number;
  /** Offset after its last line, the line's end left out. */
  end: number;
  /** The items of a list; what an item or a quote holds. */
  readonly children: Block[];
  /** Of a heading: 1 to 6. */
  level?: number;
  /** Of a heading: its text, with the inline markdown as it stands. */
  text?: string;
  /** Of a list: `-`, `*`, `+`, or for an ordered one the `.` or `)` after the numbers. */
  marker?: string;
  /** Of a paragraph: where each of its lines begins and ends. */
  readonly lines: [start: number, end: number][];
  /** Of fenced code or HTML whose end was not found: the line that ends it. */
  closer?: string;
}

interface Container {
  readonly block: Block;
  /** The list of an item. */
  readonly list?: Block;
  /** How many columns the content of an item is indented. */
  readonly indent: number;
}

/** Deeper nesting is read as text: each level of it costs time in every line. */
const maxDepth = 16;
/** Shared by the blocks that have none: most blocks of a long text are leaves. */
const none: never[] = [];
/** Columns of indentation that make code. */
const codeIndent = 4;

/**
 * The blocks of a markdown text, by CommonMark 0.31 with the tables of GFM, in linear time.
 *
 * Every offset is one into `text`. Inline markdown is not looked at.
 *
 * @param from where to begin, for a text with a byte order mark or front matter.
 */
export function parseBlocks(text: string, from = 0): Block[] {
  const parser = new BlockParser(text);
  for (let start = from; start < text.length; ) {
    const stop = lineEnd(text, start);
    parser.line(start, stop);
    start = afterEol(text, stop);
  }
  return parser.root;
}

class BlockParser {
  readonly root: Block[] = [];
  readonly #text: string;
  readonly #line: LineCursor;
  readonly #open: Container[] = [];
  /** The block in the innermost container that the next line may go on with. */
  #leaf: Block | undefined;
  /** What ends the HTML block that is open; undefined where a blank line does. */
  #htmlEnd: RegExp | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#line = new LineCursor(text);
  }

  line(start: number, stop: number): void {
    this.#line.begin(start, stop);
    let depth = 0;
    for (const container of this.#open) {
      if (!this.#continues(container)) break;
      depth++;
    }
    if (depth === this.#open.length && this.#leaf && this.#isVerbatim(this.#leaf)) return;
    depth = this.#openBlocks(depth);
    if (depth < 0) return;
    const { next } = this.#line.ahead();
    if (next === stop) this.#blank(depth);
    else this.#prose(depth, next);
  }

  /** Whether the line goes on with a container; its marker or indentation is then consumed. */
  #continues({ block, indent }: Container): boolean {
    const { next, columns } = this.#line.ahead();
    if (block.kind === 'quote') return this.#enterQuote(next, columns);
    if (next === this.#line.stop) return block.children.length > 0;
    if (columns < indent) return false;
    this.#line.advance(indent);
    return true;
  }

  /** Whether the line belongs to the code or HTML that is open. */
  #isVerbatim(leaf: Block): boolean {
    const { next, columns } = this.#line.ahead();
    const blank = next === this.#line.stop;
    if (leaf.kind === 'html') {
      if (!this.#htmlEnd && blank) return false;
      this.#reach(leaf);
      if (this.#htmlEnd?.test(this.#text.slice(this.#line.at, this.#line.stop))) this.#finish(leaf);
      return true;
    }
    if (leaf.kind === 'code') {
      if (columns < codeIndent && !blank) this.#leaf = undefined;
      else if (!blank) this.#reach(leaf);
      return this.#leaf !== undefined;
    }
    if (leaf.kind !== 'fence' || leaf.closer === undefined) return false;
    this.#reach(leaf);
    const fence = /^(?:`+|~+)(?=[ \t]*$)/.exec(this.#text.slice(next, this.#line.stop))?.[0];
    if (fence?.startsWith(leaf.closer) && columns < codeIndent) this.#finish(leaf);
    return true;
  }

  #finish(leaf: Block): void {
    delete leaf.closer;
    this.#leaf = undefined;
  }

  /** Opens what begins in the line. Returns the new depth, or -1 when the line is used up. */
  #openBlocks(from: number): number {
    for (let depth = from; ; ) {
      const { next, columns } = this.#line.ahead();
      if (next === this.#line.stop) return depth;
      // Also true of a paragraph that this line could only go on with lazily.
      const interrupts = this.#leaf?.kind === 'paragraph';
      if (columns >= codeIndent) {
        if (interrupts) return depth;
        this.#leaf = this.#add('code', depth, next);
        return -1;
      }
      if (this.#openLeaf(depth, next, interrupts)) return -1;
      if (depth >= maxDepth) return depth;
      if (this.#enterQuote(next, columns)) {
        const block = this.#add('quote', depth, next);
        this.#open.push({ block, indent: 0 });
      } else if (!this.#openItem(depth, next, columns)) return depth;
      depth++;
    }
  }

  #openLeaf(depth: number, next: number, interrupts: boolean): boolean {
    const rest = this.#text.slice(next, this.#line.stop);
    const paragraph = interrupts && depth === this.#open.length ? this.#leaf : undefined;
    switch (rest[0]) {
      case '#': {
        const hashes = /^#{1,6}(?=[ \t]|$)/.exec(rest)?.[0];
        if (hashes === undefined) return false;
        const heading = this.#add('heading', depth, next);
        heading.level = hashes.length;
        heading.text = withoutClosing(rest.slice(hashes.length).trim());
        return true;
      }
      case '`':
      case '~': {
        const fence = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(rest)?.[0];
        if (fence === undefined) return false;
        this.#leaf = this.#add('fence', depth, next);
        this.#leaf.closer = fence;
        return true;
      }
      case '<': {
        const html = htmlStart(rest, interrupts);
        if (!html) return false;
        this.#leaf = this.#add('html', depth, next);
        this.#htmlEnd = html.end;
        if (html.closer !== undefined) this.#leaf.closer = html.closer;
        if (html.end?.test(rest)) this.#finish(this.#leaf);
        return true;
      }
      case '=':
      case '-':
        if (paragraph && /^(?:=+|-+)[ \t]*$/.test(rest) && this.#underline(paragraph, rest))
          return true;
    }
    if (/^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(rest)) {
      this.#add('break', depth, next);
      return true;
    }
    return paragraph !== undefined && this.#openTable(paragraph, depth, rest);
  }

  /** Turns a paragraph into the heading that its underline makes it, unless it only defines links. */
  #underline(paragraph: Block, rest: string): boolean {
    const lines = paragraph.lines.map((place) => this.#text.slice(...place)).join('\n');
    const end = definitionsEnd(lines);
    if (end === lines.length) return false;
    const heading = this.#add('heading', this.#open.length, paragraph.start);
    heading.level = rest[0] === '=' ? 1 : 2;
    heading.text = lines.slice(end).trim();
    const siblings = this.#siblings(this.#open.length);
    siblings.splice(-2, 1);
    return true;
  }

  #openTable(paragraph: Block, depth: number, rest: string): boolean {
    const head = paragraph.lines.at(-1);
    if (!head || !isTableHead(this.#text.slice(...head), rest)) return false;
    paragraph.lines.pop();
    const last = paragraph.lines.at(-1);
    if (last) paragraph.end = last[1];
    else this.#siblings(depth).pop();
    this.#leaf = this.#add('table', depth, head[0]);
    return true;
  }

  #openItem(depth: number, next: number, columns: number): boolean {
    const rest = this.#text.slice(next, this.#line.stop);
    const bullet = /^(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/.exec(rest);
    if (!bullet) return false;
    const length = bullet[0].length;
    const empty = /^[ \t]*$/.test(rest.slice(length));
    if (this.#leaf?.kind === 'paragraph' && depth === this.#open.length) {
      if (empty || (bullet[1] !== undefined && Number(bullet[1]) !== 1)) return false;
    }
    const marker = bullet[0].slice(-1);
    this.#line.pass(next, columns, length);
    const gap = this.#line.ahead().columns;
    const padding = empty || gap > codeIndent ? 1 : gap;
    this.#line.advance(padding);
    this.#close(depth);
    const siblings = this.#siblings(depth);
    let list = siblings.at(-1);
    if (list?.kind !== 'list' || list.marker !== marker) {
      list = newBlock('list', next, this.#line.stop);
      list.marker = marker;
      siblings.push(list);
    }
    const block = newBlock('item', next, this.#line.stop);
    list.children.push(block);
    this.#open.push({ block, list, indent: columns + length + padding });
    this.#reach(block);
    return true;
  }

  #enterQuote(next: number, columns: number): boolean {
    if (columns >= codeIndent || this.#text[next] !== '>' || next === this.#line.stop) return false;
    this.#line.pass(next, columns, 1);
    this.#line.advance(1);
    return true;
  }

  #blank(depth: number): void {
    if (depth < this.#open.length || this.#leaf?.kind !== 'code') this.#close(depth);
    // A line of quote markers alone still belongs to the quote.
    if (this.#text[this.#line.at - 1] === '>') this.#reach();
  }

  #prose(depth: number, next: number): void {
    const goesOn =
      this.#leaf?.kind === 'paragraph' ||
      (this.#leaf?.kind === 'table' && depth === this.#open.length);
    if (!goesOn) this.#leaf = this.#add('paragraph', depth, next);
    if (!this.#leaf) return;
    this.#leaf.lines.push([next, this.#line.stop]);
    this.#reach(this.#leaf);
  }

  #add(kind: Block['kind'], depth: number, start: number): Block {
    this.#close(depth);
    const block = newBlock(kind, start, this.#line.stop);
    this.#siblings(depth).push(block);
    this.#reach(block);
    return block;
  }

  #close(depth: number): void {
    this.#open.length = depth;
    this.#leaf = undefined;
  }

  #siblings(depth: number): Block[] {
    return this.#open[depth - 1]?.block.children ?? this.root;
  }

  /** Notes that the line belongs to a block, and with it to every container that is open. */
  #reach(block?: Block): void {
    if (block) block.end = this.#line.stop;
    for (const container of this.#open) {
      container.block.end = this.#line.stop;
      if (container.list) container.list.end = this.#line.stop;
    }
  }
}

function newBlock(kind: Block['kind'], start: number, end: number): Block {
  const holdsBlocks = kind === 'list' || kind === 'item' || kind === 'quote';
  const holdsLines = kind === 'paragraph' || kind === 'table';
  return {
    kind,
    start,
    end,
    children: holdsBlocks ? [] : none,
    lines: holdsLines ? [] : none,
  };
}

/** The text of a heading without the hashes that may close it. */
function withoutClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === '#') end--;
  if (end > 0 && !' \t'.includes(text[end - 1] ?? '')) return text;
  return text.slice(0, end).trim();
}
