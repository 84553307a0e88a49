/** Where the HTML block that a line begins will end. */
interface HtmlStart {
  /** What ends it, in the first line or a later one; undefined where a blank line does. */
  readonly end?: RegExp;
  /** The text that ends it. */
  readonly closer?: string;
}

const blockNames =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|' +
  'fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|' +
  'menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|' +
  'track|ul';
const attribute = /[ \t]+[a-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:[^ \t"'=<>`]+|'[^']*'|"[^"]*"))?/.source;
const blockTag = new RegExp(`^</?(?:${blockNames})(?:[ \\t]|/?>|$)`, 'i');
const loneTag = new RegExp(
  `^(?:<[a-z][a-z0-9-]*(?:${attribute})*[ \\t]*/?>|</[a-z][a-z0-9-]*[ \\t]*>)[ \\t]*$`,
  'i',
);

/**
 * Whether a line begins an HTML block (CommonMark 4.6), and how the block ends.
 *
 * @param line the line from its `<` on.
 * @param interrupts whether the line could go on with a paragraph.
 */
export function htmlStart(line: string, interrupts: boolean): HtmlStart | undefined {
  const raw = /^<(script|pre|style|textarea)(?:[ \t>]|$)/i.exec(line)?.[1];
  if (raw !== undefined)
    return { end: /<\/(?:script|pre|style|textarea)>/i, closer: `</${raw.toLowerCase()}>` };
  if (line.startsWith('<!--')) return { end: /-->/, closer: '-->' };
  if (line.startsWith('<?')) return { end: /\?>/, closer: '?>' };
  if (line.startsWith('<![CDATA[')) return { end: /\]\]>/, closer: ']]>' };
  if (/^<![a-z]/i.test(line)) return { end: />/, closer: '>' };
  if (blockTag.test(line) || (!interrupts && loneTag.test(line))) return {};
  return undefined;
}

/** Whether two lines are the head of a table: a row, and a row of dashes with as many cells. */
export function isTableHead(head: string, dashes: string): boolean {
  // A dash and a space begin a list item, whatever follows.
  if (/^-[ \t]/.test(dashes)) return false;
  if (!/^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/.test(dashes)) return false;
  return /[|:]/.test(dashes) && cells(head) === cells(dashes);
}

function cells(row: string): number {
  const bars =
    row
      .trim()
      .match(/\\.|\|/g)
      ?.filter((found) => found === '|').length ?? 0;
  const outer = Number(/^[ \t]*\|/.test(row)) + Number(/^(?:\\.|[^\\])*\|[ \t]*$/.test(row));
  return bars + 1 - (bars === 1 ? Math.min(outer, 1) : outer);
}

/** A definition that is longer than this is taken as text, so that no input takes long. */
const maxDefinition = 4_000;

const definition =
  /[ \t]*\[(?:[^\\[\]]|\\.)*\]:[ \t]*\n?[ \t]*(?:<(?:[^\n<>\\]|\\[^\n])*>|((?!<)[^\x01-\x20\x7f]+))(?=[ \t\n]|$)/sy;
const definitionTitle =
  /(?:[ \t]+\n?[ \t]*|\n[ \t]*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))[ \t]*(?=\n|$)/sy;
const restOfLine = /[ \t]*(?:\n|$)/y;

/**
 * How much of a paragraph is taken by the link reference definitions (CommonMark 4.7) it begins with.
 *
 * @param paragraph its lines, joined by `\n`.
 */
export function definitionsEnd(paragraph: string): number {
  let end = 0;
  while (/^[ \t]*\[/.test(paragraph.slice(end, end + 8))) {
    const piece = paragraph.slice(end, end + maxDefinition);
    const length = definitionLength(piece);
    if (length === 0) break;
    end += length;
  }
  return end;
}

function definitionLength(text: string): number {
  definition.lastIndex = 0;
  const [found, destination] = definition.exec(text) ?? [];
  if (found === undefined || /^[ \t]*\[[ \t\n]*\]/.test(found)) return 0;
  if (destination !== undefined && !isBalanced(destination)) return 0;
  definitionTitle.lastIndex = found.length;
  const title = definitionTitle.exec(text)?.[0] ?? '';
  restOfLine.lastIndex = found.length + title.length;
  const rest = restOfLine.exec(text)?.[0];
  return rest === undefined ? 0 : found.length + title.length + rest.length;
}

/** Whether the parentheses of a bare link destination come in pairs. */
function isBalanced(destination: string): boolean {
  let depth = 0;
  for (const [found] of destination.matchAll(/\\.|[()]/g)) {
    if (found === '(') depth++;
    if (found === ')' && --depth < 0) return false;
  }
  return depth === 0;
}
