import type { Repository } from '../../git/commit/repository.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import type { Remote } from '../../git/remote/remote.ts';
import { readClaim, sharedClaims } from './claim-file.ts';

/** Makes the shared claims of a clone the same as those of the remote. */
export async function fetchClaims(
  repository: Repository,
  remote: Remote,
  signal: AbortSignal,
): Promise<void> {
  const before = new Map(repository.refs.list(sharedClaims).map(({ ref, oid }) => [ref, oid]));
  const found = await remote.fetchBelow(sharedClaims, onlyClaims, signal);
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
