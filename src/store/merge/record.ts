import { isDeepStrictEqual } from 'node:util';
import { MemoryError } from '../../core/error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import { readYaml } from '../../core/yaml.ts';
import { diff3, type Sides } from './diff3.ts';
import { mergeFields } from './fields.ts';
import { markConflicts, mergeText, type Outcome } from './lines.ts';

/** What a merge has to know of a type. */
export type Mergeable = Pick<AnyRecordType, 'name' | 'codec' | 'merge'>;

/** What became of one file. */
export interface Merged {
  /** The merged text, with conflict markers where there is a conflict; undefined for a deleted file. */
  readonly text: string | undefined;
  readonly conflict: boolean;
  /** What a person should know: which field conflicts, why it was merged line by line. */
  readonly notes: readonly string[];
}

/**
 * Merges three versions of one file; undefined stands for no file.
 *
 * It never throws. Of a file that one side deleted and the other changed, the changed version stays,
 * as a conflict. A text that cannot be read as what it should be is merged line by line.
 *
 * @param type undefined for a file that is no record: it is merged line by line.
 * @param path relative to `.memory-bank/`.
 * @param markerSize of the conflict markers, in characters; git asks for more than 7 when it merges
 *   the common ancestors of two branches.
 */
export function mergeRecord(
  type: Mergeable | undefined,
  path: string,
  { base, ours, theirs }: Sides<string | undefined>,
  markerSize = 7,
): Merged {
  if (ours === theirs || base === theirs) return { text: ours, conflict: false, notes: [] };
  if (base === ours) return { text: theirs, conflict: false, notes: [] };
  if (ours === undefined || theirs === undefined) {
    const notes = ['one side deleted it and the other changed it; the changed version was kept'];
    return { text: ours ?? theirs, conflict: true, notes };
  }
  const { notes, ...outcome } = mergeTexts(type, path, { base, ours, theirs });
  const conflict = outcome.ours !== outcome.theirs;
  return { text: markConflicts(outcome, markerSize), conflict, notes };
}

interface NotedOutcome extends Outcome<string> {
  readonly notes: readonly string[];
}

interface Texts extends Sides<string | undefined> {
  readonly ours: string;
  readonly theirs: string;
}

function mergeTexts(type: Mergeable | undefined, path: string, texts: Texts): NotedOutcome {
  const { base = '', ours, theirs } = texts;
  const byLines = () => mergeText({ base, ours, theirs });
  if (!type) return { ...byLines(), notes: [] };
  try {
    return mergeTyped(type, path, texts);
  } catch (error) {
    const problem = error instanceof MemoryError ? error.message : String(error);
    const notes = [`it was merged line by line, because it is no ${type.name}: ${problem}`];
    const lines = byLines();
    const reads = (text: string) => isRecord(type, path, text);
    const isBroken = reads(ours) && reads(theirs) && !reads(lines.ours);
    return { ...(isBroken ? { ours, theirs } : lines), notes };
  }
}

/** @throws MemoryError when a text, or the result, cannot be read as what it should be. */
function mergeTyped(type: Mergeable, path: string, texts: Texts): NotedOutcome {
  const { codec, merge } = type;
  const base: JsonObject = texts.base === undefined ? {} : codec.decode(texts.base, path);
  const ours: JsonObject = codec.decode(texts.ours, path);
  const theirs: JsonObject = codec.decode(texts.theirs, path);
  const value = mergeFields({ base, ours, theirs }, merge);
  // Comments and keys that no schema knows are merged with the lines that they stand in.
  const lines = mergeText({ ...texts, base: texts.base ?? '' }, mergeKeepingComments);
  const previous = (text: string, side: string) => (isRecord(type, path, text) ? text : side);
  const before = previous(lines.ours, texts.ours);
  const after = previous(lines.theirs, texts.theirs);
  const text = codec.encode(value.ours, before);
  const isForeign = !isDeepStrictEqual(dataOf(text), dataOf(codec.encode(value.ours, after)));
  const other = codec.encode(value.theirs, isForeign ? after : text);
  if (text === other) codec.decode(text, path);
  const names = Object.keys(value.ours).filter(
    (name) => !isDeepStrictEqual(value.ours[name], value.theirs[name]),
  );
  if (isForeign) names.push('a key that this program does not know');
  return { ours: text, theirs: other, notes: names.map((name) => `both sides changed ${name}`) };
}

/** Merges lines; what both sides wrote as comments into one place is kept from both. */
function mergeKeepingComments(sides: Sides<readonly string[]>): Outcome<readonly string[]> {
  const regions = diff3(sides, (line) => line, false);
  const linesFor = (side: 'ours' | 'theirs', other: 'ours' | 'theirs') =>
    regions.flatMap((region) => {
      if (region.from) return region[region.from];
      const known = [...region.base, ...region[side]];
      const isNewComment = (line: string) => /^\s*#/.test(line) && !known.includes(line);
      return [...region[other].filter(isNewComment), ...region[side]];
    });
  return { ours: linesFor('ours', 'theirs'), theirs: linesFor('theirs', 'ours') };
}

/** The YAML of a text: its front matter, or the whole of a text that is a map. */
function dataOf(text: string): JsonObject | undefined {
  const unix = text.replaceAll('\r\n', '\n').replace(/^\ufeff/, '');
  const front = /^---[ \t]*\n(.*?)^---[ \t]*$/ms.exec(unix)?.[1];
  try {
    return readYaml(front ?? unix);
  } catch {
    return undefined;
  }
}

function isRecord({ codec }: Mergeable, path: string, text: string): boolean {
  try {
    codec.decode(text, path);
    return true;
  } catch {
    return false;
  }
}
