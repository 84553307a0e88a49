import type * as z from 'zod';
import { pathText } from './error.ts';
import { valueAt } from './input.ts';
import { isObject } from './json.ts';
import { addTo } from './multimap.ts';

/** Rounds of a repair: JSON text can be in JSON text, down to the field of an item of a list. */
const maxRounds = 5;

/** Maximum number of repairs that a note names. */
const maxNamed = 5;

/** The argument by which a user agrees to something; no text counts as it. */
const confirmation = 'confirm';

type Path = readonly (string | number)[];

/** Arguments that fit their schema better than the given ones. */
export interface RepairedInput {
  readonly args: unknown;
  /** A description of each repair, without any value; empty for nothing. */
  readonly repairs: readonly string[];
}

/**
 * Repairs what clients send in another form than the schema, where only one reading fits.
 *
 * Some send lists and objects as JSON text, numbers and booleans as text, and null or an empty text for
 * an optional argument. Only a value that the schema refuses is replaced, so a text that is valid stays
 * a text. A replacement that the schema refuses also is taken back.
 */
export function repairInput(schema: z.ZodObject, given: unknown): RepairedInput {
  const repairs = new Map<string, string>();
  const lasting = new Set<string>();
  let args = whole(given, repairs);
  for (let round = 0; round < maxRounds; round += 1) {
    const tried = repairable(schema, args).filter(({ key }) => !lasting.has(key));
    if (tried.length === 0) break;
    const attempt = replaced(args, tried);
    const refused = new Set(issuePaths(schema, attempt).map(keyOf));
    for (const { key, path, as } of tried) {
      if (refused.has(key)) lasting.add(key);
      else repairs.set(key, `${pathText(path)}: ${as}`);
    }
    args = replaced(
      args,
      tried.filter(({ key }) => !refused.has(key)),
    );
  }
  return { args, repairs: [...repairs.values()] };
}

/** The sentence for a model about repaired arguments; undefined for none. */
export function noteRepairs(tool: string, { repairs }: RepairedInput): string | undefined {
  if (repairs.length === 0) return undefined;
  const more = repairs.length > maxNamed ? ` and ${repairs.length - maxNamed} more` : '';
  const named = repairs.slice(0, maxNamed).join('; ');
  return `${tool} read arguments that do not fit its schema: ${named}${more}. Next time send the values themselves.`;
}

/** The arguments as a whole, which some clients send as null or as JSON text. */
function whole(given: unknown, repairs: Map<string, string>): unknown {
  if (given === undefined) return {};
  if (given === null) repairs.set('', 'arguments: null, which counts as absent');
  if (given === null) return {};
  const read = typeof given === 'string' ? jsonIn(given) : given;
  if (read === given || !isObject(read)) return given;
  repairs.set('', 'arguments: JSON text, read as an object');
  return read;
}

interface Replacement {
  readonly key: string;
  readonly path: Path;
  /** The value to try; undefined to leave the argument out. */
  readonly to: unknown;
  readonly as: string;
}

function repairable(schema: z.ZodObject, args: unknown): Replacement[] {
  const paths = new Map(issuePaths(schema, args).map((path) => [keyOf(path), path]));
  return [...paths].flatMap(([key, path]): Replacement[] => {
    const found = valueAt(args, path);
    if (found === null || found === '') {
      const as = `${found === null ? 'null' : 'an empty text'}, which counts as absent`;
      return typeof path.at(-1) === 'string' ? [{ key, path, to: undefined, as }] : [];
    }
    if (typeof found !== 'string' || path.at(-1) === confirmation) return [];
    const to = jsonIn(found);
    return to === undefined ? [] : [{ key, path, to, as: `text, read as ${nameOf(to)}` }];
  });
}

function issuePaths(schema: z.ZodObject, args: unknown): Path[] {
  const result = schema.safeParse(args);
  if (result.success) return [];
  return result.error.issues
    .map(({ path }) => path.map((part) => (typeof part === 'number' ? part : String(part))))
    .filter((path) => path.length > 0);
}

/** Returns what a text says as JSON, if that is not a text or null. */
function jsonIn(text: string): unknown {
  // Python prints booleans with a capital.
  const boolean = /^\s*(?:(true)|false)\s*$/i.exec(text);
  if (boolean) return boolean[1] !== undefined;
  try {
    const read: unknown = JSON.parse(text);
    return read === null || typeof read === 'string' ? undefined : read;
  } catch {
    return undefined;
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

/** Returns a copy with other values at paths that exist; undefined removes what is there. */
function replaced(value: unknown, changes: readonly Replacement[], depth = 0): unknown {
  if (changes.length === 0) return value;
  const here = changes.find(({ path }) => path.length === depth);
  if (here) return here.to;
  const below = new Map<string, Replacement[]>();
  for (const change of changes) addTo(below, String(change.path[depth]), change);
  const changed = (key: string, item: unknown) => replaced(item, below.get(key) ?? [], depth + 1);
  if (Array.isArray(value)) return value.map((item, i) => changed(String(i), item));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, changed(key, item)] as const);
  return Object.fromEntries(entries.filter(([key, item]) => item !== undefined || !below.has(key)));
}
