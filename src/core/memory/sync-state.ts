import { isObject, type JsonObject } from '../values/json.ts';
import type { LocalState } from './store.ts';

/** The outcome of the last automatic exchange with the remote. */
export interface SyncState {
  /** When the last exchange succeeded; ISO 8601, UTC. */
  readonly at: string | undefined;
  /** Why the exchanges after it failed; undefined if the last one succeeded. */
  readonly problem: string | undefined;
}

const key = 'auto-sync';

/** Returns the outcome of the last automatic exchange of this clone. */
export async function readSyncState(local: LocalState): Promise<SyncState> {
  const found = await local.get(key);
  const { at, problem }: JsonObject = isObject(found) ? found : {};
  return {
    at: typeof at === 'string' ? at : undefined,
    problem: typeof problem === 'string' ? problem : undefined,
  };
}

/** Keeps the outcome for other processes. */
export async function writeSyncState(local: LocalState, { at, problem }: SyncState): Promise<void> {
  await local.set(key, { ...(at && { at }), ...(problem && { problem }) });
}
