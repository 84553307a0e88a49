import { isDeepStrictEqual } from 'node:util';
import { annotationMerge } from '../../core/evidence/annotations.ts';
import type { FieldConflict } from '../../core/memory/conflict.ts';
import type { Codec } from '../../core/record/codec.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { textKeys, textParts, withKeys } from '../../core/yaml/text-keys.ts';
import { diff3, type Sides } from './diff3.ts';
import { FieldConflicts, type FieldDecision } from './field-conflicts.ts';
import { mergeFields } from './field-merge.ts';
import { markConflicts, mergeText, type SidedResult, settled } from './line-merge.ts';

/** The parts of a record type that a merge needs. */
export type Mergeable = Pick<AnyRecordType, 'name' | 'codec' | 'merge'>;

type Side = 'ours' | 'theirs';

/** Decisions of single conflicts of a record by the name of the field, and of the other ones. */
export interface FieldDecisions {
  readonly fields: ReadonlyMap<string, FieldDecision>;
  /** Undefined: they are marked. */
  readonly others: Side | undefined;
}

/**
 * How conflicts are handled: marked, with markers of this length, or decided.
 *
 * Git requests markers longer than 7 when it merges the common ancestors of two branches.
 */
export type OnConflict = number | FieldDecisions;

/** The length of conflict markers, unless git requests another one. */
const usualMarkers = 7;

/** The result of merging one file. */
export interface Merged {
  /** The merged text, with conflict markers where there is a conflict; undefined for a deleted file. */
  readonly text: string | undefined;
  readonly conflict: boolean;
  /** Notes for the user: which field conflicts, why it was merged line by line. */
  readonly notes: readonly string[];
  /** The conflicts that are not decided; empty where only the file as a whole can be decided. */
  readonly fields: readonly FieldConflict[];
}

/**
 * Merges three versions of one file; undefined means no file.
 *
 * It never throws. A file that one side deleted and the other changed is a conflict, and keeps the
 * changed version. A text that cannot be decoded as its type is merged line by line.
 *
 * @param type undefined for a file that is not a record: it is merged line by line.
 * @param path relative to `.memory-bank/`.
 */
export function mergeRecord(
  type: Mergeable | undefined,
  path: string,
  { base, ours, theirs }: Sides<string | undefined>,
  onConflict: OnConflict = usualMarkers,
): Merged {
  if (ours === theirs || base === theirs) return whole(ours);
  if (base === ours) return whole(theirs);
  const decisions = typeof onConflict === 'number' ? undefined : onConflict;
  const others = decisions?.others;
  if (ours === undefined || theirs === undefined) {
    if (others) return whole(others === 'ours' ? ours : theirs);
    const notes = ['one side deleted it and the other changed it; the changed version was kept'];
    return { text: ours ?? theirs, conflict: true, notes, fields: [] };
  }
  const outcome = mergeTexts(type, path, { base, ours, theirs }, decisions?.fields);
  const { notes, fields } = outcome;
  if (others) return { text: outcome[others], conflict: false, notes, fields: [] };
  const conflict = outcome.ours !== outcome.theirs;
  const markers = typeof onConflict === 'number' ? onConflict : usualMarkers;
  return { text: markConflicts(outcome, markers), conflict, notes, fields: conflict ? fields : [] };
}

function whole(text: string | undefined): Merged {
  return { text, conflict: false, notes: [], fields: [] };
}

interface NotedOutcome extends SidedResult<string>, Pick<Merged, 'notes' | 'fields'> {}

interface Texts extends Sides<string | undefined> {
  readonly ours: string;
  readonly theirs: string;
}

function mergeTexts(
  type: Mergeable | undefined,
  path: string,
  texts: Texts,
  decisions: FieldDecisions['fields'] | undefined,
): NotedOutcome {
  const { base = '', ours, theirs } = texts;
  const byLines = () => mergeText({ base, ours, theirs });
  if (!type) return { ...byLines(), notes: [], fields: [] };
  try {
    return mergeTyped(type, path, texts, new FieldConflicts(decisions));
  } catch (error) {
    const problem = error instanceof MemoryError ? error.message : String(error);
    const notes = [
      `it was merged line by line, because it is not a valid ${type.name}: ${problem}`,
    ];
    const lines = byLines();
    const reads = (text: string) => isRecord(type, path, text);
    const isBroken = reads(ours) && reads(theirs) && !reads(lines.ours);
    return { ...(isBroken ? { ours, theirs } : lines), notes, fields: [] };
  }
}

/** @throws MemoryError if a text, or the result, cannot be decoded as the type. */
function mergeTyped(
  type: Mergeable,
  path: string,
  texts: Texts,
  conflicts: FieldConflicts,
): NotedOutcome {
  const { codec, merge } = type;
  const base: JsonObject = texts.base === undefined ? {} : codec.decode(texts.base, path);
  const ours: JsonObject = codec.decode(texts.ours, path);
  const theirs: JsonObject = codec.decode(texts.theirs, path);
  const value = mergeFields({ base, ours, theirs }, merge, conflicts);
  const foreign = mergeFields(
    {
      base: texts.base === undefined ? {} : foreignKeys(codec, texts.base, base),
      ours: foreignKeys(codec, texts.ours, ours),
      theirs: foreignKeys(codec, texts.theirs, theirs),
    },
    annotationMerge,
    conflicts,
  );
  const lines = mergeComments(texts);
  const previous = isRecord(type, path, lines) ? lines : texts.ours;
  const text = withKeys(codec.encode(value.ours, previous), foreign.ours);
  const other = withKeys(codec.encode(value.theirs, text), foreign.theirs);
  if (text === other) codec.decode(text, path);
  const names = [value, foreign].flatMap(({ ours, theirs }) =>
    Object.keys(ours).filter((name) => !isDeepStrictEqual(ours[name], theirs[name])),
  );
  const notes = names.map((name) => `both sides changed ${name}`);
  return { ours: text, theirs: other, notes, fields: conflicts.open };
}

/** Merges the comments of the YAML with the lines around them; a body is that of our side. */
function mergeComments({ base = '', ours, theirs }: Texts): string {
  const [before, mine, other] = [base, ours, theirs].map((text) => textParts(text, true));
  if (!before || !mine?.before || !other?.before)
    return mergeText({ base, ours, theirs }, mergeKeys).ours;
  // A line of a body that begins with "#" is a heading.
  const sides = { base: before.yaml, ours: mine.yaml, theirs: other.yaml };
  return mine.before + mergeText(sides, mergeKeys).ours + mine.after;
}

/**
 * Merges the lines of YAML independently of each other, to keep the comments of both sides.
 *
 * Additions of both sides in one place are kept; of lines that both changed, ours are kept.
 */
function mergeKeys(sides: Sides<readonly string[]>): SidedResult<readonly string[]> {
  const lines = diff3(sides, (line) => line, true).flatMap(({ base, ours, theirs, from }) => {
    if (from) return from === 'ours' ? ours : theirs;
    const known = new Set([...base, ...ours]);
    const isKept = (line: string) => base.length === 0 || /^\s*#/.test(line);
    return [...ours, ...theirs.filter((line) => !known.has(line) && isKept(line))];
  });
  return settled(lines);
}

function isRecord({ codec }: Mergeable, path: string, text: string): boolean {
  try {
    codec.decode(text, path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The keys in the YAML of a record that its schema does not know, with their values.
 *
 * Rewriting the record from its value would lose them.
 */
function foreignKeys(codec: Codec<object>, text: string, value: object): JsonObject {
  const written = textKeys(codec.encode(value)).data;
  const { data } = textKeys(text);
  return Object.fromEntries(Object.entries(data).filter(([key]) => !Object.hasOwn(written, key)));
}
