import MarkdownIt, { type StateBlock, type Token } from 'markdown-it';
import { boundedParser, ruleNamed } from './parser.ts';

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
  /** Offset of its first character, without the indentation. */
  readonly start: number;
  /** Offset after its last line, without the line end. */
  end: number;
  /** The items of a list; the blocks in an item or a quote. */
  readonly children: readonly Block[];
  /** Of a heading: 1 to 6. */
  level?: number;
  /** Of a heading or a paragraph: its lines, with their inline markdown as written. */
  text?: string;
  /** Of a heading or a paragraph: true if it begins with link reference definitions. */
  hasDefinition?: boolean;
  /** Of a list: `-`, `*`, `+`, or for an ordered one the `.` or `)` after the numbers. */
  marker?: string;
  /** Of fenced code or HTML that is left open: the line that ends it. */
  closer?: string;
}

/** A block that contains others, while they are added. */
interface Container extends Block {
  children: Block[];
}

/** The kinds of blocks by the tokens that begin them. */
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
/** The tokens that end a block without blocks in it. */
const leafEnds: ReadonlySet<string> = new Set(['heading_close', 'paragraph_close']);
/** Shared by all blocks that have none: most blocks of a long text contain no others. */
const none: Block[] = [];
/** The HTML blocks but raw text that a blank line does not end (CommonMark 4.6), and their ends. */
const htmlDelimiters: readonly (readonly [begin: RegExp, closer: string])[] = [
  [/^<!--/, '-->'],
  [/^<\?/, '?>'],
  [/^<!\[CDATA\[/, ']]>'],
  [/^<![a-z]/i, '>'],
];

const definition = ruleNamed('reference');
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
// Without a rule of their own, definitions are part of a paragraph, as its lazy lines are.
parser.block.ruler.disable('reference');
parser.block.ruler.at('lheading', (state, start, end) => {
  const line = definitionsEnd(state, start, end);
  if (state instanceof BlockReader) state.hasDefinition = line > start;
  // Without text below the definitions there is nothing to underline.
  const isText = line === start || (line < end && !isInterrupted(state, line, end));
  return isText && underlinedHeading(state, line, end, false);
});
// A definition is one wherever it leads to.
parser.normalizeLink = String;
parser.validateLink = () => true;

/**
 * Returns the blocks of a markdown text by CommonMark with the tables of GFM, in linear time.
 *
 * Every offset is one into `text`. Inline markdown is not parsed.
 *
 * @param from where to begin, for a text with a byte order mark or front matter.
 */
export function parseBlocks(text: string, from = 0): Block[] {
  const reader = new BlockReader(text, from);
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

/** Whether a line ends the paragraph above it. */
function isInterrupted(state: StateBlock, line: number, end: number): boolean {
  if (state.isEmpty(line)) return true;
  const { parentType } = state;
  state.parentType = 'paragraph';
  const rules = state.md.block.ruler.getRules('paragraph');
  const isEnd = rules.some((rule) => rule(state, line, end, true));
  state.parentType = parentType;
  return isEnd;
}

/** Makes blocks of the tokens that the rules of markdown-it push, without keeping the tokens. */
class BlockReader extends MarkdownIt.StateBlock {
  readonly #text: string;
  readonly #from: number;
  readonly #hasCrlf: boolean;
  readonly #root: Block[] = [];
  /** The containers around the next block. */
  readonly #open: Container[] = [];
  /** Whether the block that the rules look at begins with link reference definitions. */
  hasDefinition = false;
  /** Where the block begins that the rules look at. */
  #start = 0;
  /** The block pushed last: its rule completes the token before the next push. */
  #last: Block | undefined;
  // Reused for every block: a new token for each would take most of the time.
  readonly #token: Token = new MarkdownIt.Token('', '', 0);
  readonly #inline: Token = new MarkdownIt.Token('inline', '', 0);

  constructor(text: string, from: number) {
    // Every line ends in `\n`, and no character has another offset than in the text.
    const lines = text.slice(from).replace(/\r\n/g, ' \n').replace(/\r/g, '\n');
    super(lines.endsWith('\n') ? lines : `${lines}\n`, parser, {}, []);
    this.#text = text;
    this.#from = from;
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
    // The rule of lists looks for the first item only.
    if (kind === 'item') this.begin(this.line);
    const start = this.#start;
    const end = this.#lineEnd(this.line);
    const block = newBlock(kind, start, end);
    if (this.hasDefinition) block.hasDefinition = true;
    this.#last = block;
    const parent = this.#open.at(-1);
    if (!parent) this.#root.push(block);
    else if (parent.children.length > 0) parent.children.push(block);
    // Most items have one child: the first push to an empty array would reserve memory for 17.
    else parent.children = [block];
    if (kind === 'list' || kind === 'item' || kind === 'quote') this.#open.push(block);
  }

  #close(): void {
    const block = this.#open.pop();
    if (!block) return;
    // Lines of quote markers alone belong to the quote; blank lines below an item do not.
    if (block.kind === 'quote') block.end = this.#lineEnd(this.line - 1);
    else block.end = block.children.at(-1)?.end ?? block.end;
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
        // The content is all lines but the first and, where the fence is closed, the last.
        if (lineCount(content) === stop - first - 1) block.closer = markup;
        break;
      case 'html': {
        const closer = htmlCloser(content);
        if (closer !== undefined) block.closer = closer;
      }
    }
    block.end = this.#lineEnd(stop - 1);
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

function lineCount(content: string): number {
  let count = 0;
  for (let at = content.indexOf('\n'); at >= 0; at = content.indexOf('\n', at + 1)) count++;
  return count;
}

/** Returns what ends an HTML block that is left open; undefined where a blank line ends it. */
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
