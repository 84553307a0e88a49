import type { RecordChange } from '../../core/memory/commit-log.ts';
import type { MemoryPin, PinPreview } from '../../core/memory/pinned-memories.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import { isOid, noObject } from '../../git/objects/object-format.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { pathChanges } from '../history/change-index.ts';
import { describeChange, pairMoves } from '../history/comparison.ts';
import type { MemoryHistory } from '../history/memory-history.ts';
import { Versions } from '../history/versions.ts';
import { checkPin } from '../records/memory-config.ts';
import { addressOf, type Pins, problemOf, short } from './pins.ts';
import { type FetchedMemory, gather, memoryRef, memoryRefs, openReceipt } from './receipt.ts';

/** Limit of lost races for a ref. */
const maxAttempts = 10;

/**
 * Fetches the pinned commits that are not here.
 *
 * @param all the pins; of these, those with the name are fetched.
 * @returns why pins could not be fetched, by name.
 */
export async function fetchPins(
  history: MemoryHistory,
  pins: Pins,
  signal: AbortSignal,
  all: readonly MemoryPin[],
  name: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const wanted = all.filter((pin) => name === undefined || pin.name === name);
  if (wanted.length === 0 && name !== undefined) {
    throw new MemoryError('not_found', `No memory ${JSON.stringify(name)} is pinned.`, {
      hint: '"memory-bank memories" lists them.',
    });
  }
  const failures = new Map<string, string>();
  for (const pin of wanted) {
    if (problemOf(pin, all) !== undefined || typeof pins.open(pin, all) !== 'string') continue;
    try {
      const look = (objects: ObjectDatabase, tip: Oid) => ({
        fetched: gather(objects, tip, pin.folder),
      });
      const { fetched } = await visit(history, pin, pin.commit, look, signal);
      await store(history, pin, fetched, signal);
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'cancelled') throw error;
      failures.set(pin.name, error.text);
    }
  }
  return failures;
}

/** Removes what was fetched of a memory; without a commit, of all its commits. */
export async function forget(
  { repository }: MemoryHistory,
  name: string,
  commit: Oid | undefined,
): Promise<void> {
  const prefix = `${memoryRefs}${name}/${commit ?? ''}`;
  for (const { ref, oid } of repository.refs.list(`${memoryRefs}${name}/`)) {
    if (ref.startsWith(prefix))
      await repository.direct.swapOwnRef({ ref, from: oid, to: undefined });
  }
}

/** Fetches what a pin would bring, and compares it by record with what is pinned. */
export async function previewPin(
  history: MemoryHistory,
  pins: Pins,
  signal: AbortSignal,
  wanted: MemoryPin,
): Promise<PinPreview> {
  checkPin({ ...wanted, commit: wanted.commit || noObject(history.repository.odb.format) });
  const wrong = problemOf(wanted, [wanted]);
  if (wrong !== undefined) throw new MemoryError('invalid_input', wrong);
  await history.memory.refresh();
  const before = pins.present.find(({ name }) => name === wanted.name);
  const old = before && treeOf(history, pins, before);
  const source = wanted.commit === '' ? (wanted.ref ?? 'HEAD') : wanted.commit;
  const look = (objects: ObjectDatabase, tip: Oid) => {
    const fetched = gather(objects, tip, wanted.folder);
    return { fetched, changes: compare(history, objects, old, fetched.tree) };
  };
  const { fetched, changes } = await visit(history, wanted, source, look, signal);
  const { commit, folder } = fetched;
  const pin = { ...wanted, commit, ...(folder !== undefined && { folder }) };
  const problem = before && !old ? `Commit ${short(before)} is not fetched.` : undefined;
  // Last, so that a failed preview keeps nothing.
  await store(history, pin, fetched, signal);
  return { pin, before, changes, problem };
}

/** The memory folder of a pin; undefined if it is not fetched. */
function treeOf({ repository }: MemoryHistory, pins: Pins, pin: MemoryPin): Oid | undefined {
  const receipt = pins.receipt(pin);
  return receipt && openReceipt(repository.odb, receipt, pin)?.tree;
}

function compare(
  history: MemoryHistory,
  objects: ObjectDatabase,
  old: Oid | undefined,
  now: Oid,
): RecordChange[] {
  const versions = new Versions(objects, (path) => history.typeOf(path));
  const changes = pathChanges(objects, old, now).filter(({ path }) => history.typeOf(path));
  return pairMoves(changes, versions).flatMap((move) => describeChange(move, versions));
}

/**
 * Looks at a branch, tag or commit of the repository of a pin.
 *
 * @throws MemoryError `not_found` if the remote does not have it.
 */
async function visit<T extends { readonly fetched: FetchedMemory }>(
  { memory, repository }: MemoryHistory,
  pin: MemoryPin,
  source: string,
  look: (objects: ObjectDatabase, tip: Oid) => T,
  signal: AbortSignal,
): Promise<T> {
  const remote = await repository.remotes.at(
    repository.remotes.address(addressOf(pin), memory.root),
  );
  const found = await remote.visit(source, look, signal);
  if (found && (!isOid(source) || found.fetched.commit === source)) return found;
  if (isOid(source)) throw isGone(pin, source);
  throw new MemoryError('not_found', `${addressOf(pin)} has no branch or tag ${source}.`, {
    hint: 'Nothing was changed.',
  });
}

/** Keeps a fetched memory; another process may do the same. */
async function store(
  { repository }: MemoryHistory,
  pin: MemoryPin,
  { receipt, objects }: FetchedMemory,
  signal: AbortSignal,
): Promise<void> {
  const ref = memoryRef(pin);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const from = repository.refs.resolve(ref);
    if (from === receipt.oid && openReceipt(repository.odb, from, pin) !== undefined) return;
    if (await repository.direct.swapOwnRef({ ref, from, to: receipt.oid }, objects, signal)) return;
  }
  throw new MemoryError('busy', `Other processes change ${ref} all the time.`, {
    hint: 'Try again.',
  });
}

function isGone(pin: MemoryPin, commit: Oid): MemoryError {
  return new MemoryError(
    'not_found',
    `${addressOf(pin)} no longer has commit ${commit.slice(0, 12)}: its history was rewritten, or the pin is wrong.`,
    {
      hint: `"memory-bank memories update ${pin.name}" shows what its branch has now and pins that. Your own memory is not affected.`,
      data: { commit },
    },
  );
}
