import { isDeepStrictEqual } from 'node:util';
import type { RecordDoubts, TypedRecord } from '../../core/memory/store.ts';
import { searchedFields } from '../../core/record/searched-fields.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import { configPath } from '../../store/records/memory-config.ts';
import { positionIn } from '../../store/records/owned-paths.ts';
import { inSlices } from '../../store/records/slices.ts';
import { toStoredText } from '../../store/search/encoded-text.ts';
import type { StoredText } from '../../store/search/stored-index.ts';
import type { FilesState, QuickMemory } from '../../store/session/quick-memory.ts';
import type { DamagedRecord } from '../../toolsets/brief/attention-lines.ts';
import { BranchRelevance, relevanceKeys } from '../../toolsets/brief/branch-relevance.ts';
import { type ContextSource, pointsOf } from '../../toolsets/brief/context-source.ts';
import { maxQuoted } from '../../toolsets/brief/layout.ts';
import { recordPassages } from '../../toolsets/brief/record-passages.ts';
import { checkedPaths, type LocatedPoint } from '../../toolsets/brief/session-brief.ts';
import { BriefDigest } from './brief-digest.ts';
import {
  type ChangedFile,
  changedFiles,
  type DigestInput,
  hasStat,
  isRecent,
  mostChanges,
} from './changed-files.ts';
import { DigestBase } from './digest-base.ts';
import { DigestDates, EarlierDigest } from './digest-dates.ts';
import { encodeBase, writeBase } from './digest-encoding.ts';
import type { DigestFacts } from './digest-facts.ts';
import {
  type DigestRecent,
  type RecentChanges,
  type RecentRecord,
  readRecent,
  writeRecent,
} from './digest-recent.ts';
import { type DigestRecord, noteOf, storedDoubts } from './digest-record.ts';
import { fewFiles } from './digest-turn.ts';
import { dateAt, placeOfSection, type RecordDates } from './record-dates.ts';

export const maxFiles = 50_000;
/** Limit of the last changes. */
const maxChanges = 50;
/** A larger memory has no digest, in bytes: its files cannot all be in one list. */
export const maxMemory = 64 * 1024 * 1024;
/** Time in which the doubts about records are collected for prompts, in milliseconds. */
const maxChecking = 1_000;
const checkedAtOnce = 200;
/** Limit of the records of the base that are compared again because another record has changed. */
const maxDependents = 100;

/** A state of a memory that is stored as the changes since a base. */
interface RecentState {
  readonly memory: QuickMemory;
  readonly base: DigestBase;
  /** The changes that were stored before. */
  readonly before: DigestRecent | undefined;
  readonly head: string;
  readonly changes: RecentChanges;
  readonly damaged: readonly DamagedRecord[];
  /** Whether the files are as they were when they were read. */
  isStill(): boolean;
}

/**
 * Stores what has changed since the base was stored, or a new base if there is none or too much has changed.
 *
 * It stores nothing if the memory changes meanwhile or has just changed.
 *
 * @param isUnfit whether the present base is not good enough.
 * @param leavesLarge whether a new base of a large memory is left to another process.
 * @returns false if it is left.
 */
export async function writeDigest(
  memory: QuickMemory,
  input: DigestInput,
  isUnfit: boolean,
  leavesLarge: boolean,
): Promise<boolean> {
  const base = DigestBase.read(memory);
  if (!isUnfit && base && (await storeChanges(memory, base, input))) return true;
  if (leavesLarge && memory.filesState(fewFiles) === undefined) return false;
  const isKnown = base?.isWhole === true;
  const earlier = isKnown ? new EarlierDigest(base, readRecent(memory, base.id)) : undefined;
  await storeBase(memory, input, earlier);
  return true;
}

/** Stores what has changed since a base was stored; returns false if that is too much, or the base is damaged. */
async function storeChanges(
  memory: QuickMemory,
  base: DigestBase,
  input: DigestInput,
): Promise<boolean> {
  try {
    return await tryToStoreChanges(memory, base, input);
  } catch (error) {
    if (base.isWhole) throw error;
    return false;
  }
}

async function tryToStoreChanges(
  memory: QuickMemory,
  base: DigestBase,
  input: DigestInput,
): Promise<boolean> {
  const head = memory.head().oid;
  const before = readRecent(memory, base.id);
  const earlier = new EarlierDigest(base, before);
  const paths = before?.changes.files.map(({ path }) => path) ?? [];
  const damaged = await input.source.damage();
  const twins = [...base.facts.twins, ...twinsIn(damaged)];
  const files = await changedFiles(memory, base, input.states, paths, twins);
  if (!files || head === undefined) return false;
  // A file that was changed just now will be looked at again after its next change.
  if (isRecent(files.flatMap(({ stat }) => stat ?? []))) return true;
  const dates = new DigestDates(memory, input.source, earlier, head);
  const changes = await changesOf(earlier, files, dates, input);
  if (!changes) return false;
  const isStill = () => files.every(({ path, stat }) => hasStat(stat, memory.look(path)?.stat));
  await storeRecent({ memory, base, before, head, changes, damaged, isStill }, input);
  return true;
}

/** Reads what the files that have changed since a base was stored say; undefined for too many changes. */
async function changesOf(
  { base, recent }: EarlierDigest,
  files: readonly ChangedFile[],
  dating: DigestDates,
  { source, states }: DigestInput,
): Promise<RecentChanges | undefined> {
  const paths = files.map(({ path }) => path);
  const present = files.flatMap(({ path, stat }) => (stat ? [path] : []));
  const counted = new Map((await states.readAt(present)).map((one) => [one.path, one]));
  const own = new Set(paths);
  const touched = touchedInBase(base, recent, dating)?.filter((path) => !own.has(path));
  if (!touched) return undefined;
  const dependents = base.dependents(paths).filter((path) => !own.has(path));
  const compared = [...counted.keys(), ...dependents.slice(0, maxDependents)];
  const doubts = await source.doubts(compared);
  const notes = dependents.map((path) => {
    const one = doubts.get(path);
    return [path, one ? noteOf(one) : null] as const;
  });
  const read = files.flatMap(({ path, stat }) => {
    const record = counted.get(path);
    return record ? [{ path, stat, record, text: textOf(record) }] : [];
  });
  const dates = await dating.of(read);
  const records = new Map(
    read.map(({ path, record, text }) => {
      return [path, recentRecord(record, text, doubts.get(path), dates.get(path))];
    }),
  );
  const others = touched.flatMap((path) => {
    const text = base.recordOn(path)?.text;
    return text ? [{ path, text, stat: base.statOf(path) }] : [];
  });
  return {
    files: files.map(({ path, stat }) => ({ path, stat, record: records.get(path) ?? null })),
    notes,
    dates: [...(await dating.of(others))],
  };
}

/** The records that commits have touched since a base was stored; undefined for too many of them. */
function touchedInBase(
  base: DigestBase,
  recent: DigestRecent | undefined,
  { touched }: DigestDates,
): string[] | undefined {
  const before = recent?.changes.dates.map(([path]) => path) ?? [];
  const found = touched && new Set([...before, ...touched.touches.keys()]);
  return !found || found.size > 2 * mostChanges(base) ? undefined : [...found];
}

/** Stores what has changed since a base was stored, and the facts of now. */
async function storeRecent(state: RecentState, { source, tools }: DigestInput): Promise<void> {
  const { memory, base, head, changes, damaged } = state;
  const foreignRefs = await source.foreignRefs();
  const facts: Omit<DigestFacts, 'doubts'> = {
    head,
    lastChange: memory.lastChange() ?? '',
    damaged,
    isStopped: await source.isStopped(),
    syncs: await source.syncs(),
    foreignRefs,
    foreign: foreignOf(state, foreignRefs) ?? (await source.foreign()),
    changes: await lastChanges(state, source),
    tools,
  };
  const digest = new BriefDigest(memory, base, { facts: { ...facts, doubts: [] }, changes });
  const { name, work } = await source.branch();
  const checked = checkedPaths(digest.points(new BranchRelevance(name, work)));
  const doubts = [...(await source.doubts(checked))].map(([path, one]) => {
    return [path, storedDoubts(one)] as const;
  });
  if (!state.isStill() || memory.head().oid !== head) return;
  await writeRecent(memory, base.id, { facts: { ...facts, doubts }, changes });
}

/** The lines about memories of others, if these and the settings are as they were before. */
function foreignOf(
  { memory, base, before }: RecentState,
  refs: DigestFacts['foreignRefs'],
): DigestFacts['foreign'] | undefined {
  if (!before || !isDeepStrictEqual(before.facts.foreignRefs, refs)) return undefined;
  const stat = memory.look(configPath)?.stat;
  const changed = before.changes.files.find(({ path }) => path === configPath);
  const known = changed ? changed.stat : base.statOf(configPath);
  return hasStat(known, stat) ? before.facts.foreign : undefined;
}

/** The last changes: those before the new commits are known. */
async function lastChanges(
  { memory, before }: RecentState,
  source: ContextSource,
): Promise<DigestFacts['changes']> {
  const added = before && memory.commitsSince(before.facts.head);
  if (!before || added === undefined || before.facts.changes.length === 0) return source.changes();
  if (added === 0) return before.facts.changes;
  const { changes } = before.facts;
  const known = new Set(changes.map(({ oid }) => oid));
  // Not each commit changes the memory: the log goes on with those before them.
  const newest = (await source.changes(added)).filter(({ oid }) => !known.has(oid));
  return [...newest, ...changes].slice(0, maxChanges);
}

/** Stores a base of all records, and the facts of now. */
async function storeBase(
  memory: QuickMemory,
  input: DigestInput,
  earlier: EarlierDigest | undefined,
): Promise<void> {
  const { source, states } = input;
  const head = memory.head().oid;
  const state = head === undefined ? undefined : memory.filesState(maxFiles);
  if (!state || head === undefined) return;
  if (isRecent(state.stats) || sizeOf(state.stats) > maxMemory) return;
  if ((await states.count()) > maxFiles) return;
  const { records, damaged } = await source.listing();
  const isStill = () => memory.hasFiles(state.paths, state.stats);
  // The newest records first: a brief reads them, and finds them next to each other.
  const found = records
    .map((record) => ({
      record,
      path: record.path,
      points: pointsOf(record),
      text: textOf(record),
    }))
    .sort((a, b) => newest(b.points) - newest(a.points));
  const paths = found.map(({ path }) => path);
  const doubts = await doubtsOf(paths, source);
  const dating = new DigestDates(memory, source, earlier, head);
  const dates = await dating.of(found.map((one) => ({ ...one, stat: statIn(state, one.path) })));
  const stored = found.map(({ record, path, points, text }): DigestRecord => {
    const known = doubts.get(path);
    // It takes long for many records, so the caller divides it.
    const passages = () => recordPassages(record, known?.evidence ?? []);
    const [note, links] = [noteOf(known), known?.records ?? []];
    return { path, points, passages, text, note, links, dates: dates.get(path) ?? [] };
  });
  const facts = { head, twins: twinsIn(damaged) };
  const encoded = await inSlices(encodeBase(state, stored, facts));
  if (!isStill() || memory.head().oid !== head) return;
  const id = await writeBase(memory, encoded);
  const base = DigestBase.read(memory);
  // Another process may have replaced it by that of another state.
  if (!base || base.id !== id) return;
  const changes = { files: [], notes: [], dates: [] };
  await storeRecent({ memory, base, before: undefined, head, changes, damaged, isStill }, input);
  await states.saveIndex();
}

/** The paths of the files that do not count because of another one of the same key, and of those. */
function twinsIn(damaged: readonly DamagedRecord[]): string[] {
  return damaged.flatMap(({ path, twin }) => (twin === undefined ? [] : [path, twin]));
}

/** The doubts about records, as far as there is time. */
export async function doubtsOf(
  paths: readonly string[],
  source: ContextSource,
): Promise<ReadonlyMap<string, RecordDoubts>> {
  const found = new Map<string, RecordDoubts>();
  const begun = Date.now();
  for (let at = 0; at < paths.length && Date.now() - begun < maxChecking; at += checkedAtOnce) {
    const some = paths.slice(at, at + checkedAtOnce);
    for (const [path, doubts] of await source.doubts(some)) found.set(path, doubts);
    // A server answers other calls meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

function textOf({ type, value }: TypedRecord): StoredText {
  return toStoredText(searchedFields(type, value));
}

function recentRecord(
  record: TypedRecord,
  text: StoredText,
  doubts: RecordDoubts | undefined,
  dates: RecordDates = [],
): RecentRecord {
  const shortened = pointsOf(record).map((point) => {
    const { names: _, section, ...rest } = point;
    const changed = dateAt(dates, placeOfSection(text, section));
    const keys = relevanceKeys(point);
    return { ...rest, text: point.text.slice(0, maxQuoted), keys, ...(changed && { changed }) };
  });
  const passages = recordPassages(record, doubts?.evidence ?? []);
  return { text, note: noteOf(doubts), dates, passages, points: shortened };
}

/** The `statNumbers` of a path. */
function statIn({ paths, stats }: FilesState, path: string): ArrayLike<number> | undefined {
  const at = positionIn(paths, path);
  return paths[at] === path ? stats.subarray(statSize * at, statSize * (at + 1)) : undefined;
}

/** The time of the newest statement, as Unix time; 0 for none. */
function newest(points: readonly LocatedPoint[]): number {
  return points.reduce((time, { at = '' }) => Math.max(time, Date.parse(at) || 0), 0);
}

/** The total size of files, in bytes. */
function sizeOf(stats: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < stats.length; at += statSize) sum += stats[at] ?? 0;
  return sum;
}
