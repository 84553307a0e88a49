import { isUtf8 } from 'node:buffer';
import { type Oid, objectId } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import {
  findEntry,
  folderMode,
  listTree,
  spliceTree,
  type TreeEntry,
} from '../../git/objects/tree.ts';
import type { EntryFile } from './entry-files.ts';
import { composeLog, type StoredFiles } from './entry-logs.ts';
import { entryFolders, hasEntryFiles, isEntryName, logPaths, maxEntryDepth } from './log-paths.ts';

/** Limit of the texts that stay in memory, in UTF-16 code units. */
const maxKept = 32 * 1024 * 1024;
const fileMode = '100644';
/** The place of the settings; records/memory-config.ts declares them. */
const settings = 'config.yaml';

const known = new WeakMap<ObjectDatabase, LayoutTrees>();

/**
 * Returns a tree that shows a memory folder as if its logs were single files.
 *
 * The tree and the logs have the ids that git would give them, so a conversion changes none of them. They are
 * computed when they are read, and never stored.
 */
export function shownTree(odb: ObjectDatabase, tree: Oid | undefined): Oid | undefined {
  return tree === undefined ? undefined : treesOf(odb).shown(tree);
}

/** The files of a memory in a tree as they are stored; undefined if it shows them as they are. */
export function storedFiles(odb: ObjectDatabase, tree: Oid | undefined): StoredFiles | undefined {
  return tree === undefined ? undefined : treesOf(odb).stored(tree);
}

/** Makes the logs of a stored tree readable by their ids, which an index has kept. */
export function showLogs(
  odb: ObjectDatabase,
  tree: Oid,
  logs: readonly (readonly [path: string, oid: Oid])[],
): void {
  const trees = treesOf(odb);
  for (const [path, oid] of logs) {
    if (logPaths.includes(path)) odb.derive(oid, 'blob', () => trees.log(tree, path));
  }
}

function treesOf(odb: ObjectDatabase): LayoutTrees {
  const found = known.get(odb) ?? new LayoutTrees(odb);
  known.set(odb, found);
  return found;
}

class LayoutTrees {
  readonly #odb: ObjectDatabase;
  readonly #shown = new Map<Oid, Oid>();
  /** Whether settings choose entry files, by blob. */
  readonly #choices = new Map<Oid, boolean>();
  /** The entry files by blob and name. */
  readonly #files = new Map<string, EntryFile>();
  #kept = 0;

  constructor(odb: ObjectDatabase) {
    this.#odb = odb;
  }

  shown(tree: Oid): Oid {
    const before = this.#shown.get(tree);
    if (before !== undefined) return before;
    const bytes = this.#odb.content(tree, 'tree');
    const shown = this.#isOn(bytes) ? this.#show(tree, bytes) : tree;
    this.#shown.set(tree, shown);
    return shown;
  }

  /** The bytes of a log that is composed of files of a tree. */
  log(tree: Oid, path: string): Buffer {
    return Buffer.from(composeLog(this.#filesOf(tree), path) ?? '');
  }

  stored(tree: Oid): StoredFiles | undefined {
    return this.#isOn(this.#odb.content(tree, 'tree')) ? this.#filesOf(tree) : undefined;
  }

  #filesOf(tree: Oid): StoredFiles {
    return new TreeFiles(this.#odb, tree, (...file) => this.#file(...file));
  }

  #isOn(tree: Buffer): boolean {
    const oid = findEntry(tree, settings, this.#odb.format)?.oid;
    if (oid === undefined) return false;
    const choice = this.#choices.get(oid);
    if (choice !== undefined) return choice;
    const isOn = hasEntryFiles(this.#odb.content(oid, 'blob').toString('utf8'));
    this.#choices.set(oid, isOn);
    return isOn;
  }

  #show(tree: Oid, bytes: Buffer): Oid {
    const { format } = this.#odb;
    const files = this.#filesOf(tree);
    const edits = new Map<string, TreeEntry | undefined>(
      entryFolders.map((folder) => [folder, undefined]),
    );
    for (const path of logPaths) {
      const text = composeLog(files, path);
      if (text === undefined) continue;
      const oid = objectId('blob', Buffer.from(text), format);
      this.#odb.derive(oid, 'blob', () => this.log(tree, path));
      edits.set(path, { mode: fileMode, oid });
    }
    const shown = spliceTree(bytes, edits, format);
    const oid = objectId('tree', shown, format);
    this.#odb.derive(oid, 'tree', () => shown);
    return oid;
  }

  /** The entry file in a blob; each blob is read once, and parsed once by those that keep it. */
  #file(oid: Oid, name: string): EntryFile {
    const key = `${oid} ${name}`;
    const file = this.#files.get(key);
    if (file) return file;
    const made = { name, text: textOf(this.#odb.content(oid, 'blob')) };
    if (this.#kept > maxKept) this.#files.clear();
    this.#kept = (this.#files.size === 0 ? 0 : this.#kept) + made.text.length;
    this.#files.set(key, made);
    return made;
  }
}

/** The files of a tree as they are stored. */
class TreeFiles implements StoredFiles {
  readonly #odb: ObjectDatabase;
  readonly #tree: Oid;
  readonly #file: (oid: Oid, name: string) => EntryFile;

  constructor(odb: ObjectDatabase, tree: Oid, file: (oid: Oid, name: string) => EntryFile) {
    [this.#odb, this.#tree, this.#file] = [odb, tree, file];
  }

  text(path: string): string | undefined {
    const entry = this.#entry(path);
    const isFile = entry?.mode.startsWith('100');
    return isFile ? this.#file(entry?.oid ?? '', path).text : undefined;
  }

  entries(folder: string): readonly EntryFile[] {
    const found: EntryFile[] = [];
    const visit = (tree: Oid, below: string, depth: number) => {
      if (depth > maxEntryDepth) return;
      for (const { name, mode, oid } of listTree(
        this.#odb.content(tree, 'tree'),
        this.#odb.format,
      )) {
        if (name.startsWith('.')) continue;
        if (mode === folderMode) visit(oid, `${below}${name}/`, depth + 1);
        else if (mode.startsWith('100') && isEntryName(name)) {
          found.push(this.#file(oid, below + name));
        }
      }
    };
    const top = this.#entry(folder);
    if (top?.mode === folderMode) visit(top.oid, '', 0);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #entry(name: string): TreeEntry | undefined {
    return findEntry(this.#odb.content(this.#tree, 'tree'), name, this.#odb.format);
  }
}

/** The text of a file; bytes that are not text show as they would in any reader. */
function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}
