import { counted } from '../answers/painter.ts';
import { isObject, type JsonObject } from '../values/json.ts';
import type { LocalState } from './store.ts';

/** The outcome of the last check of a whole memory. */
export interface LastCheck {
  /** The commit that was checked out. */
  readonly commit: string;
  readonly errors: number;
  readonly warnings: number;
}

const key = 'last-check';

/** Writes the counts of a check: `1 error, 2 warnings`; empty if there are none. */
export function findingCounts({ errors, warnings }: Omit<LastCheck, 'commit'>): string {
  const words = (count: number, word: string) => (count === 0 ? [] : [counted(count, word)]);
  return [...words(errors, 'error'), ...words(warnings, 'warning')].join(', ');
}

/** Returns the outcome of the last check of this clone, if it was a check of a commit. */
export async function readLastCheck(
  local: LocalState,
  commit: string | undefined,
): Promise<LastCheck | undefined> {
  const found = await local.get(key);
  const { commit: checked, errors, warnings }: JsonObject = isObject(found) ? found : {};
  if (commit === undefined || checked !== commit) return undefined;
  return { commit, errors: Number(errors), warnings: Number(warnings) };
}

/** Keeps the outcome for other processes; without it, a brief does not name it. */
export async function writeLastCheck(local: LocalState, check: LastCheck): Promise<void> {
  const known = await readLastCheck(local, check.commit);
  if (known?.errors === check.errors && known.warnings === check.warnings) return;
  await local.set(key, { ...check }).catch(() => false);
}
