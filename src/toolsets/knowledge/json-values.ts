import { parseJson, type Source } from '../../core/declarations/exchange-format.ts';
import { MemoryError } from '../../core/values/error.ts';

/** A JSON value of a file, or what is wrong with a part of the file. */
export type ReadValue =
  | { readonly from: string; readonly value: unknown }
  | { readonly from: string; readonly problem: string };

/** How often a text is scanned, at most, for what can be read after a problem. */
const maxScans = 32;

/**
 * Reads the JSON values of a file: one in each line, several in a line, or one of many lines.
 *
 * A program that was killed while it wrote leaves half a line, and one that continues after it writes the
 * next value into the same line. Of a value that is cut off, the parts that are wanted are read.
 *
 * @param isWanted whether a value is of the kind that is looked for.
 * @throws MemoryError as `Source.lines` does.
 */
export function* jsonValues(
  source: Source,
  file: string,
  isWanted: (value: unknown) => boolean,
): Generator<ReadValue | undefined> {
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
      const all = isFirst ? textOf(source, file) : undefined;
      const document = all === undefined ? undefined : readJson(all);
      if (document !== undefined) {
        yield { from: file, value: document };
        return;
      }
      // The beginning of one value of many lines, which the file does not end.
      if (all !== undefined && /^[[{]$/.test(text)) {
        yield* valuesOf(all, file, isWanted);
        return;
      }
      yield* valuesOf(text, from, isWanted);
    }
    isFirst = false;
    yield undefined;
  }
}

/** Returns the text of a file; undefined for one that is too large and can only be read by its lines. */
function textOf(source: Source, file: string): string | undefined {
  try {
    return source.text(file).replace(/^\ufeff/, '');
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/**
 * Reads the objects and lists that follow one another in a text. After a problem, only those that are
 * wanted are read.
 */
function* valuesOf(
  text: string,
  from: string,
  isWanted: (value: unknown) => boolean,
): Generator<ReadValue> {
  let start = 0;
  while (start < text.length) {
    const end = endOfValue(text, start);
    const value = end === undefined ? undefined : readJson(text.slice(start, end));
    if (end === undefined || value === undefined) break;
    yield { from, value };
    start = end;
    while (/[\s,]/.test(text.charAt(start))) start += 1;
  }
  if (start >= text.length) return;
  const isCut = endOfValue(text, start) === undefined;
  yield { from, problem: isCut ? 'ends in the middle of a JSON value' : 'is not valid JSON' };
  const opening = /\{\s*"/g;
  opening.lastIndex = start + 1;
  let budget = maxScans * text.length;
  for (let found = opening.exec(text); found && budget > 0; found = opening.exec(text)) {
    const end = endOfValue(text, found.index);
    const value = end === undefined ? undefined : readJson(text.slice(found.index, end));
    budget -= (end ?? text.length) - found.index;
    if (value === undefined || !isWanted(value)) continue;
    yield { from, value };
    opening.lastIndex = end ?? text.length;
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
