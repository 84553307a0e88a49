import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject, JsonValue } from '../../core/values/json.ts';
import { findSecrets } from './scan.ts';

/** Replaces each credential in a text by its kind: `Unknown key "[a GitHub token]".` */
export function redactText(text: string): string {
  let redacted = '';
  let copied = 0;
  for (const { kind, index, end } of findSecrets(text)) {
    if (index < copied) continue;
    redacted += `${text.slice(copied, index)}[${kind}]`;
    copied = end;
  }
  return redacted + text.slice(copied);
}

/**
 * Removes credentials from an error, in which a key, a name or a part of a path may repeat one.
 *
 * @returns the same error if it does not contain any.
 */
export function redactError(error: MemoryError): MemoryError {
  const { code, message, hint, data, issues, cause } = error;
  let found = false;
  const clean = (text: string): string => {
    const redacted = redactText(text);
    found ||= redacted !== text;
    return redacted;
  };
  const cleanValue = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return clean(value);
    if (Array.isArray(value)) return value.map(cleanValue);
    return typeof value === 'object' && value !== null ? cleanObject(value) : value;
  };
  const cleanObject = (value: JsonObject): { [key: string]: JsonValue } =>
    Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) =>
        one === undefined ? [] : [[clean(key), cleanValue(one)]],
      ),
    );
  const redacted = new MemoryError(code, clean(message), {
    data: cleanObject(data),
    issues: issues.map(({ path, kind, message }) => ({
      path: path.map((part) => (typeof part === 'string' ? clean(part) : part)),
      kind,
      message: clean(message),
    })),
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(cause !== undefined && { cause }),
  });
  return found ? redacted : error;
}
