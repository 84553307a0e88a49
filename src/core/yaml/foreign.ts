import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import { MemoryError } from '../values/error.ts';
import { isObject, type JsonObject, type JsonValue } from '../values/json.ts';
import { maxYamlDepth } from './reader.ts';

/**
 * Limit for a text that this program did not write.
 *
 * It bounds the line ends and syntax characters of the text, and its values, including those that an
 * alias repeats.
 */
export const maxYamlMarks = 10_000;

/**
 * YAML that this program did not write, parsed by the `yaml` package.
 *
 * Limits keep its time and its stack small. The text is read as YAML 1.2 with the core schema:
 * timestamps are strings, merge keys and tags are not supported, and a key may not be repeated.
 */
export class ForeignYaml {
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;
  readonly #anchors = new Map<string, unknown>();
  #values = 0;

  /**
   * Parses a text.
   *
   * @throws MemoryError `damaged` with the line, when the text is not YAML or exceeds a limit.
   */
  constructor(text: string) {
    checkBounds(text);
    try {
      this.#document = parseDocument(text, {
        version: '1.2',
        schema: 'core',
        merge: false,
        stringKeys: true,
        // The check of the package takes quadratic time; `#read` checks instead.
        uniqueKeys: false,
        lineCounter: this.#lines,
        prettyErrors: false,
        logLevel: 'error',
      });
    } catch (error) {
      throw new MemoryError('damaged', 'the YAML cannot be read', { cause: error });
    }
    const problem = this.#document.errors[0] ?? this.#document.warnings[0];
    if (problem?.code === 'MULTIPLE_DOCS') {
      throw this.#damaged('more than one YAML document', problem.pos[0]);
    }
    if (problem) throw this.#damaged(problem.message, problem.pos[0]);
  }

  /** The map at the root, with the positions of its parts in the text. */
  get root(): YAMLMap | undefined {
    const { contents } = this.#document;
    return isMap(contents) ? contents : undefined;
  }

  /**
   * Returns the value of the text.
   *
   * @throws MemoryError `damaged` with the line, when it is not a map of JSON values.
   */
  value(): JsonObject {
    const value = this.valueOf(this.#document.contents) ?? {};
    if (!isObject(value)) throw damaged('expected a map of keys and values', 1);
    return value;
  }

  /** Returns the value of a part of the text. */
  valueOf(node: unknown): JsonValue {
    this.#values = 0;
    return this.#read(node, 0);
  }

  #read(node: unknown, depth: number): JsonValue {
    if (node === null || node === undefined) return null;
    if (!isNode(node)) throw damaged('not a JSON value', 1);
    const at = node.range?.[0] ?? 0;
    if (++this.#values > maxYamlMarks) throw this.#damaged(`more than ${maxYamlMarks} values`, at);
    if (isAlias(node)) {
      if (this.#anchors.has(node.source)) return this.#read(this.#anchors.get(node.source), depth);
      throw this.#damaged(`no anchor for the alias *${node.source}`, at);
    }
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined) throw this.#damaged(`tags are not supported: ${node.tag}`, at);
    if (isScalar(node)) {
      const { value } = node;
      if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      throw this.#damaged(`not a JSON value: ${value}`, at);
    }
    if (depth >= maxYamlDepth) throw this.#damaged(tooDeep, at);
    if (!isMap(node)) return node.items.map((item) => this.#read(item, depth + 1));
    const entries = new Map<string, JsonValue>();
    for (const { key, value } of node.items) {
      const name = keyOf(key);
      if (entries.has(name)) {
        const position = isScalar(key) ? (key.range?.[0] ?? at) : at;
        throw this.#damaged(`the key ${JSON.stringify(name)} is repeated`, position);
      }
      entries.set(name, this.#read(value, depth + 1));
    }
    // Unlike an assignment, this also sets a key `__proto__`.
    return Object.fromEntries(entries);
  }

  #damaged(message: string, offset: number): MemoryError {
    return damaged(message, this.#lines.linePos(offset).line);
  }
}

/** Returns the key of a pair; every key was parsed as a string. */
export function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

const tooDeep = `nested deeper than ${maxYamlDepth} levels`;

function damaged(message: string, line: number): MemoryError {
  // A message of the package may quote a long piece of the text.
  return new MemoryError('damaged', `line ${line}: ${message.slice(0, 200)}`);
}

/**
 * Refuses texts that could keep the `yaml` package busy for seconds or exhaust its stack.
 *
 * It estimates size and depth, and the estimate is never too low.
 */
function checkBounds(text: string): void {
  const marks = text.match(/[\n,[\]{}&*!?:"'\\]/g)?.length ?? 0;
  if (marks > maxYamlMarks) {
    throw new MemoryError('damaged', `more than ${maxYamlMarks} lines and marks of YAML`);
  }
  const columns: number[] = [];
  let open = 0;
  for (const [i, line] of text.split('\n').entries()) {
    const [lead = '', indicators = ''] = /^\s*((?:(?:[-?:]|[&!]\S*)\s+)*)/.exec(line) ?? [];
    const column = lead.length - indicators.length;
    while ((columns.at(-1) ?? -1) >= column) columns.pop();
    columns.push(column);
    let deepest = open;
    for (const [mark] of line.matchAll(/[[\]{}]/g)) {
      open = Math.max(0, open + (mark === '[' || mark === '{' ? 1 : -1));
      deepest = Math.max(deepest, open);
    }
    const depth = columns.length + indicators.split(/\s+/).length + deepest;
    if (depth > 2 * maxYamlDepth) throw damaged(tooDeep, i + 1);
  }
}
