import type { CopiedState } from '../../app/exchange/copied-states.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { PastRecord } from '../../core/memory/history.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { CommitLog } from '../page/answers.ts';
import { titleOf } from './record-source.ts';

/** Limit of the texts of all states of one record, in UTF-16 code units. */
const maxLetters = 16 * 1024 * 1024;

/** Returns the states of a record after its commits, the newest first: as many as fit. */
export async function pastStates(
  { history, signal }: Context,
  path: string,
  { entries }: CommitLog,
): Promise<(CopiedState | null)[]> {
  const states: (CopiedState | null)[] = [];
  let letters = 0;
  for (const { commit } of entries) {
    signal.throwIfAborted();
    const state = await stateAt(history, path, commit.oid);
    letters += state?.text.length ?? 0;
    if (letters > maxLetters) break;
    states.push(state);
  }
  return states;
}

/** Reads the record at a path in a commit; `null` if there is none. */
async function stateAt(
  history: Context['history'],
  path: string,
  oid: string,
): Promise<CopiedState | null> {
  try {
    return copiedState(await (await history.at(oid)).read(path));
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    if (error.code === 'not_found') return null;
    // A file that is not text, or too large.
    return { type: '', toolset: '', title: path, text: '', damaged: error.text, value: {} };
  }
}

function copiedState({
  type,
  path,
  text,
  value,
  error,
}: PastRecord & { readonly text: string }): CopiedState {
  const kind = { type: type.name, toolset: type.toolset };
  if (!value || !isObject(value)) {
    return { ...kind, title: path, text, damaged: error?.text ?? 'It has no fields.', value: {} };
  }
  const body = path.endsWith('.md') ? type.search(value).body : undefined;
  const [bodyField] =
    Object.entries(value).find(([, one]) => one === body && body !== undefined) ?? [];
  const fields = Object.entries(value).map(([name, one]) => [name, name === bodyField ? '' : one]);
  return {
    ...kind,
    title: titleOf(type, value, path),
    text,
    // A codec decodes JSON values.
    value: Object.fromEntries(fields) as JsonObject,
    ...(body !== undefined && { body }),
    ...(bodyField !== undefined && { bodyField }),
  };
}
