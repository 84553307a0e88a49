import { isObject, type JsonObject } from '../values/json.ts';
import type { LocalState } from './store.ts';

/** The outcome of the last automatic exchange with the remote. */
export interface SyncState {
  /** When the last exchange succeeded; ISO 8601, UTC. */
  readonly at: string | undefined;
  /** When the last exchange ended or was given up; ISO 8601, UTC. */
  readonly tried: string | undefined;
  /** Why the exchanges after it failed; undefined if the last one succeeded. */
  readonly problem: string | undefined;
}

/** The state of a clone without an automatic exchange. */
export const noSyncState: SyncState = { at: undefined, tried: undefined, problem: undefined };

const key = 'auto-sync';

/** Returns the outcome of the last automatic exchange of this clone. */
export async function readSyncState(local: LocalState): Promise<SyncState> {
  const found = await local.get(key);
  const { at, tried, problem }: JsonObject = isObject(found) ? found : {};
  return {
    at: typeof at === 'string' ? at : undefined,
    tried: typeof tried === 'string' ? tried : undefined,
    problem: typeof problem === 'string' ? problem : undefined,
  };
}

/** Whether a time of the state is less than some milliseconds ago. */
export function isWithin(time: string | undefined, now: Date, milliseconds: number): boolean {
  return time !== undefined && Math.abs(now.getTime() - Date.parse(time)) < milliseconds;
}

/** Keeps the outcome for other processes. */
export async function writeSyncState(local: LocalState, state: SyncState): Promise<void> {
  const { at, tried, problem } = state;
  await local.set(key, {
    ...(at && { at }),
    ...(tried && { tried }),
    ...(problem && { problem }),
  });
}
