/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A plain JSON object. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Whether a value is a JSON object: neither null nor a list. */
export function isObject(value: JsonValue | undefined): value is JsonObject;
export function isObject(value: unknown): value is Record<string, unknown>;
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are the same, in any order of the keys; a key without a value is as if it were absent. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => isSameJson(ownValue(one, key), ownValue(other, key)));
}

function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * Returns a value as JSON text for another program, with U+FFFD for each half of a surrogate pair.
 *
 * Texts of other programs can contain such a half, for example a commit message or an old record. It is
 * valid in JSON and not in UTF-8: a model's service refuses every request that contains it.
 */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  // JSON.stringify escapes a half and nothing else of this range.
  if (!text.includes('\\ud')) return text;
  return text.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (found) =>
    found.length === 2 ? found : '\ufffd',
  );
}

/** Finds the texts with half of a surrogate pair in a JSON value, and returns their paths. */
export function illFormedTexts(value: unknown): Generator<readonly (string | number)[]> {
  return textsWhere(value, (text) => !text.isWellFormed());
}

/** Finds the texts in a JSON value that meet a condition, keys included, and returns their paths. */
export function* textsWhere(
  value: unknown,
  meets: (text: string) => boolean,
  path: readonly (string | number)[] = [],
): Generator<readonly (string | number)[]> {
  if (typeof value === 'string') {
    if (meets(value)) yield path;
  } else if (typeof value === 'object' && value !== null) {
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      if (meets(key)) yield path;
      yield* textsWhere(item, meets, [...path, isList ? Number(key) : key]);
    }
  }
}

/**
 * Parses JSON that a person or another program wrote, which on Windows may begin with a byte order mark.
 *
 * @throws SyntaxError
 */
export function readJsonText(text: string): JsonValue {
  return JSON.parse(text.replace(/^\ufeff/, ''));
}

/** Returns what is wrong with a JSON text, without the piece of it that the error of V8 quotes. */
export function jsonProblem(thrown: unknown): string {
  // The piece is cut off, so a credential in it could not be recognized and redacted.
  return thrown instanceof Error
    ? thrown.message.replace(/, (?:\.\.\.)?".*$/s, '')
    : String(thrown);
}

/** Returns the own value of a key, never an inherited one such as `constructor`. */
export function own<T>(object: { readonly [key: string]: T }, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Escapes a character as JSON does: `\u200b`, or two such units beyond the first plane. */
export function escapedUnits(char: string): string {
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Writes JSON in ASCII, which shells of Windows pass on in every code page. */
export function asciiJson(value: object): string {
  return jsonText(value).replace(/[^ -~]/g, escapedUnits);
}
