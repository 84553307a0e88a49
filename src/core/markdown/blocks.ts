import MarkdownIt, { type StateBlock, type Token } from 'markdown-it';
import { boundedParser, ruleNamed } from './parser.ts';

/** A block of a markdown text, with its offsets. */
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
  /** Offset of its first character after the indentation. */
  readonly start: number;
  /** Offset after its last line, without the line end. */
  end: number;
  /** The items of a list; the blocks in an item or a quote. Empty below the levels that are kept. */
  readonly children: readonly Block[];
  /** Of a heading: 1 to 6. */
  level?: number;
  /** Of a heading or a paragraph: its lines, with inline markdown as written. */
  text?: string;
  /** Of a heading or a paragraph: true if it begins with link reference definitions. */
  hasDefinition?: boolean;
  /** Of a list: `-`, `*` or `+`; of an ordered list the `.` or `)` after the numbers. */
  marker?: string;
  /** Of fenced code or HTML without an end: the line that would end it. */
  closer?: string;
}

/** A block to which children can be added. */
interface Container extends Block {
  children: Block[];
}

/** The kinds of blocks, by the type of the token that opens them. */
const kinds: ReadonlyMap<string, Block['kind']> = new Map([
  ['heading_open', 'heading'],
  ['paragraph_open', 'paragraph'],
  ['code_block', 'code'],
  ['fence', 'fence'],
  ['html_block', 'html'],
  ['hr', 'break'],
  ['table', 'table'],
  ['bullet_list_open', 'list'],
  ['ordered_list_open', 'list'],
  ['list_item_open', 'item'],
  ['blockquote_open', 'quote'],
]);
/** Types of the tokens that close a block without children. */
const leafEnds: ReadonlySet<string> = new Set(['heading_close', 'paragraph_close']);
/** Shared by all blocks without children, which are most blocks of a long text. */
const none: Block[] = [];
/** The start and end of the HTML blocks 2 to 5 of CommonMark 4.6, which may contain blank lines. */
const htmlDelimiters: readonly (readonly [begin: RegExp, closer: string])[] = [
  [/^<!--/, '-->'],
  [/^<\?/, '?>'],
  [/^<!\[CDATA\[/, ']]>'],
  [/^<![a-z]/i, '>'],
];

const definition = ruleNamed('reference');
const paragraph = ruleNamed('paragraph');
const underlinedHeading = ruleNamed('lheading');
const parser = boundedParser(true, (state, start, stop) => {
  state.push('table', 'table', 0).map = [start, stop];
  state.line = stop;
  return true;
});
parser.block.ruler.before('table', 'begin', (state, line) => {
  if (state instanceof BlockReader) state.begin(line);
  return false;
});
// Most items of a long list are one line of words: no other rule has to try it.
parser.block.ruler.before('table', 'words', (state, line, end) => {
  return isLineOfWords(state, line, end) && paragraph(state, line, line + 1, false);
});
// CommonMark reads a definition from the paragraph that it begins, which can have lazy lines.
// The rule of markdown-it makes it a block of its own, which a lazy line would not continue.
parser.block.ruler.disable('reference');
parser.block.ruler.at('lheading', (state, start, end) => {
  const line = definitionsEnd(state, start, end);
  if (state instanceof BlockReader) state.hasDefinition = line > start;
  // A line of `=` directly below the definitions is text: they leave it nothing to underline.
  const isText = line === start || (line < end && !isInterrupted(state, line, end));
  return isText && underlinedHeading(state, line, end, false);
});
// A definition counts as one whatever its link is.
parser.normalizeLink = String;
parser.validateLink = () => true;

/**
 * Returns the blocks of a markdown text: CommonMark with the tables of GFM, in linear time.
 *
 * All offsets refer to `text`. Inline markdown is not parsed.
 *
 * @param from offset after a byte order mark and front matter.
 * @param levels levels of blocks to keep: with 2, the items of a list but not the blocks in them.
 */
export function parseBlocks(text: string, from = 0, levels = Number.POSITIVE_INFINITY): Block[] {
  const reader = new BlockReader(text, from, levels);
  parser.block.tokenize(reader, 0, reader.lineMax);
  return reader.finish();
}

/** Returns the line after the link reference definitions that begin at `start`. */
function definitionsEnd(state: StateBlock, start: number, end: number): number {
  const { line: before } = state;
  let line = start;
  while (line < end && !state.isEmpty(line) && definition(state, line, end, false)) {
    line = state.line;
  }
  state.line = before;
  return line;
}

/** Reports whether a line is certainly a paragraph of its own. */
function isLineOfWords(state: StateBlock, line: number, end: number): boolean {
  const { blkIndent, bMarks, tShift, sCount } = state;
  if ((sCount[line] ?? 0) - blkIndent >= 4) return false;
  const lower = state.src.charCodeAt((bMarks[line] ?? 0) + (tShift[line] ?? 0)) | 0x20;
  if (lower < 0x61 || lower > 0x7a) return false;
  if (line + 1 >= end) return true;
  // A line of the same block could underline it, or make it the head of a table.
  return (
    state.isEmpty(line + 1) ||
    ((sCount[line + 1] ?? 0) < blkIndent && isInterrupted(state, line + 1, end))
  );
}

/** Reports whether a line ends the paragraph above it. */
function isInterrupted(state: StateBlock, line: number, end: number): boolean {
  if (state.isEmpty(line)) return true;
  const { parentType } = state;
  state.parentType = 'paragraph';
  const rules = state.md.block.ruler.getRules('paragraph');
  const isEnd = rules.some((rule) => rule(state, line, end, true));
  state.parentType = parentType;
  return isEnd;
}

/** Converts the tokens that the rules of markdown-it push into blocks, and keeps no tokens. */
class BlockReader extends MarkdownIt.StateBlock {
  readonly #text: string;
  readonly #from: number;
  readonly #levels: number;
  readonly #hasCrlf: boolean;
  readonly #root: Block[] = [];
  /** The containers that are open, from the outermost to the innermost. */
  readonly #open: Container[] = [];
  /** Whether the block that the rules are trying begins with link reference definitions. */
  hasDefinition = false;
  /** Offset of the block that the rules are trying. */
  #start = 0;
  /** End of the block that was read last. */
  #end = 0;
  /** Takes the fields of every block without children that is not kept. */
  readonly #dropped = newBlock('paragraph', 0, 0);
  /** The block pushed last. Its rule sets the fields of the token until the next push. */
  #last: Block | undefined;
  // Reused for every block, because creating tokens would take most of the time.
  readonly #token: Token = new MarkdownIt.Token('', '', 0);
  readonly #inline: Token = new MarkdownIt.Token('inline', '', 0);

  constructor(text: string, from: number, levels: number) {
    // Every line ends with `\n`, and every character keeps its offset.
    const lines = text.slice(from).replace(/\r\n/g, ' \n').replace(/\r/g, '\n');
    super(lines.endsWith('\n') ? lines : `${lines}\n`, parser, {}, []);
    this.#text = text;
    this.#from = from;
    this.#levels = levels;
    this.#hasCrlf = text.includes('\r\n');
  }

  begin(line: number): void {
    this.hasDefinition = false;
    this.#start = this.#from + (this.bMarks[line] ?? 0) + (this.tShift[line] ?? 0);
  }

  override push(type: string, tag: string, nesting: -1 | 0 | 1): Token {
    if (type === 'inline' || type === 'reference_definition') return this.#inline;
    this.#complete();
    this.level += nesting;
    const token = this.#token;
    token.type = type;
    token.tag = tag;
    token.content = '';
    const kind = kinds.get(type);
    if (kind !== undefined) this.#add(kind);
    else if (!leafEnds.has(type)) this.#close();
    return token;
  }

  finish(): Block[] {
    this.#complete();
    return this.#root;
  }

  #add(kind: Block['kind']): void {
    // The rule `begin` runs before the first item of a list only.
    if (kind === 'item') this.begin(this.line);
    const start = this.#start;
    const end = this.#lineEnd(this.line);
    const isContainer = kind === 'list' || kind === 'item' || kind === 'quote';
    const isKept = this.#open.length < this.#levels;
    const block = isKept || isContainer ? newBlock(kind, start, end) : this.#dropped;
    if (this.hasDefinition) block.hasDefinition = true;
    this.#last = block;
    this.#end = end;
    const parent = this.#open.at(-1);
    if (!parent) this.#root.push(block);
    else if (isKept) append(parent, block);
    if (isContainer) this.#open.push(block);
  }

  #close(): void {
    const block = this.#open.pop();
    if (!block) return;
    // A line with only quote markers belongs to the quote; a blank line below an item does not.
    if (block.kind === 'quote') this.#end = this.#lineEnd(this.line - 1);
    block.end = this.#end;
  }

  #complete(): void {
    const block = this.#last;
    if (!block) return;
    this.#last = undefined;
    const { content, markup, tag } = this.#token;
    const { map } = this.#token;
    const first = map?.[0] ?? 0;
    const stop = map?.[1] ?? 0;
    switch (block.kind) {
      case 'list':
        block.marker = markup;
        return;
      case 'item':
      case 'quote':
        return;
      case 'heading':
        block.level = Number(tag.slice(1));
        block.text = this.#inlineText();
        break;
      case 'paragraph':
        block.text = this.#inlineText();
        break;
      case 'fence':
        // The content excludes the first line and, if the fence is closed, the last.
        if (lineCount(content) === stop - first - 1) block.closer = markup;
        break;
      case 'html': {
        const closer = htmlCloser(content);
        if (closer !== undefined) block.closer = closer;
      }
    }
    block.end = this.#lineEnd(stop - 1);
    this.#end = block.end;
  }

  #inlineText(): string {
    const { content } = this.#inline;
    return this.#hasCrlf ? content.replaceAll(' \n', '\n') : content;
  }

  #lineEnd(line: number): number {
    const end = this.#from + (this.eMarks[line] ?? 0);
    return this.#text[end - 1] === '\r' ? end - 1 : end;
  }
}

/** Returns a block with all fields of its kind: each one added later would cost an allocation. */
function newBlock(kind: Block['kind'], start: number, end: number): Container {
  if (kind === 'paragraph') return { kind, start, end, children: none, text: '' };
  if (kind === 'heading') return { kind, start, end, children: none, text: '', level: 0 };
  return { kind, start, end, children: none };
}

function append(parent: Container, block: Block): void {
  if (parent.children.length > 0) parent.children.push(block);
  // Most items have one child: the first push to an empty array would reserve memory for 17.
  else parent.children = [block];
}

function lineCount(content: string): number {
  let count = 0;
  for (let at = content.indexOf('\n'); at >= 0; at = content.indexOf('\n', at + 1)) count++;
  return count;
}

/** Returns the text that an HTML block needs to end; undefined if it has it or needs a blank line. */
function htmlCloser(content: string): string | undefined {
  const html = content.trimStart();
  const raw = /^<(script|pre|style|textarea)(?=[\s>])/i.exec(html)?.[1];
  if (raw !== undefined) {
    const isClosed = /<\/(?:script|pre|style|textarea)>/i.test(html);
    return isClosed ? undefined : `</${raw.toLowerCase()}>`;
  }
  const closer = htmlDelimiters.find(([begin]) => begin.test(html))?.[1];
  return closer === undefined || html.includes(closer) ? undefined : closer;
}
