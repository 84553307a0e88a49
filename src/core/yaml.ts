import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import {
  isLiteral,
  isPlain,
  maxYamlDepth,
  readCanonicalYaml,
  writeYaml,
} from './canonical-yaml.ts';
import { MemoryError } from './error.ts';
import { isObject, type JsonObject, type JsonValue } from './json.ts';

/** The longest YAML record or front matter, in bytes of UTF-8. */
export const maxYamlBytes = 1024 * 1024;

/** The most line ends and punctuation marks in YAML that another hand wrote. */
export const maxYamlMarks = 10_000;

/** The most values that the aliases of a text may stand for. */
export const maxYamlAliases = 100;

/**
 * Reads a YAML text whose root is a map.
 *
 * What `writeYaml` wrote is read at once. Anything else goes to the `yaml` package, behind bounds
 * that keep its time and its stack small, and is read as YAML 1.2, core schema: times are strings,
 * there are no merge keys, tags or directives, and a key stands once in its map.
 *
 * @throws MemoryError `damaged` with the line, `conflict` when it holds conflict markers.
 */
export function readYaml(text: string): JsonObject {
  if (Buffer.byteLength(text) > maxYamlBytes) {
    throw damaged(`the YAML has more than ${maxYamlBytes} bytes`);
  }
  return readCanonicalYaml(text) ?? new ForeignYaml(text).value();
}

/**
 * A text that says `value`, made from `previous` by changing what says something else: comments,
 * key order and quoting that a person chose stay where the document model can keep them.
 *
 * @throws MemoryError as `readYaml` does, about `previous`.
 */
export function rewriteYaml(previous: string, value: JsonObject): string {
  const fresh = writeYaml(value);
  const canonical = readCanonicalYaml(previous);
  if (canonical && writeYaml(canonical) === previous) return fresh;
  const edited = new ForeignYaml(previous).edited(value);
  // The document model promises nothing about odd combinations; the value outranks the comments.
  try {
    return isDeepStrictEqual(readYaml(edited), readYaml(fresh)) ? edited : fresh;
  } catch {
    return fresh;
  }
}

export const conflictMessage = 'a merge left conflict markers in the YAML';

/**
 * Whether a text holds the markers of a merge that was left unfinished, in their order and at the
 * beginning of lines.
 *
 * Markdown may show such markers in a code fence; this does not look for fences.
 */
export function hasConflictMarkers(text: string): boolean {
  const ours = lineStart(text, '<<<<<<< ', 0);
  const middle = ours < 0 ? -1 : lineStart(text, '=======', ours);
  return middle >= 0 && lineStart(text, '>>>>>>> ', middle) >= 0;
}

function lineStart(text: string, marker: string, from: number): number {
  if (from === 0 && text.startsWith(marker)) return 0;
  const at = text.indexOf(`\n${marker}`, Math.max(0, from - 1));
  return at < 0 ? -1 : at + 1;
}

function damaged(message: string, line?: number): MemoryError {
  return new MemoryError('damaged', line === undefined ? message : `line ${line}: ${message}`);
}

/** A text that may be anything, seen through the `yaml` package's document model. */
class ForeignYaml {
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;
  #aliases = 0;

  constructor(text: string) {
    if (hasConflictMarkers(text)) {
      throw new MemoryError('conflict', conflictMessage);
    }
    checkBounds(text);
    try {
      this.#document = parseDocument(text, {
        version: '1.2',
        schema: 'core',
        merge: false,
        stringKeys: true,
        // The package compares each key with each other one; the check is made below.
        uniqueKeys: false,
        lineCounter: this.#lines,
        prettyErrors: false,
        logLevel: 'silent',
      });
    } catch (error) {
      throw new MemoryError('damaged', 'the YAML cannot be read', { cause: error });
    }
    const problem = this.#document.errors[0] ?? this.#document.warnings[0];
    if (problem) throw this.#damaged(problem.message, problem.pos[0]);
  }

  value(): JsonObject {
    const value = this.#valueOf(this.#document.contents, 0) ?? {};
    if (!isObject(value)) throw damaged('expected a map of keys and values');
    return value;
  }

  #valueOf(node: unknown, depth: number): JsonValue {
    if (node === null) return null;
    if (depth > maxYamlDepth) throw damaged(`nested deeper than ${maxYamlDepth} levels`);
    if (isAlias(node)) {
      if (++this.#aliases > maxYamlAliases) throw damaged('too many aliases');
      return this.#valueOf(node.resolve(this.#document) ?? null, depth + 1);
    }
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) throw damaged('unexpected YAML');
    const at = node.range?.[0] ?? 0;
    if (node.tag !== undefined) throw this.#damaged(`tags are not supported: ${node.tag}`, at);
    if (isSeq(node)) return node.items.map((item) => this.#valueOf(item, depth + 1));
    if (isScalar(node)) {
      const { value } = node;
      if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      throw this.#damaged(`not a JSON value: ${value}`, at);
    }
    const entries = new Map<string, JsonValue>();
    for (const { key, value } of node.items) {
      const name = keyOf(key);
      if (entries.has(name)) {
        const place = isScalar(key) ? (key.range?.[0] ?? at) : at;
        throw this.#damaged(`the key ${JSON.stringify(name)} stands twice`, place);
      }
      entries.set(name, this.#valueOf(value, depth + 1));
    }
    // Unlike assignment, this makes `__proto__` a key like any other.
    return Object.fromEntries(entries);
  }

  /** The text with another value. */
  edited(value: JsonObject): string {
    const { contents } = this.#document;
    if (!isMap(contents)) return '';
    this.#editMap(contents, value);
    return this.#document.toString({ lineWidth: 0, flowCollectionPadding: false });
  }

  #editMap(map: YAMLMap, value: JsonObject): void {
    map.items = map.items.filter((pair) => value[keyOf(pair.key)] !== undefined);
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const pair = map.items.find((candidate) => keyOf(candidate.key) === key);
      if (pair) pair.value = this.#edit(pair.value, item);
      else map.items.push(this.#document.createPair(this.#node(key), this.#node(item)));
    }
  }

  #editList(list: YAMLSeq, value: readonly JsonValue[]): void {
    const rest = [...list.items];
    list.items = value.map((item) => {
      const at = rest.findIndex((node) => isDeepStrictEqual(this.#valueOf(node, 0), item));
      return at < 0 ? this.#node(item) : rest.splice(at, 1)[0];
    });
  }

  #edit(node: unknown, value: JsonValue): unknown {
    if (isDeepStrictEqual(this.#valueOf(node, 0), value)) return node;
    if (isMap(node) && isObject(value)) this.#editMap(node, value);
    else if (isSeq(node) && Array.isArray(value)) this.#editList(node, value);
    else {
      const fresh = this.#node(value);
      if (isScalar(node) && isScalar(fresh)) {
        Object.assign(fresh, {
          comment: node.comment,
          commentBefore: node.commentBefore,
          spaceBefore: node.spaceBefore,
        });
      }
      return fresh;
    }
    return node;
  }

  #node(value: JsonValue): Node {
    const node = this.#document.createNode(value);
    quoteStrings(node);
    return node;
  }

  #damaged(message: string, offset: number): MemoryError {
    return damaged(message, this.#lines.linePos(offset).line);
  }
}

/** The key of a pair as text; every key was parsed as a string or made as one. */
function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

/** Gives every text the style that the canonical writer would give it. */
function quoteStrings(node: unknown): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      quoteStrings(key);
      quoteStrings(value);
    }
  } else if (isSeq(node)) node.items.forEach(quoteStrings);
  else if (isScalar(node) && typeof node.value === 'string' && !isPlain(node.value)) {
    node.type = isLiteral(node.value) ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
  }
}

/**
 * Refuses what could keep the `yaml` package busy for seconds or exhaust its stack, by an estimate
 * of size and depth that is never too low.
 */
function checkBounds(text: string): void {
  const marks = text.match(/[\n,[\]{}&*!?:"'\\]/g)?.length ?? 0;
  if (marks > maxYamlMarks) {
    throw damaged(`the YAML has more than ${maxYamlMarks} lines and punctuation marks`);
  }
  const columns: number[] = [];
  let open = 0;
  for (const line of text.split('\n')) {
    const [lead = '', indicators = ''] = /^\s*((?:[-?:]\s+)*)/.exec(line) ?? [];
    if (lead.length === line.length && indicators === '') continue;
    const column = lead.length - indicators.length;
    while ((columns.at(-1) ?? -1) >= column) columns.pop();
    columns.push(column);
    let deepest = open;
    for (const [mark] of line.matchAll(/[[\]{}]/g)) {
      open = Math.max(0, open + (mark === '[' || mark === '{' ? 1 : -1));
      deepest = Math.max(deepest, open);
    }
    if (columns.length + indicators.replace(/\s/g, '').length + deepest > 2 * maxYamlDepth)
      throw damaged(`nested deeper than ${maxYamlDepth} levels`);
  }
}
