import type { Codec } from '../../core/record/codec.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { textKeys } from '../../core/yaml/text-keys.ts';

/**
 * The keys in the YAML of a record that its schema does not know, with their values.
 *
 * Rewriting the record from its value would lose them.
 */
export function foreignKeys(codec: Codec<object>, text: string, value: object): JsonObject {
  const written = textKeys(codec.encode(value)).data;
  const { data } = textKeys(text);
  return Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(written, key)));
}
