import { type Block, parseBlocks } from './blocks.ts';
import { withoutBlankEnds } from './line.ts';

/**
 * A line that would be a heading, make one of the line before it, or be taken for the first marker
 * of a conflict, which keeps a file from being edited.
 */
const headingLine = /^[ \t]*(?=#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$|<{7}(?: |$))/;
/** A line that would begin any block but a paragraph, an indented code or a table. */
const blockLine =
  /^[ \t]*(?:\d{1,9}(?=[.)](?:[ \t]|$))|(?=#{1,6}(?:[ \t]|$)|[-+*](?:[ \t]|$)|(?:=+|-+)[ \t]*$|([-_*])(?:[ \t]*\1)*[ \t]*$|>|`{3}|~{3}|<(?:[!/?]|[a-z][a-z0-9-]*(?:[ \t/>]|$))|\[\^[^\]]*\]:))/i;
/** A line that ends no fenced code where it stands, but would inside an item, where a tab is narrower. */
const tabbedFence = /^ *\t[ \t]*(?:`{3}|~{3})/m;

/**
 * Texts as the items of a list, each of them exactly one item whatever it holds.
 *
 * What would begin another block is escaped with a backslash, so that it reads as the caller wrote
 * it; inline markdown, tables and whole code blocks stay as they are.
 *
 * @param marker as of a list: a bullet, or the character after the numbers.
 */
export function listText(items: readonly string[], indent = '', marker = '-'): string {
  return items
    .map((item, i) => {
      const bullet = /[-+*]/.test(marker) ? marker : `${i + 1}${marker}`;
      const [first, ...rest] = itemLines(item);
      const margin = indent + ' '.repeat(bullet.length + 1);
      const lines = rest.map((line) => (line.trim() === '' ? '' : margin + line));
      return [`${indent}${bullet} ${first}`, ...lines].join('\n');
    })
    .join('\n');
}

/** The lines of an item, without its marker and indentation. */
function itemLines(text: string): string[] {
  return escapeLines(text.trim(), blockLine, (blocks, lines) =>
    blocks.filter(
      ({ kind, closer, start, end }) =>
        kind === 'fence' && closer === undefined && !tabbedFence.test(lines.slice(start, end)),
    ),
  );
}

/**
 * Any text as markdown that holds no heading of its own and leaves nothing open at its end.
 *
 * Lists, quotes, tables, code and HTML stay as they are.
 */
export function prose(text: string): string {
  const verbatim = (blocks: readonly Block[]): Block[] =>
    blocks.flatMap((block) =>
      ['code', 'fence', 'html'].includes(block.kind) ? [block] : verbatim(block.children),
    );
  return closed(escapeLines(withoutBlankEnds(text), headingLine, verbatim).join('\n'));
}

/** Any text as the text of a heading: one line, without hashes that would close it. */
export function headingText(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<=^| )(?=#+$)/, '\\');
}

/** A markdown text with the line that ends its last block, where that was left open. */
export function closed(text: string): string {
  const closer = parseBlocks(text).at(-1)?.closer;
  return closer === undefined ? text : `${text}\n${closer}`;
}

/**
 * Puts a backslash before whatever matches in a line.
 *
 * @param verbatim the blocks whose lines are left alone.
 */
function escapeLines(
  text: string,
  pattern: RegExp,
  verbatim: (blocks: readonly Block[], text: string) => readonly Block[],
): string[] {
  const unix = text.replace(/\r\n?/g, '\n');
  const kept = verbatim(parseBlocks(unix), unix);
  let offset = 0;
  let next = 0;
  const escaped = unix.split('\n').map((line) => {
    const start = offset;
    offset += line.length + 1;
    while ((kept[next]?.end ?? offset) < start) next++;
    const block = kept[next];
    if (block && block.start < offset) return line;
    return line.replace(pattern, '$&\\');
  });
  return withoutDefinitions(escaped.join('\n')).split('\n');
}

/** Escapes link reference definitions, which would have an effect on every other section. */
function withoutDefinitions(text: string): string {
  const starts = (blocks: readonly Block[]): number[] =>
    blocks.flatMap(({ start, children, hasDefinition = false, text: content = '' }) =>
      // Other parsers also accept a label of spaces outside ASCII.
      hasDefinition || /^\[\s*\]:/.test(content) ? [start] : starts(children),
    );
  let result = '';
  let from = 0;
  for (const start of starts(parseBlocks(text))) {
    result += `${text.slice(from, start)}\\`;
    from = start;
  }
  return result + text.slice(from);
}
