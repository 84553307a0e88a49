import type { CommitInfo } from '../../core/memory/commit-log.ts';
import type { Restoration, RestoreOptions } from '../../core/memory/history.ts';
import type { Damaged } from '../../core/memory/listing.ts';
import {
  formatAddress,
  parseAddress,
  type RecordAddress,
} from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import { boundedListing } from '../records/bounded-listing.ts';
import type { LiveRecords } from '../records/live-records.ts';
import type { RecordFile } from '../records/record-file.ts';
import { inSlices, Slice } from '../records/slices.ts';
import type { LiveTransaction } from '../records/transaction.ts';
import { type HistoryReader, isBelow, memoryPath, noRecord } from './history-reader.ts';
import { ancestors, ownChanges } from './lineage.ts';
import { logBelow, stepsOf } from './log-walk.ts';
import type { PastRecords } from './past-records.ts';
import { recordInCommit } from './record-in-commit.ts';
import { lastWithSection, stepsOfSection } from './section-history.ts';
import { type RestoredPaths, restoreSection } from './section-restoration.ts';

/** Restores records, or a section of one, to an earlier state; see `History`. */
export async function restore(
  reader: HistoryReader,
  given: string | undefined,
  revision: string | undefined,
  { removes = false, seen }: RestoreOptions = {},
): Promise<Restoration> {
  const { path: file, section } = parseAddress(given ?? '');
  const path = memoryPath(file);
  const source = await (revision === undefined
    ? lastCommitWith(reader, path, section)
    : reader.resolve(revision));
  const records = reader.history.records(source);
  await records.refresh();
  // Not after the change: an error would say that nothing was restored.
  const commit = await reader.describe(source);
  const { actor, onCommit } = reader.rights;
  let undone: readonly CommitInfo[] = [];
  const { result, made } = await reader.history.memory.change(
    (outcome: RestoredPaths) => ({
      subject: `restore ${nameOf(path, section, outcome)} as of ${source.slice(0, 12)}`,
      trailers: { Restored: source },
    }),
    async (draft) => {
      await draft.refresh();
      if (seen !== undefined) await checkSeen(reader, path, seen);
      const below = { path, section };
      undone = await undoneChanges(reader, source, await reader.resolve('HEAD'), below);
      if (path !== undefined && section !== undefined) {
        return restoreSection(reader, draft, records, { path, section }, source, removes);
      }
      return path !== undefined && reader.history.typeOf(path)
        ? restoreOne(reader, draft, records, path, source, removes)
        : restoreAll(reader, draft, records, path, source);
    },
    reader.access,
    await actor(),
    { caller: reader.rights, alone: true },
  );
  if (made) onCommit(made);
  return { commit, undone, ...result };
}

/**
 * Refuses to replace a state of records that the person has not seen.
 *
 * @param seen the last commit that the person has seen.
 * @throws MemoryError `conflict`.
 */
export async function checkSeen(
  reader: HistoryReader,
  path: string | undefined,
  seen: string,
): Promise<void> {
  const [known, head] = [await reader.resolve(seen), await reader.resolve('HEAD')];
  const [first] = reader.changes(known, head, path);
  if (!first) return;
  throw new MemoryError('conflict', `${first.path} was changed since ${known.slice(0, 12)}.`, {
    hint: 'Nothing was restored. Look at its present state, then try again.',
    data: { path: first.path, seen: known },
  });
}

/** The last commit that has a record, or a section of one, that was removed. */
async function lastCommitWith(
  reader: HistoryReader,
  path: string | undefined,
  section: string | undefined,
): Promise<Oid> {
  const { history } = reader;
  const name = path === undefined ? 'The memory' : formatAddress({ path, section });
  const needed = () =>
    new MemoryError('invalid_input', `${name} was not removed.`, {
      hint: 'To restore an earlier state, give `revision`, such as HEAD~1 or 2026-01-31; record_history lists the commits.',
      issues: [{ path: ['revision'], kind: 'missing', message: 'is required' }],
    });
  if (path === undefined) throw needed();
  const isHere = history.memory.view.read(path) !== undefined;
  if (isHere && section === undefined) throw needed();
  const head = await reader.resolve('HEAD');
  const { index, number } = await reader.indexedCommit(head);
  const changes = () =>
    [...stepsOf(reader, { index, number }, path)]
      .filter(({ origins }) => origins)
      .sort((a, b) => index.compare(a.commit, b.commit));
  if (isHere && section !== undefined) {
    const before = lastWithSection(reader, changes(), section);
    if (!before) throw needed();
    return index.commit(before.commit).oid;
  }
  if (!history.typeOf(path)) {
    const log = await logBelow(reader, { index, number }, path, { limit: 0, skip: 0 });
    if (log) throw needed();
  } else {
    if (history.records(head).oid(path) !== undefined) return head;
    const [last] = changes();
    const before = last?.blob ? last : last?.origins?.find(({ blob }) => blob);
    if (before) return index.commit(before.commit).oid;
  }
  throw new MemoryError('not_found', `No commit of this branch has the record ${path}.`, {
    hint: 'record_history lists the paths that existed. If another branch has it, give that as the revision.',
    data: { path },
  });
}

async function restoreOne(
  reader: HistoryReader,
  draft: LiveTransaction,
  records: PastRecords,
  path: string,
  source: Oid,
  removes: boolean,
): Promise<RestoredPaths> {
  const now = reader.history.memory.view.read(path);
  const file = await recordInCommit(reader, records, path);
  if (!file && removes && now?.key !== undefined) {
    const isRemoved = await draft.remove(now.type, now.key);
    return { restored: [], removed: isRemoved ? [path] : [], damaged: [] };
  }
  if (!file) throw noRecord(path, source);
  if (file.error) throw damagedIn(source, file.error);
  const restored = await restoreFile(draft, records, file, path);
  return { restored, removed: [], damaged: [] };
}

async function restoreAll(
  reader: HistoryReader,
  draft: LiveTransaction,
  records: PastRecords,
  folder: string | undefined,
  source: Oid,
): Promise<RestoredPaths> {
  const { view, types } = reader.history.memory;
  const restored: string[] = [];
  const removed: string[] = [];
  const damaged: Damaged[] = [];
  let known = folder === undefined;
  const { signal } = reader.rights;
  const slice = new Slice();
  const turn = async () => {
    if (slice.isOver) await slice.turn();
    signal.throwIfAborted();
  };
  for (const type of types) {
    const under = partOf(type.folder, folder);
    if (under === undefined) continue;
    const list = async (from: LiveRecords) =>
      (await inSlices(boundedListing(from, type, { under }))).filter(({ path }) =>
        isBelow(path, folder),
      );
    for (const file of await list(records.view)) {
      known = true;
      await turn();
      if (file.error) damaged.push({ path: file.path, error: file.error });
      else if (records.view.shadowedBy(file) === undefined) {
        restored.push(...(await restoreFile(draft, records, file)));
      }
    }
    for (const { path, key, error } of await list(view)) {
      known = true;
      await turn();
      // A damaged file stays as it is; one that was not read is named.
      if (error?.code === 'too_large') damaged.push({ path, error });
      if (key === undefined || records.view.find(type, key)) continue;
      if (await draft.remove(type, key)) removed.push(path);
    }
  }
  if (!known && folder !== undefined) throw noRecord(folder, source);
  return { restored: restored.sort(), removed: removed.sort(), damaged };
}

/** The part of a type's folder that is below another one, relative to the type's; undefined for none. */
function partOf(own: string, folder: string | undefined): string | undefined {
  if (folder === undefined || isBelow(own, folder)) return '';
  if (own === '') return folder;
  return folder.startsWith(`${own}/`) ? folder.slice(own.length + 1) : undefined;
}

/** The error of a record that could not be read in an earlier state either. */
function damagedIn(source: Oid, { code, message, data }: MemoryError): MemoryError {
  return new MemoryError(code, `In commit ${source.slice(0, 12)}, it cannot be read: ${message}`, {
    hint: 'Give an earlier commit; record_history lists them. Nothing was restored.',
    data,
  });
}

/** @param present where the record is now, if it cannot be read there. */
async function restoreFile(
  draft: LiveTransaction,
  records: PastRecords,
  { type, key, path, value }: RecordFile,
  present = path,
): Promise<string[]> {
  const text = records.text(path);
  if (key === undefined || !value || text === undefined) return [];
  const place = await draft.restore({ key, path, value }, type, { text, present });
  return place === undefined ? [] : [place];
}

function nameOf(
  path: string | undefined,
  section: string | undefined,
  { restored, removed }: RestoredPaths,
): string {
  const count = restored.length + removed.length;
  const records = `${count} record${count === 1 ? '' : 's'}`;
  return path === undefined ? `the memory (${records})` : formatAddress({ path, section });
}

/**
 * Lists the commits whose changes a restoration takes back, the newest first.
 *
 * They are in the history of HEAD and not in that of the restored state, and change a record that
 * differs between the two.
 *
 * @param below the record, section or folder that is restored; without a path, all.
 */
async function undoneChanges(
  reader: HistoryReader,
  source: Oid,
  head: Oid,
  { path: below, section }: { readonly path: string | undefined } & Omit<RecordAddress, 'path'>,
): Promise<CommitInfo[]> {
  const paths = new Set(reader.changes(source, head, below).map(({ path }) => path));
  if (paths.size === 0) return [];
  const restored = await reader.indexedCommit(source);
  const { index, number } = await reader.indexedCommit(head);
  const steps = section === undefined ? [] : [...stepsOf(reader, { index, number }, below ?? '')];
  const own =
    section === undefined
      ? undefined
      : new Set(stepsOfSection(reader, steps, section).map(({ commit }) => commit));
  const kept = ancestors(index, restored.number);
  const later = [...ancestors(index, number).entries()].flatMap(([commit, known]) => {
    if (!known || kept[commit] || index.isCut(commit)) return [];
    const isMerge = index.commit(commit).parents.length > 1;
    const changes = isMerge ? [] : ownChanges(index, commit);
    if (own && !own.has(commit)) return [];
    return changes.some(({ path }) => paths.has(path)) ? [commit] : [];
  });
  later.sort((a, b) => index.compare(a, b));
  return Promise.all(later.map((commit) => reader.describe(index.commit(commit).oid)));
}
