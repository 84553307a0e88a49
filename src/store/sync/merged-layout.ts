import type { FileChange } from '../../git/commit/commit-plan.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import { folderAt } from '../history/last-change.ts';
import { digestOf, type EntryFile } from '../layout/entry-files.ts';
import {
  composeLog,
  type StoredChange,
  type StoredFiles,
  storedChanges,
  toEntries,
  toLogs,
} from '../layout/entry-logs.ts';
import { shownTree, storedFiles } from '../layout/layout-trees.ts';
import { entryFolders, hasEntryFiles, logPaths } from '../layout/log-paths.ts';
import type { Sides } from '../merge/diff3.ts';
import { isSame } from '../merge/merge-file.ts';
import { configPath } from '../records/memory-config.ts';
import { maxFileBytes } from '../records/record-file.ts';

/**
 * The versions of the logs, by their paths, of a merge whose sides store them in different ways.
 *
 * @param stored the files of the memory, which are ours.
 * @returns undefined if all sides have one layout, so that the stored files can be merged.
 */
export function logSides(
  odb: ObjectDatabase,
  folder: string,
  stored: StoredFiles,
  { base, tip }: { readonly base: Oid | undefined; readonly tip: Oid },
): ReadonlyMap<string, Sides<Buffer | undefined>> | undefined {
  const treeOf = (commit: Oid | undefined) => commit && folderAt(odb, commit, folder);
  const isOn = hasEntryFiles(stored.text(configPath));
  const trees = [treeOf(base), treeOf(tip)];
  const others = trees.map((tree) => (tree ? storedFiles(odb, tree) !== undefined : isOn));
  if (others.every((one) => one === isOn)) return undefined;
  const [before, after] = trees.map((tree) => new TreeFolder(odb, shownTree(odb, tree)));
  return new Map(
    logPaths.map((path) => {
      const text = isOn ? composeLog(stored, path) : stored.text(path);
      const ours = text === undefined ? undefined : Buffer.from(text);
      const read = (tree: TreeFolder | undefined) => tree?.read(path, maxFileBytes);
      return [path, { base: read(before), ours, theirs: read(after) }];
    }),
  );
}

/** The changes of our files that give the logs other texts. */
export function toStored(
  work: Pick<ReadFolder, 'read'>,
  folder: string,
  stored: StoredFiles,
  edits: readonly StoredChange[],
): FileChange[] {
  const isOn = hasEntryFiles(stored.text(configPath));
  const session = digestOf(edits.map(({ after }) => after ?? '').join('\n')).slice(0, 8);
  const changes = isOn ? storedChanges(edits, stored, session) : edits;
  return changes.map(({ path, after }) => ({
    path: `${folder}/${path}`,
    bytes: after === undefined ? undefined : Buffer.from(after),
    seen: work.read(`${folder}/${path}`, maxFileBytes),
  }));
}

/**
 * Gives the logs of a merge the layout of its settings: the sides can have different ones.
 *
 * @param work the work tree.
 * @param folder the memory folder, relative to its top.
 * @param stored the files of the memory before the merge.
 * @param changes that the merge makes.
 */
export function inMergedLayout(
  work: Pick<ReadFolder, 'read'>,
  folder: string,
  stored: StoredFiles,
  changes: readonly FileChange[],
): readonly FileChange[] {
  const merged = new MergedFiles(folder, stored, changes);
  const isOn = hasEntryFiles(merged.text(configPath));
  if (!isOn && !hasEntryFiles(stored.text(configPath)) && !merged.bringsEntries) return changes;
  const converted = (isOn ? toEntries(merged, true) : toLogs(merged)).changes;
  const all = new Map(changes.map((change) => [change.path, change]));
  for (const { path: record, after } of converted) {
    const path = `${folder}/${record}`;
    const bytes = after === undefined ? undefined : Buffer.from(after);
    const known = all.get(path);
    all.set(
      path,
      known ? { ...known, bytes } : { path, bytes, seen: work.read(path, maxFileBytes) },
    );
  }
  return [...all.values()].filter(
    ({ bytes, seen }) => !isSame(bytes && Buffer.from(bytes), seen && Buffer.from(seen)),
  );
}

/** The files of the memory as a merge leaves them. */
class MergedFiles implements StoredFiles {
  readonly #stored: StoredFiles;
  readonly #changed = new Map<string, Uint8Array | undefined>();

  constructor(folder: string, stored: StoredFiles, changes: readonly FileChange[]) {
    this.#stored = stored;
    for (const { path, bytes } of changes) {
      if (path.startsWith(`${folder}/`)) this.#changed.set(path.slice(folder.length + 1), bytes);
    }
  }

  /** Whether the other side adds entry files. */
  get bringsEntries(): boolean {
    return [...this.#changed].some(
      ([path, bytes]) => bytes && entryFolders.some((folder) => path.startsWith(`${folder}/`)),
    );
  }

  text(path: string): string | undefined {
    if (!this.#changed.has(path)) return this.#stored.text(path);
    const bytes = this.#changed.get(path);
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  entries(folder: string): readonly EntryFile[] {
    const start = `${folder}/`;
    const found = new Map(this.#stored.entries(folder).map((file) => [file.name, file]));
    for (const [path, bytes] of this.#changed) {
      if (!path.startsWith(start) || !path.endsWith('.md')) continue;
      const name = path.slice(start.length);
      found.delete(name);
      if (bytes) found.set(name, { name, text: Buffer.from(bytes).toString('utf8') });
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
