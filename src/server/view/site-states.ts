import { deflateRawSync } from 'node:zlib';
import type { PackedState } from '../../app/exchange/copied-states.ts';
import type { CommitLog } from '../page/answers.ts';

/** The past states of one record, and the part that they belong to. */
export interface StatesOfRecord {
  readonly number: number;
  readonly path: string;
  readonly log: CommitLog;
  readonly states: readonly PackedState[];
}

/** Letters of a packed text for one byte of it. */
const lettersOfByte = 16 / 13;

/**
 * Returns the past states by record in parts by number, as `CopyStates` has them.
 *
 * @param room the number of letters that they may take; the oldest of all states are left out for it.
 */
export function statesWithin(
  all: readonly StatesOfRecord[],
  room: number,
): ReadonlyMap<number, Readonly<Record<string, readonly PackedState[]>>> {
  const sized = all.flatMap(({ path, log, states }) =>
    states.map((state, place) => ({
      path,
      size: JSON.stringify(state).length,
      at: log.entries[place]?.commit.at ?? '',
      place,
    })),
  );
  // A state needs those of its record that are newer, and a record its present state.
  const isOlder = ({ place }: { readonly place: number }) => Number(place > 0);
  sized.sort(
    (a, b) => isOlder(a) - isOlder(b) || (a.at === b.at ? a.place - b.place : a.at < b.at ? 1 : -1),
  );
  let kept = sized.length;
  for (;;) {
    const counts = new Map<string, number>();
    for (const { path } of sized.slice(0, kept)) counts.set(path, (counts.get(path) ?? 0) + 1);
    const parts = new Map<number, Record<string, readonly PackedState[]>>();
    for (const { number, path, states } of all) {
      const part = parts.get(number) ?? {};
      parts.set(number, part);
      part[path] = states.slice(0, counts.get(path) ?? 0);
    }
    const letters = [...parts.values()].reduce((sum, part) => sum + lettersIn(part), 0);
    if (letters <= room || kept === 0) return parts;
    kept = countWithin(sized.slice(0, kept), (0.95 * room) / letters);
  }
}

/** Returns how many of the first states have a share of the size of all. */
function countWithin(states: readonly { readonly size: number }[], share: number): number {
  let left = share * states.reduce((sum, { size }) => sum + size, 0);
  for (const [count, { size }] of states.entries()) {
    left -= size;
    if (left < 0) return count;
  }
  return states.length;
}

function lettersIn(part: object): number {
  return lettersOfByte * deflateRawSync(JSON.stringify(part), { level: 9 }).length;
}
