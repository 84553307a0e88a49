import { isDeepStrictEqual } from 'node:util';
import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  type ParseOptions,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { MemoryError } from '../../../core/values/error.ts';
import { isObject } from '../../../core/values/json.ts';
import type { Language } from './language.ts';

/** The keys of objects and the indexes of arrays that lead to a value. */
type JsonPath = readonly (string | number)[];

/**
 * Sets members of one object in a JSON text with comments and trailing commas, or removes the object.
 *
 * Everything else stays as it is, byte for byte. An object or array that was there and empty gets its member
 * right after the bracket: by that it is known, and left, when the member is removed.
 *
 * @param path the index after the last element of an array adds an element.
 * @param value undefined removes the object, and the objects and arrays around it that are then empty.
 * @throws MemoryError `damaged` with the line, when the text is not a JSON object, or has an object
 *   where the path has an index or an array where it has a key.
 */
export function editJson(text: string, path: JsonPath, value: object | undefined): string {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const body = text.slice(bom.length);
  const given = body.trim() === '' ? '{}\n' : body;
  check(given, value ? [...path, ''] : path);
  const present = nodeAt(given, path);
  if (value !== undefined) {
    const edited = setMembers(given, path, value);
    return edited === given ? text : bom + edited;
  }
  if (!present) return text;
  const wasEmpty = (depth: number) =>
    isAtBracket(given, memberOf(nodeAt(given, path.slice(0, depth))));
  let least = path.length;
  while (least > 1 && !wasEmpty(least)) least--;
  let edited = remove(given, path, wasEmpty(path.length));
  // Otherwise an earlier one of equal keys would be read again.
  while (typeof path.at(-1) === 'string' && nodeAt(edited, path)) edited = remove(edited, path);
  for (let depth = path.length - 1; depth >= least; depth--) {
    const around = path.slice(0, depth);
    const key = path[depth - 1];
    const twins =
      typeof key === 'string' ? membersOf(nodeAt(edited, path.slice(0, depth - 1)), key) : [];
    const isEmpty = nodeAt(edited, around)?.children?.length === 0;
    if (isEmpty && twins.length < 2) edited = remove(edited, around, wasEmpty(depth));
  }
  return bom + edited;
}

/** The value at a path of a JSON text; undefined where there is none. */
function readJson(text: string, path: JsonPath): unknown {
  const body = text.replace(/^\ufeff/, '');
  if (body.trim() === '') return undefined;
  check(body, path);
  const node = nodeAt(body, path);
  return node && getNodeValue(node);
}

/** JSON of clients that accept comments and trailing commas. */
export const jsonWithComments: Language = { edit: editJson, read: readJson };

/** JSON of clients that may not accept comments: a text with comments is not edited. */
export const json: Language = {
  edit(text, path, value) {
    const edited = editJson(text, path, value);
    if (value !== undefined && edited !== text) checkSyntax(edited, { disallowComments: true });
    return edited;
  },
  read: readJson,
};

function checkSyntax(text: string, options: ParseOptions): void {
  const errors: ParseError[] = [];
  parseTree(text.replace(/^\ufeff/, ' '), errors, options);
  const [error] = errors;
  if (!error) return;
  const line = text.slice(0, error.offset).split('\n').length;
  const what = printParseErrorCode(error.error);
  const why =
    what === 'InvalidCommentToken' ? 'a comment, which not every JSON reader accepts' : what;
  throw new MemoryError('damaged', `line ${line}: ${why}`);
}

function check(text: string, path: JsonPath): void {
  checkSyntax(text, { allowTrailingComma: true });
  for (let depth = 0; depth < path.length; depth++) {
    const node = nodeAt(text, path.slice(0, depth));
    const wanted = typeof path[depth] === 'number' ? 'array' : 'object';
    if (node && node.type !== wanted) {
      const where = depth === 0 ? 'the text' : `"${path.slice(0, depth).join('.')}"`;
      throw new MemoryError('damaged', `${where} is not an ${wanted}`);
    }
  }
}

/** The node of a value; of equal keys the last one, which every reader of JSON takes. */
function nodeAt(text: string, path: JsonPath): Node | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  return path.reduce<Node | undefined>((node, key) => {
    if (typeof key === 'number') return node?.type === 'array' ? node.children?.[key] : undefined;
    return membersOf(node, key).at(-1)?.children?.[1];
  }, tree);
}

/** The members of an object with a key: several where it was written more than once. */
function membersOf(node: Node | undefined, key: string): Node[] {
  if (node?.type !== 'object') return [];
  return node.children?.filter(({ children }) => children?.[0]?.value === key) ?? [];
}

/** Sets the members of an object, and adds it where it is missing; undefined removes a member. */
function setMembers(text: string, path: JsonPath, value: object): string {
  const present = nodeAt(text, path);
  const known = Object.entries(value).filter(([, one]) => one !== undefined);
  if (!present) return known.length === 0 ? text : set(text, path, Object.fromEntries(known));
  if (present.type !== 'object') {
    throw new MemoryError('damaged', `"${path.join('.')}" is not an object`);
  }
  return Object.entries(value).reduce((part, [key, one]) => {
    const place = [...path, key];
    if (one === undefined) return nodeAt(part, place) ? remove(part, place) : part;
    return isObject(one) ? setMembers(part, place, one) : set(part, place, one);
  }, text);
}

function set(text: string, path: JsonPath, value: unknown): string {
  const unit = /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const drawn = (what: unknown, indent: string) =>
    JSON.stringify(what, undefined, unit).replaceAll('\n', eol + indent);
  const old = nodeAt(text, path);
  if (old) {
    if (isDeepStrictEqual(getNodeValue(old), value)) return text;
    const shown = drawn(value, indentAt(text, old.offset));
    return text.slice(0, old.offset) + shown + text.slice(endOf(old));
  }
  let depth = path.length - 1;
  while (!nodeAt(text, path.slice(0, depth))) depth--;
  const parent = nodeAt(text, path.slice(0, depth));
  if (!parent) return text;
  const inner = path
    .slice(depth + 1)
    .reduceRight<unknown>(
      (part, key) => (typeof key === 'number' ? [part] : { [key]: part }),
      value,
    );
  const last = parent.children?.at(-1);
  const outer = indentAt(text, parent.offset);
  const own = last && startsLine(text, last.offset) ? indentAt(text, last.offset) : outer + unit;
  const name = parent.type === 'array' ? '' : `${JSON.stringify(path[depth])}: `;
  const member = `${eol}${own}${name}${drawn(inner, own)}`;
  if (!last) {
    const start = parent.offset + 1;
    const end = endOf(parent) - 1;
    const inside = text.slice(start, end);
    const [gap = ''] = /\s*$/.exec(inside) ?? [];
    const isComment = gap !== inside && gap.includes('\n');
    const isBare = inside === '' || text.trim() === text.slice(parent.offset, end + 1);
    if (depth > 0 || !(isComment || (isBare && gap === inside)))
      return `${text.slice(0, start)}${name}${drawn(inner, outer)}${text.slice(start)}`;
    const rest = isComment ? gap : eol + outer;
    return text.slice(0, end - gap.length) + member + rest + text.slice(end);
  }
  const end = endOf(last);
  const comma = commaAfter(text, end);
  // A comment after the last member stays on its line; a blank before the bracket stays there.
  const line =
    /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/|(?=\r?\n))/.exec(text.slice(comma ?? end))?.[0] ?? '';
  const from = (comma ?? end) + line.length;
  if (comma === undefined) return `${text.slice(0, end)},${line}${member}${text.slice(from)}`;
  // After a trailing comma the new member also gets one, so that undo removes both.
  return `${text.slice(0, from)}${member},${text.slice(from)}`;
}

/** @param wasEmpty the object or array around it was there and empty before. */
function remove(text: string, path: JsonPath, wasEmpty = false): string {
  const property = memberOf(nodeAt(text, path));
  const parent = property?.parent;
  if (!property || !parent) return text;
  const siblings = parent.children ?? [];
  const place = siblings.indexOf(property);
  const before = siblings[place - 1];
  const comma = commaAfter(text, endOf(property));
  const start =
    property.offset - (/\r?\n?[ \t]*$/.exec(text.slice(0, property.offset))?.[0] ?? '').length;
  const [next] = siblings.slice(place + 1);
  const end = comma ?? endOf(property);
  if (wasEmpty) {
    const isNext = next !== undefined && text.slice(end, next.offset).trim() === '';
    return text.slice(0, start) + text.slice(isNext ? next.offset : end);
  }
  if (!next && !before) {
    const rest = text.slice(end, endOf(parent) - 1);
    // A comment would go on to the bracket.
    const isBare = `${text.slice(parent.offset + 1, start)}${rest}`.trim() === '';
    return text.slice(0, start) + (isBare ? '' : rest) + text.slice(endOf(parent) - 1);
  }
  if (comma !== undefined || !before) return text.slice(0, start) + text.slice(end);
  const divider = commaAfter(text, endOf(before)) ?? start;
  return text.slice(0, divider - 1) + text.slice(divider, start) + text.slice(endOf(property));
}

/** The member of an object, or the element of an array, that a value is or belongs to. */
function memberOf(node: Node | undefined): Node | undefined {
  return node?.parent?.type === 'array' ? node : node?.parent;
}

/** Whether a member is the first one, right after the bracket, and not of a text that others wrote on one line. */
function isAtBracket(text: string, member: Node | undefined): boolean {
  return (
    member?.parent !== undefined &&
    member.offset === member.parent.offset + 1 &&
    text.slice(member.offset, endOf(member)).includes('\n')
  );
}

/** The offset after the next comma; undefined when another token comes first. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text.charAt(at) === ',' ? at + 1 : undefined;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

/** The indentation of the line of an offset. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

function startsLine(text: string, offset: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(text.slice(0, offset));
}
