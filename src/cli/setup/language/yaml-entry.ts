import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../../core/values/error.ts';
import { isObject, type JsonObject, type JsonValue } from '../../../core/values/json.ts';
import { editYaml } from '../../../core/yaml/edit.ts';
import { ForeignYaml } from '../../../core/yaml/foreign.ts';
import { maxYamlBytes, readYaml } from '../../../core/yaml/yaml.ts';
import type { Language } from './language.ts';

/** The start of a key that leads to a map in a list, by its name. */
const named = 'name=';

/**
 * Sets members of one map in a YAML text, or removes the map and the maps around it that are then empty.
 *
 * Everything else stays as it is, byte for byte.
 *
 * @param path `name=…` is the map with that name in a list.
 * @throws MemoryError `damaged` when the text cannot be read, or not be edited line by line.
 */
function editYamlEntry(text: string, path: readonly string[], value: object | undefined): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.replaceAll('\r\n', '\n');
  if (eol === '\r\n' && lines.replaceAll('\n', eol) !== text) {
    throw new MemoryError('damaged', 'it has two kinds of line ends');
  }
  const before = readYaml(lines);
  const wanted = value === undefined ? without(before, path) : withMembers(before, path, value);
  if (isDeepStrictEqual(before, wanted)) return text;
  const isOpen = lines !== '' && !lines.endsWith('\n');
  const edited = edit(isOpen ? `${lines}\n` : lines, wanted);
  if (edited === undefined || !isDeepStrictEqual(readYaml(edited), wanted)) {
    throw new MemoryError('damaged', `"${path.join('.')}" is not written as lines of its own`);
  }
  const ended = isOpen ? edited.replace(/\n$/, '') : edited;
  return ended.replaceAll('\n', eol);
}

function edit(text: string, wanted: JsonObject): string | undefined {
  if (Object.keys(wanted).length > 0) return editYaml(text, new ForeignYaml(text), wanted);
  // Without any key there would be no place for the comments.
  const held = `${text}held: 0\n`;
  return editYaml(held, new ForeignYaml(held), { held: 0 })?.replace(/^held: 0\n$/m, '');
}

/** YAML, the language of the configuration of Goose and Continue. */
export const yaml: Language = {
  edit: editYamlEntry,
  read(text, path) {
    if (Buffer.byteLength(text) > maxYamlBytes) {
      throw new MemoryError('damaged', `it has more than ${maxYamlBytes} bytes of YAML`);
    }
    return path.reduce<JsonValue | undefined>(
      (part, key) => child(part, key),
      readYaml(text.replaceAll('\r\n', '\n')),
    );
  },
};

function child(part: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(part)) return part[indexOf(part, String(key))];
  return isObject(part) ? part[key] : undefined;
}

/** The index of the map with a name; -1 for another key, or without one. */
function indexOf(list: readonly JsonValue[], key: string): number {
  return list.findIndex((one) => isObject(one) && key === `${named}${one.name}`);
}

/** The value with the members of another one at a path; undefined removes a member. */
function withMembers(part: JsonObject, path: readonly string[], value: object): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) {
    const members = Object.entries(value).map(([name, one]): [string, JsonValue | undefined] => {
      const old = part[name];
      if (!isObject(one)) return [name, one];
      const next = withMembers(isObject(old) ? old : {}, [], one);
      return [name, old === undefined && Object.keys(next).length === 0 ? undefined : next];
    });
    const all = Object.entries({ ...part, ...Object.fromEntries(members) });
    return Object.fromEntries(all.filter(([, one]) => one !== undefined));
  }
  const old = part[key];
  const isList = rest[0]?.startsWith(named) === true;
  // An empty one is on one line, which undo could not restore.
  if (
    old !== undefined &&
    (Array.isArray(old) !== isList || Object.keys(Object(old)).length === 0)
  ) {
    const kind = isList ? 'list with items' : 'map with keys';
    throw new MemoryError('damaged', `"${key}" is not a ${kind} on lines of their own`);
  }
  if (isList) {
    const list = Array.isArray(old) ? [...old] : [];
    const index = indexOf(list, rest[0] ?? '');
    const item = list[index];
    list[index < 0 ? list.length : index] = withMembers(
      isObject(item) ? item : {},
      rest.slice(1),
      value,
    );
    return { ...part, [key]: list };
  }
  return { ...part, [key]: withMembers(isObject(old) ? old : {}, rest, value) };
}

function without(part: JsonObject, path: readonly string[]): JsonObject {
  const [key = '', ...rest] = path;
  const old = part[key];
  const { [key]: _, ...others } = part;
  if (old === undefined || rest.length === 0) return others;
  if (Array.isArray(old)) {
    const index = indexOf(old, rest[0] ?? '');
    const list = old.filter((_item, i) => i !== index);
    return list.length === 0 ? others : { ...part, [key]: list };
  }
  if (!isObject(old)) return part;
  const left = without(old, rest);
  return Object.keys(left).length === 0 ? others : { ...part, [key]: left };
}
