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
