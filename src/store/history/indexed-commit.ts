import type { Confirmed } from '../../core/memory/store.ts';
import type { Oid } from '../../git/objects/object.ts';
import { ChangeList } from './change-list.ts';

/** Facts about a commit that never change. */
export interface Indexed {
  readonly oid: Oid;
  /** Committer's time, in seconds. */
  readonly time: number;
  /** Numbers of commits, all of them smaller than its own. */
  readonly parents: readonly number[];
  /** For each parent, or for the empty tree before a root. */
  readonly changes: readonly ChangeList[];
  /** The texts that a person confirmed with it. */
  readonly confirms: readonly Confirmed[];
  /** The stored tree of the memory, if it shows its logs otherwise than they are stored. */
  readonly stored: Oid | undefined;
}

/** The line of a commit in the file of the index, as a JSON value. */
export function toLine({ oid, time, parents, changes, confirms, stored }: Indexed): unknown {
  const texts = confirms.map(({ text, address }) => [text, address]);
  const rest = stored !== undefined ? [texts, stored] : texts.length > 0 ? [texts] : [];
  return [oid, time, parents, changes, ...rest];
}

/** Reads the line of a commit with this number; undefined if it has another form. */
export function toCommit(value: unknown, number: number): Indexed | undefined {
  if (!Array.isArray(value) || value.length < 4 || value.length > 6) return undefined;
  const [oid, time, parents, lists, texts = [], stored] = value;
  if (stored !== undefined && typeof stored !== 'string') return undefined;
  if (typeof oid !== 'string' || !Number.isInteger(time)) return undefined;
  if (!Array.isArray(parents) || !Array.isArray(lists)) return undefined;
  if (!parents.every((parent) => Number.isInteger(parent) && parent < number)) return undefined;
  const changes = lists.flatMap((list) => ChangeList.read(list) ?? []);
  if (changes.length !== lists.length || lists.length !== Math.max(1, parents.length))
    return undefined;
  const confirms = toConfirmed(texts);
  return confirms && { oid, time, parents, changes, confirms, stored };
}

function toConfirmed(value: unknown): readonly Confirmed[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.flatMap((one: unknown) => {
    const [text, address] = Array.isArray(one) ? one : [];
    return typeof text === 'string' && typeof address === 'string' ? [{ text, address }] : [];
  });
  return found.length === value.length ? found : undefined;
}
