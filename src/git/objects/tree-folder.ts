import { type DirectoryEntry, type LoadedFile, type Stat, sameStat } from '../disk/file-layer.ts';
import { checkSize, folderOf, isLink, type ReadFolder } from '../disk/folder.ts';
import type { Oid } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { findEntry, listTree, type TreeEntry } from './tree.ts';

/** A folder is listed after this number of entries that were searched for in it one by one. */
const fewEntries = 16;

/** Reads a folder of a commit like a folder on disk, without a checkout. */
export class TreeFolder implements ReadFolder {
  readonly #odb: ObjectDatabase;
  readonly #tree: Oid | undefined;
  /** Entries of the listed folders, by path: a caller that lists a folder reads all of it. */
  readonly #listed = new Map<string, ReadonlyMap<string, TreeEntry>>();
  /** The number of entries that were searched for in each of the other folders. */
  readonly #sought = new Map<string, number>();

  /** @param tree undefined for a folder that the commit does not have. */
  constructor(odb: ObjectDatabase, tree: Oid | undefined) {
    this.#odb = odb;
    this.#tree = tree;
  }

  /**
   * @throws MemoryError `damaged` when the path leads through a link or ends in one, or when the
   *   object is not in the repository.
   */
  stat(path: string): Stat | undefined {
    return path === '' ? toStat('directory', 0) : this.peek(path);
  }

  peek(path: string): Stat | undefined {
    const entry = this.#entry(path);
    const kind = entry && kindOf(entry);
    if (kind === 'link') throw isLink(path, path);
    return kind && toStat(kind, kind === 'file' ? this.#odb.size(entry.oid) : 0);
  }

  has(path: string, stat: Stat): boolean {
    return sameStat(this.peek(path), stat);
  }

  read(path: string, limit: number, stat = this.stat(path)): Buffer | undefined {
    if (stat?.kind !== 'file') return undefined;
    checkSize(path, stat.size, limit);
    return this.#odb.content(this.oid(path) ?? '', 'blob');
  }

  load(path: string): LoadedFile | undefined {
    const stat = this.peek(path);
    return stat && { stat };
  }

  list(path: string): DirectoryEntry[] | undefined {
    const tree = this.#folder(path);
    const entries = tree && [...this.#listing(path, tree)];
    return entries?.map(([name, entry]) => ({ name, kind: kindOf(entry) }));
  }

  #listing(path: string, tree: Buffer): ReadonlyMap<string, TreeEntry> {
    const entries = listTree(tree, this.#odb.format);
    const listed = new Map(entries.map(({ name, ...entry }) => [name, entry]));
    this.#listed.set(path, listed);
    return listed;
  }

  /** The id of the file or folder at a path. */
  oid(path: string): Oid | undefined {
    return this.#entry(path)?.oid;
  }

  #entry(path: string): TreeEntry | undefined {
    const folder = folderOf(path);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const listed = this.#listed.get(folder);
    if (listed) return listed.get(name);
    const tree = this.#folder(folder);
    const sought = (this.#sought.get(folder) ?? 0) + 1;
    this.#sought.set(folder, sought);
    if (tree && sought > fewEntries) return this.#listing(folder, tree).get(name);
    return tree && findEntry(tree, name, this.#odb.format);
  }

  #folder(path: string): Buffer | undefined {
    const oid = path === '' ? this.#tree : this.#subfolder(path);
    return oid === undefined ? undefined : this.#odb.content(oid, 'tree');
  }

  #subfolder(path: string): Oid | undefined {
    const entry = this.#entry(path);
    const kind = entry && kindOf(entry);
    if (kind === 'link') throw isLink(path, path);
    return kind === 'directory' ? entry?.oid : undefined;
  }
}

/** The kinds of file by the leading digits of their mode. */
const kinds: readonly (readonly [mode: string, kind: Stat['kind']])[] = [
  ['40', 'directory'],
  ['100', 'file'],
  ['120', 'link'],
];

function kindOf({ mode }: TreeEntry): Stat['kind'] {
  return kinds.find(([digits]) => mode.startsWith(digits))?.[1] ?? 'other';
}

/** The stat of a file or folder in a commit; it never changes, so only kind and size matter. */
function toStat(kind: Stat['kind'], size: number): Stat {
  return { kind, size, mtimeMs: 0, ctimeMs: 0, ino: 0, mode: 0, links: 1 };
}
