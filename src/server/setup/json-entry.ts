import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { MemoryError } from '../../core/error.ts';

/**
 * A JSON text, comments and trailing commas allowed, with one value set or removed. Everything else
 * stays; only the object around it may be laid out anew when it stood on one line.
 *
 * @param value undefined removes it, and the objects around it that are then empty.
 * @throws MemoryError `damaged` with the line, when the text is no JSON object.
 */
export function editJson(text: string, path: readonly string[], value: object | undefined): string {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const body = text.slice(bom.length);
  const given = body.trim() === '' ? '{}\n' : body;
  check(given, path);
  const present = at(given, path);
  if (value === undefined ? present === undefined : isDeepStrictEqual(present, value)) return text;
  let edited = set(given, path, value);
  for (let depth = path.length - 1; value === undefined && depth > 0; depth--) {
    const around = path.slice(0, depth);
    const rest = at(edited, around);
    if (typeof rest === 'object' && rest !== null && Object.keys(rest).length === 0) {
      edited = set(edited, around, undefined);
    }
  }
  return bom + edited;
}

function set(text: string, path: readonly string[], value: unknown): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
}

function check(text: string, path: readonly string[]): void {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new MemoryError('damaged', `line ${line}: ${printParseErrorCode(error.error)}`);
  }
  for (let depth = 0; tree && depth < path.length; depth++) {
    const node = findNodeAtLocation(tree, path.slice(0, depth));
    if (node && node.type !== 'object') {
      const where = depth === 0 ? 'the text' : `"${path.slice(0, depth).join('.')}"`;
      throw new MemoryError('damaged', `${where} is no object`);
    }
  }
}

function at(text: string, path: readonly string[]): unknown {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const node = tree && findNodeAtLocation(tree, [...path]);
  return node && getNodeValue(node);
}
