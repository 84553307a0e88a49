import type { DirectoryEntry, Stat } from './files.ts';
import { checkSize, isLink, type ReadFolder } from './folder.ts';
import type { Oid } from './object.ts';
import type { ObjectDatabase } from './odb.ts';
import { listTree, type TreeEntry } from './tree.ts';

/** A folder of a commit, read the way a folder on disk is, without a checkout. */
export class TreeFolder implements ReadFolder {
  readonly #odb: ObjectDatabase;
  /** What was read, by path. */
  readonly #folders = new Map<string, ReadonlyMap<string, TreeEntry>>();

  /** @param tree undefined for a folder that the commit does not have. */
  constructor(odb: ObjectDatabase, tree: Oid | undefined) {
    this.#odb = odb;
    this.#folders.set('', tree === undefined ? new Map() : this.#entries(tree));
  }

  /**
   * @throws MemoryError `damaged` when the path leads through a link or ends in one, or when the
   *   object is not in the repository.
   */
  stat(path: string): Stat | undefined {
    return path === '' ? toStat('directory') : this.peek(path);
  }

  peek(path: string): Stat | undefined {
    const entry = this.#entry(path);
    const kind = entry && kindOf(entry);
    if (kind === 'link') throw isLink(path, path);
    return kind && toStat(kind);
  }

  read(path: string, limit: number): Buffer | undefined {
    if (this.stat(path)?.kind !== 'file') return undefined;
    const bytes = this.#odb.content(this.oid(path) ?? '', 'blob');
    checkSize(path, bytes.length, limit);
    return bytes;
  }

  list(path: string): DirectoryEntry[] | undefined {
    const entries = this.#folder(path);
    return entries && [...entries].map(([name, entry]) => ({ name, kind: kindOf(entry) }));
  }

  /** The id of the file or folder at a path. */
  oid(path: string): Oid | undefined {
    return this.#entry(path)?.oid;
  }

  #entry(path: string): TreeEntry | undefined {
    const slash = path.lastIndexOf('/');
    return this.#folder(path.slice(0, Math.max(0, slash)))?.get(path.slice(slash + 1));
  }

  #folder(path: string): ReadonlyMap<string, TreeEntry> | undefined {
    const known = this.#folders.get(path);
    if (known) return known;
    const entry = this.#entry(path);
    if (!entry) return undefined;
    const kind = kindOf(entry);
    if (kind === 'link') throw isLink(path, path);
    if (kind !== 'directory') return undefined;
    const entries = this.#entries(entry.oid);
    this.#folders.set(path, entries);
    return entries;
  }

  #entries(tree: Oid): ReadonlyMap<string, TreeEntry> {
    const entries = listTree(this.#odb.content(tree, 'tree'));
    return new Map(entries.map((entry) => [entry.name, entry]));
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

/** A commit never changes, so that all there is to know of its files is what they are. */
function toStat(kind: Stat['kind']): Stat {
  return { kind, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, mode: 0, links: 1 };
}
