import type { Lines } from './reference.ts';

/** Words that introduce a declaration in some language. */
const keywords =
  'function\\*?|class|interface|type|enum|const|let|var|def|fn|func|fun|struct|trait|impl|mod|module|namespace|record|object|val|sub|typedef|protocol|extension|union|static|#define|macro_rules!';
/** A longer line is not searched. */
const maxLine = 1000;

/**
 * Finds the declaration of a name by its words and its indentation, in any language.
 *
 * @param name `Class.method` for a member.
 * @returns its first and last line; undefined if there is none.
 */
export function findSymbol(text: string, name: string): Lines | undefined {
  const lines = text.split('\n');
  let range: Lines = { first: 1, last: lines.length };
  for (const [level, part] of name.split('.').entries()) {
    const first = declaration(lines, part, level === 0 ? range.first : range.first + 1, range.last);
    if (first === undefined) return undefined;
    range = { first, last: end(lines, first, range.last) };
  }
  return range;
}

function declaration(
  lines: readonly string[],
  name: string,
  first: number,
  last: number,
): number | undefined {
  const word = name.replaceAll('$', '\\$');
  const start = '(?:^|[^\\w$.])';
  const declared = new RegExp(
    `${start}(?:${keywords})\\s+(?:\\([^)]*\\)\\s*)?(?:self\\.)?[*&]?${word}(?![\\w$])`,
  );
  const member = new RegExp(`^[^(=.;]*${start}${word}\\s*(?:<[^>]*>)?[?!]?\\s*(?:\\(|[:=](?!=))`);
  let candidate: number | undefined;
  for (let number = first; number <= last; number++) {
    const line = lines[number - 1] ?? '';
    if (line.length > maxLine || !line.includes(name)) continue;
    if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) continue;
    if (declared.test(line)) return number;
    // A line that ends in `)` is a call, unless the body follows.
    const isCall = /^[^:=]*\(.*\);?\s*$/.test(line) && lines[number]?.trim() !== '{';
    if (candidate === undefined && !isCall && member.test(line)) candidate = number;
  }
  return candidate;
}

/** The last line of a declaration: the lines indented below it, and the line that closes it. */
function end(lines: readonly string[], first: number, limit: number): number {
  const indentOf = (line: string) => line.length - line.trimStart().length;
  const depth = indentOf(lines[first - 1] ?? '');
  let last = first;
  for (let number = first + 1; number <= limit; number++) {
    const line = lines[number - 1] ?? '';
    if (line.trim() === '') continue;
    const indent = indentOf(line);
    if (indent > depth) {
      last = number;
      continue;
    }
    const text = line.trim();
    if (indent < depth || !(text === '{' || /^(?:[)}\]>]|end\b)/.test(text))) break;
    last = number;
    // `): Result {` closes the arguments and opens the body.
    if (!/[{([:=]$|=>$/.test(text)) break;
  }
  return last;
}
