import { hunksOf } from '../../core/diff/line-diff.ts';
import { linesOf } from '../../core/diff/unified-diff.ts';
import type { FieldChange } from '../../core/memory/commit-log.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { changedFields } from '../../store/history/field-changes.ts';

/** A state of a record, as a copy has it. */
export interface CopiedState {
  readonly type: string;
  readonly toolset: string;
  readonly title: string;
  readonly text: string;
  /** Why it cannot be read as a record; its value is empty then. */
  readonly damaged?: string;
  /** The fields; that of the body is empty. */
  readonly value: JsonObject;
  /** The body of a markdown file, and the name of its field if one has it as it is. */
  readonly body?: string;
  readonly bodyField?: string;
}

/** The changes from a text to an older one: each replaces some lines by a text. */
type Edits = readonly (readonly [start: number, count: number, text: string])[];

/** A state as the difference from the next newer one; `null` where the record did not exist. */
export type PackedState = { readonly text: Edits; readonly about: Edits } | null;

/** A state in two texts: the file, and what is known about it. */
interface Written {
  readonly text: string;
  readonly about: string;
}

/**
 * Packs the states of a record, the newest first.
 *
 * @param base the state that the reader has; undefined for none.
 */
export function packStates(
  base: CopiedState | undefined,
  states: readonly (CopiedState | null)[],
): PackedState[] {
  let newer = written(base);
  return states.map((state) => {
    if (!state) return null;
    const older = written(state);
    const packed = { text: edits(newer.text, older.text), about: edits(newer.about, older.about) };
    newer = older;
    return packed;
  });
}

/** Unpacks the first states of a record, up to one of them. */
export function unpackState(
  base: CopiedState | undefined,
  states: readonly PackedState[],
  place: number,
): CopiedState | undefined {
  let found = written(base);
  for (const state of states.slice(0, place + 1)) {
    if (!state) continue;
    found = { text: applied(found.text, state.text), about: applied(found.about, state.about) };
  }
  if (!states[place]) return undefined;
  const { text } = found;
  const { place: body, ...about } = JSON.parse(found.about);
  if (!body) return { ...about, text };
  const [start, end] = body;
  return { ...about, text, body: text.slice(start, text.length - end) };
}

/** The changes of a record between two states, as the history of the memory lists them. */
export function stateChanges(path: string, old: CopiedState, now: CopiedState): FieldChange[] {
  return changedFields(path, valued(old), valued(now));
}

function valued({ text, damaged, value, body, bodyField }: CopiedState) {
  if (damaged !== undefined) return { text };
  return { text, value: bodyField === undefined ? value : { ...value, [bodyField]: body } };
}

function written(state: CopiedState | undefined): Written {
  if (!state) return { text: '', about: '' };
  const { text, body, ...about } = state;
  const start = body === undefined ? -1 : text.indexOf(body);
  // The body is a part of the text, except where its line ends are others.
  const own = start < 0 ? { body } : { place: [start, text.length - start - (body ?? '').length] };
  return { text, about: `${JSON.stringify({ ...about, ...own }, null, 1)}\n` };
}

function edits(newer: string, older: string): Edits {
  const [now, old] = [linesOf(newer), linesOf(older)];
  return hunksOf(now, old).map(({ start, length, newStart, newLength }) => [
    start,
    length,
    old.slice(newStart, newStart + newLength).join(''),
  ]);
}

function applied(newer: string, all: Edits): string {
  const lines = linesOf(newer);
  const pieces: string[] = [];
  let at = 0;
  for (const [start, count, text] of all) {
    pieces.push(...lines.slice(at, start), text);
    at = start + count;
  }
  return [...pieces, ...lines.slice(at)].join('');
}
