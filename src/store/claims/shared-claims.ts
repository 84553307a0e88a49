import type { Repository } from '../../git/commit/repository.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import type { RefsBelow, Remote } from '../../git/remote/remote.ts';
import { readClaim, sharedClaims } from './claim-file.ts';

/** Makes the shared claims of a clone the same as those of the remote. */
export async function fetchClaims(
  repository: Repository,
  remote: Remote,
  signal: AbortSignal,
): Promise<void> {
  const before = claimsOf(repository);
  await takeClaims(repository, before, await remote.fetchBelow(claimRefs, signal));
}

/** The shared claims of a remote, as its refs. */
export const claimRefs: RefsBelow = { prefix: sharedClaims, inspect: onlyClaims };

/** The shared claims that a clone has. */
export function claimsOf({ refs }: Repository): ReadonlyMap<string, Oid> {
  return new Map(refs.list(sharedClaims).map(({ ref, oid }) => [ref, oid]));
}

/**
 * Takes over the shared claims of a remote.
 *
 * @param before those of the clone before they were fetched.
 */
export async function takeClaims(
  repository: Repository,
  before: ReadonlyMap<string, Oid>,
  found: ReadonlyMap<string, Oid>,
): Promise<void> {
  for (const ref of new Set([...before.keys(), ...found.keys()])) {
    const [from, to] = [before.get(ref), found.get(ref)];
    // A ref that has changed meanwhile is newer than what was fetched.
    if (from !== to) await repository.direct.swapOwnRef({ ref, from, to });
  }
}

/** The refs that point to claims; a remote may have anything else there. */
function onlyClaims(objects: ObjectDatabase, refs: ReadonlyMap<string, Oid>): Map<string, Oid> {
  return new Map([...refs].filter(([, oid]) => readClaim(objects, oid)));
}
