import { parseJson, type Source } from '../../core/declarations/exchange-format.ts';
import { MemoryError } from '../../core/values/error.ts';

/** A JSON value of a file, or what is wrong with a part of the file. */
export type ReadValue =
  | { readonly from: string; readonly value: unknown }
  | { readonly from: string; readonly problem: string };

/**
 * Reads the JSON values of a file: one in each line, several in a line, or one of many lines.
 *
 * A program that was killed while it wrote leaves half a line, and one that continues after it writes the
 * next value into the same line.
 *
 * @throws MemoryError as `Source.lines` does.
 */
export function* jsonValues(source: Source, file: string): Generator<ReadValue | undefined> {
  let number = 0;
  let isFirst = true;
  for (const line of source.lines(file)) {
    number += 1;
    const text = number === 1 ? line.replace(/^\ufeff/, '').trim() : line.trim();
    if (text === '') continue;
    const from = `${file}, line ${number}`;
    const whole = readJson(text);
    if (whole !== undefined) yield { from, value: whole };
    else {
      const document = isFirst ? readDocument(source, file) : undefined;
      if (document !== undefined) {
        yield { from: file, value: document };
        return;
      }
      yield* valuesOfLine(text, from);
    }
    isFirst = false;
    yield undefined;
  }
}

/** Returns the value of a file that is one JSON text; undefined for any other. */
function readDocument(source: Source, file: string): unknown {
  try {
    return parseJson(source.text(file));
  } catch (error) {
    // A file that is too large for one text can still be read by its lines.
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/** Reads the objects and lists that follow one another in a line. */
function* valuesOfLine(text: string, from: string): Generator<ReadValue> {
  let start = 0;
  while (start < text.length) {
    const end = endOfValue(text, start);
    if (end === undefined) {
      yield { from, problem: 'ends in the middle of a JSON value' };
      return;
    }
    const value = readJson(text.slice(start, end));
    if (value === undefined) {
      yield { from, problem: 'is not valid JSON' };
      return;
    }
    yield { from, value };
    start = end;
    while (/[\s,]/.test(text.charAt(start))) start += 1;
  }
}

/** Returns the end of the object or list that begins at a place; undefined if the text ends before it. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (isText) {
      if (char === '\\') i += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    // Something else than an object or a list ends at once, and is then reported.
    if (depth <= 0 && !isText) return i + 1;
  }
  return undefined;
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
