import type { RecordStates } from '../../core/memory/store.ts';
import { statSize } from '../../git/disk/file-layer.ts';
import { logAt, logsOf } from '../../store/layout/log-paths.ts';
import type { QuickMemory } from '../../store/session/quick-memory.ts';
import type { ContextSource } from '../../toolsets/brief/context-source.ts';
import type { DigestBase } from './digest-base.ts';
import type { DigestFacts } from './digest-facts.ts';

/** A base is stored again when more files than this have changed, and a share of all. */
const fewChanges = 32;
const changedShare = 1 / 64;
/** Age from which a file that is changed again certainly gets another time, in milliseconds. */
const settled = 50;

/** The sources of a digest. */
export interface DigestInput {
  readonly source: ContextSource;
  readonly states: RecordStates;
  readonly tools: DigestFacts['tools'];
}

/** A file or folder that is not as a base has it. */
export interface ChangedFile {
  readonly path: string;
  /** Its `statNumbers`; null for one that is gone. */
  readonly stat: readonly number[] | null;
}

/**
 * Finds the files that are not as a base has them, sorted by path; undefined for too many.
 *
 * It looks at the disk only where the records of the server differ from the base. Any other changed file
 * keeps its old stat, so that a reader notices it.
 *
 * @param before paths that were found to differ before.
 * @param twins paths of files of one key: another one may count now, although it is unchanged.
 */
export async function changedFiles(
  memory: QuickMemory,
  base: DigestBase,
  states: RecordStates,
  before: readonly string[],
  twins: readonly string[],
): Promise<ChangedFile[] | undefined> {
  const most = mostChanges(base);
  const isKnown = (path: string, stat: readonly number[]) => hasStat(base.statOf(path), stat);
  const changed = await states.changedFiles(base.id, isKnown);
  if (changed.length > most) return undefined;
  const found = new Map<string, ChangedFile>();
  const looked = new Set<string>();
  const kept = new Set(twins);
  const wanted = [...changed, ...before, ...twins].flatMap((path) => [
    path,
    ...foldersOf(path),
    ...partsOf(base, path),
  ]);
  for (const path of wanted) {
    if (looked.has(path)) continue;
    looked.add(path);
    const seen = memory.look(path);
    const isSame = hasStat(base.statOf(path), seen?.stat);
    if (isSame && !kept.has(path)) continue;
    found.set(path, { path, stat: seen?.stat ?? null });
    if (found.size > most) return undefined;
    if (!seen) wanted.push(...base.below(path));
    else if (!isSame && seen.names) wanted.push(...otherNames(base, path, seen.names));
  }
  // A log is another text as soon as one of its files is.
  for (const log of [...found.keys()].flatMap(logsOf)) {
    if (!found.has(log)) found.set(log, { path: log, stat: memory.look(log)?.stat ?? null });
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The files that a path can be composed of, in any layout. */
function partsOf(base: DigestBase, path: string): readonly string[] {
  const { folder, files } = logAt(path) ?? {};
  return folder === undefined ? [] : [...(files ?? []), folder, ...base.below(folder)];
}

/** The number of changes from which on a base is stored again. */
export function mostChanges({ size }: DigestBase): number {
  return fewChanges + changedShare * size;
}

/** The paths in a folder that are new, or gone. */
function otherNames(base: DigestBase, folder: string, names: readonly string[]): string[] {
  const children = new Set(names.map((name) => (folder === '' ? name : `${folder}/${name}`)));
  const known = new Set(base.childrenOf(folder));
  const added = [...children].filter((path) => !known.has(path));
  return [...added, ...[...known].filter((path) => !children.has(path))];
}

/** Whether one of some files was changed so recently that it could change again without another stat. */
export function isRecent(stats: ArrayLike<number>): boolean {
  const since = Date.now() - settled;
  for (let at = 0; at < stats.length; at += statSize) {
    if ((stats[at + 1] ?? 0) > since || (stats[at + 2] ?? 0) > since) return true;
  }
  return false;
}

/** Whether a file has the stat that it had; neither has one if it is missing. */
export function hasStat(
  before: ArrayLike<number> | null | undefined,
  now: readonly number[] | undefined,
): boolean {
  if (!before || !now) return !before && !now;
  return now.every((number, at) => number === before[at]);
}

/** The folders that a path is in, with the memory folder. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    folders.push(path.slice(0, end));
  }
  return path === '' ? folders : [...folders, ''];
}
