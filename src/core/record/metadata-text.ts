import { annotationKeys } from '../values/annotation-keys.ts';
import { isObject, type JsonObject, type JsonValue } from '../values/json.ts';

/** Longest text of all metadata of a record, and of one value, in UTF-16 code units. */
const longestText = 2_000;
const longestValue = 400;
const texts = new WeakMap<object, string>();

/** The words of the metadata that a decoded record has, for a search; empty for none. */
export function metadataOf(value: object): string {
  return texts.get(value) ?? '';
}

/** Sets the words of the metadata of a record, which its own fields do not have. */
export function setMetadata(value: object, text: string): void {
  if (text !== '') texts.set(value, text);
}

/**
 * Returns the words of keys that a person has added to a file: the key and its values, one line each.
 *
 * @param keys the keys that the schema of the record does not know.
 */
export function metadataText(keys: JsonObject): string {
  const lines = Object.entries(keys).flatMap(([key, value]) => {
    if (annotationKeys.includes(key)) return [];
    const found = [...scalarsIn(value)];
    return found.length > 0 ? [`${key}: ${found.join(', ')}`] : [];
  });
  return lines.join('\n').slice(0, longestText);
}

function* scalarsIn(value: JsonValue | undefined): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* scalarsIn(item);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      for (const text of scalarsIn(item)) yield `${key} ${text}`;
    }
  } else if (value !== null && value !== undefined) yield String(value).slice(0, longestValue);
}
