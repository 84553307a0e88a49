import { isDeepStrictEqual } from 'node:util';
import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isObject, type JsonObject, type JsonValue, own } from '../values/json.ts';
import { type ForeignYaml, keyOf } from './foreign.ts';
import { writeEntry, writeList, writeValue, writeYaml } from './writer.ts';

/**
 * Changes the parts of a YAML text that differ from a value; every other byte stays.
 *
 * With anchors, explicit keys and the like the result can have another value than intended, so the
 * caller has to read it back.
 *
 * @param text ends with a line end.
 * @returns undefined when the root is a flow map.
 */
export function editYaml(text: string, yaml: ForeignYaml, value: JsonObject): string | undefined {
  const { root } = yaml;
  // The text contains only comments.
  if (!root) return text + writeYaml(value);
  if (root.flow) return undefined;
  const edit = new Edit(text, yaml);
  edit.map(root, value);
  return edit.result();
}

class Edit {
  readonly #text: string;
  readonly #yaml: ForeignYaml;
  readonly #splices: { from: number; to: number; text: string }[] = [];

  constructor(text: string, yaml: ForeignYaml) {
    this.#text = text;
    this.#yaml = yaml;
  }

  result(): string {
    let text = '';
    let at = 0;
    for (const splice of this.#splices.sort((a, b) => a.from - b.from || a.to - b.to)) {
      text += this.#text.slice(at, splice.from) + splice.text;
      at = splice.to;
    }
    return text + this.#text.slice(at);
  }

  map(map: YAMLMap, value: JsonObject): void {
    const pairs = new Map(map.items.map((pair) => [keyOf(pair.key), pair]));
    let at = this.#lineStart(startOf(map.items[0]?.key));
    const indent = ' '.repeat(startOf(map.items[0]?.key) - at);
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const pair = pairs.get(key);
      if (!pair) this.#splice(at, at, writeEntry(key, item, indent));
      else {
        at = this.#lineAfter(pair);
        if (!this.#equals(pair.value, item)) this.#pair(pair, item, indent);
      }
    }
    for (const [key, pair] of pairs) {
      if (own(value, key) === undefined) {
        this.#splice(this.#lineStart(startOf(pair.key)), this.#lineAfter(pair), '');
      }
    }
  }

  #pair(pair: Pair, value: JsonValue, indent: string): void {
    const old = pair.value;
    if (isMap(old) && !old.flow && isObject(value) && Object.keys(value).length > 0) {
      this.map(old, value);
    } else if (!(isSeq(old) && !old.flow && Array.isArray(value) && this.#list(old, value))) {
      const key = endOf(pair.key);
      const text = `:${writeValue(value, indent)}`;
      const oneLine = text.indexOf('\n') === text.length - 1;
      if (oneLine && isScalar(old) && !old.type?.startsWith('BLOCK')) {
        // A comment after the value stays.
        const absent = startOf(old) === endOf(old);
        const end = absent ? this.#text.indexOf(':', key) + 1 : endOf(old);
        this.#splice(key, end, text.slice(0, -1));
      } else this.#splice(key, this.#lineAfter(pair), text);
    }
  }

  /** Replaces the items from the first to the last that differ; returns false if it cannot. */
  #list(list: YAMLSeq, value: readonly JsonValue[]): boolean {
    const { items } = list;
    const starts = items.map((item) => this.#lineStart(startOf(item)));
    const leads = items.map((item, i) => this.#text.slice(starts[i], startOf(item)));
    const indent = /^( *)- +$/.exec(leads[0] ?? '')?.[1];
    if (value.length === 0 || indent === undefined) return false;
    if (!leads.every((lead) => lead.startsWith(`${indent}- `))) return false;
    const most = Math.min(items.length, value.length);
    let head = 0;
    while (head < most && this.#equals(items[head], value[head])) head++;
    let tail = 0;
    while (tail < most - head && this.#equals(items.at(-1 - tail), value.at(-1 - tail))) tail++;
    const changed = items.slice(head, items.length - tail);
    const from = head === 0 ? starts[0] : this.#lineAfter(items[head - 1]);
    const to = changed.length === 0 ? from : this.#lineAfter(changed.at(-1));
    const begin = changed.length === 0 ? from : starts[head];
    this.#splice(begin ?? 0, to ?? 0, writeList(value.slice(head, value.length - tail), indent));
    return true;
  }

  #equals(node: unknown, value: JsonValue | undefined): boolean {
    return isDeepStrictEqual(this.#yaml.valueOf(node), value);
  }

  #splice(from: number, to: number, text: string): void {
    this.#splices.push({ from, to, text });
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** Returns the start of the line after a pair or an item. */
  #lineAfter(part: unknown): number {
    let end = endOf(part);
    if (this.#text[end - 1] !== '\n') return this.#text.indexOf('\n', end) + 1;
    // The range of a literal block includes the empty lines after it.
    while (this.#text[end - 2] === '\n') end--;
    return end;
  }
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

/** Returns the end of a part without trailing comments and spaces. */
function endOf(part: unknown): number {
  if (isPair(part)) return Math.max(endOf(part.key), endOf(part.value));
  if (isCollection(part) && !part.flow) return endOf(part.items.at(-1));
  return isNode(part) ? (part.range?.[1] ?? 0) : 0;
}
