import { type Block, parseBlocks } from './blocks.ts';
import { withoutBlankEnds } from './line.ts';

/**
 * A line that would be a heading, would underline the line above it as a heading, or looks like the
 * first marker of a conflict, with which a file cannot be edited.
 */
const headingLine = /^[ \t]*(?=#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$|<{7}(?: |$))/;
/** A line that would begin a block other than a paragraph, indented code or a table. */
const blockLine =
  /^[ \t]*(?:\d{1,9}(?=[.)](?:[ \t]|$))|(?=#{1,6}(?:[ \t]|$)|[-+*](?:[ \t]|$)|(?:=+|-+)[ \t]*$|([-_*])(?:[ \t]*\1)*[ \t]*$|>|`{3}|~{3}|<(?:[!/?]|[a-z][a-z0-9-]*(?:[ \t/>]|$))|\[\^[^\]]*\]:))/i;
/** A line that would end fenced code only inside an item, where its tab is narrower. */
const tabbedFence = /^ *\t[ \t]*(?:`{3}|~{3})/m;

/**
 * Returns texts as the items of a list: each text becomes exactly one item.
 *
 * A line that would begin another block is escaped with a backslash, so that a reader sees it as the
 * caller wrote it. Inline markdown, tables and closed fences stay unchanged.
 *
 * @param marker a bullet, or the character after the numbers of an ordered list.
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

/** Returns the lines of an item, without its marker and indentation. */
function itemLines(text: string): string[] {
  return escapeLines(text.trim(), blockLine, (blocks, lines) =>
    blocks.filter(
      ({ kind, closer, start, end }) =>
        kind === 'fence' && closer === undefined && !tabbedFence.test(lines.slice(start, end)),
    ),
  );
}

/**
 * Returns a text as markdown without headings and without an open block at its end.
 *
 * Lists, quotes, tables, code and HTML stay unchanged.
 */
export function prose(text: string): string {
  const verbatim = (blocks: readonly Block[]): Block[] =>
    blocks.flatMap((block) =>
      ['code', 'fence', 'html'].includes(block.kind) ? [block] : verbatim(block.children),
    );
  return closed(escapeLines(withoutBlankEnds(text), headingLine, verbatim).join('\n'));
}

/** Returns a text as the text of a heading: one line, with a backslash before hashes at its end. */
export function headingText(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<=^| )(?=#+$)/, '\\');
}

/** Returns a markdown text, with the line that ends its last block if that is open. */
export function closed(text: string): string {
  const closer = parseBlocks(text).at(-1)?.closer;
  return closer === undefined ? text : `${text}\n${closer}`;
}

/**
 * Returns the lines of a text, with a backslash after the part of a line that matches.
 *
 * @param verbatim returns the blocks whose lines stay unchanged.
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
