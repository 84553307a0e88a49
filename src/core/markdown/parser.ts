import MarkdownIt, {
  type MarkdownIt as Parser,
  type ParserBlock,
  type StateBlock,
} from 'markdown-it';

type BlockRule = ReturnType<ParserBlock['ruler']['getRules']>[number];

/** Adds the table from line `start` to before line `stop`, or returns false. */
type AddTable = (state: StateBlock, start: number, stop: number) => boolean;

/** Markers of deeper lists and quotes are text. A list takes two levels, a quote one. */
const maxLevel = 32;
/** Maximum of a text's lines times its quote levels: each level reads all lines of the quote. */
const maxQuotedLines = 1_000_000;
/** Quote levels that are read in a text of any length. */
const minQuoteLevel = 4;

const list = ruleNamed('list');
const quote = ruleNamed('blockquote');
const table = ruleNamed('table');

/**
 * Returns a parser for CommonMark with the tables of GFM that takes linear time for any text.
 *
 * Without these bounds, markdown-it drops the rest of a text that nests too deeply, takes quadratic
 * time for nested quotes, and pads every short row of a wide table.
 *
 * @param html whether to pass raw HTML through; otherwise it is text.
 */
export function boundedParser(html: boolean, addTable: AddTable = addCells): Parser {
  const parser = new MarkdownIt('commonmark', { html, xhtmlOut: false, maxNesting: 100 });
  const { ruler } = parser.block;
  const boundedList: BlockRule = (state, start, end, silent) =>
    state.level < maxLevel && list(state, start, end, silent);
  const boundedQuote: BlockRule = (state, start, end, silent) =>
    state.level < quoteLimit(state) && quote(state, start, end, silent);
  const boundedTable: BlockRule = (state, start, end, silent) =>
    table(state, start, end, true) &&
    hasColumns(state, start + 1) &&
    (silent || addTable(state, start, tableEnd(state, start, end)));
  // The blocks that each rule can interrupt are the same as in markdown-it.
  ruler.at('list', boundedList, { alt: ['paragraph', 'reference', 'blockquote'] });
  ruler.at('blockquote', boundedQuote, { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
  // The rule of markdown-it runs first, and reads an underlined heading with a bar as a table.
  ruler.before('lheading', 'bounded_table', boundedTable, { alt: ['paragraph', 'reference'] });
  return parser;
}

/** Reports whether a line of dashes divides columns; otherwise it can underline a heading. */
function hasColumns(state: StateBlock, line: number): boolean {
  return /[:|]/.test(state.src.slice(state.bMarks[line], state.eMarks[line]));
}

function quoteLimit(state: StateBlock): number {
  return Math.max(minQuoteLevel, Math.min(maxLevel, maxQuotedLines / state.bMarks.length));
}

/** Returns the line after the last row of a table. */
function tableEnd(state: StateBlock, start: number, end: number): number {
  const interrupting = state.md.block.ruler.getRules('blockquote');
  const { parentType } = state;
  state.parentType = 'table';
  const isRow = (line: number): boolean => {
    const indent = (state.sCount[line] ?? 0) - state.blkIndent;
    if (state.isEmpty(line) || indent < 0 || indent >= 4) return false;
    return !interrupting.some((rule) => rule(state, line, end, true));
  };
  let line = start + 2;
  while (line < end && isRow(line)) line++;
  state.parentType = parentType;
  return line;
}

/** Adds a table with its cells, unless it has more cells than characters: most would be padding. */
function addCells(state: StateBlock, start: number, stop: number): boolean {
  const mark = (line: number) => state.bMarks[line] ?? 0;
  const columns = state.src.slice(mark(start + 1), mark(start + 2)).split('|').length;
  if (columns * (stop - start) > mark(stop) - mark(start)) return false;
  return table(state, start, stop, false);
}

/** Returns a block rule of markdown-it. */
export function ruleNamed(name: string): BlockRule {
  const { ruler } = new MarkdownIt.ParserBlock();
  ruler.enableOnly(name);
  const [rule] = ruler.getRules('');
  if (!rule) throw new Error(`markdown-it has no block rule "${name}"`);
  return rule;
}
