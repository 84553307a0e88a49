import type { MemoryPin } from '../../core/memory/pinned-memories.ts';
import { MemoryError } from '../../core/values/error.ts';
import { ownRefs } from '../../git/commit/own-ref.ts';
import {
  type EncodedObject,
  encodeObject,
  type Oid,
  objectId,
  parseCommit,
  taggedBy,
} from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { findEntry, folderMode, listTree, spliceTree } from '../../git/objects/tree.ts';
import { isUnsafe } from '../history/safe-name.ts';

/** The folder of the refs of the fetched memories: `<name>/<commit>` below it. */
export const memoryRefs = `${ownRefs}memories/`;

/** Limits of one memory: files and folders, and bytes. */
const maxObjects = 20_000;
const maxBytes = 64 * 1024 * 1024;
/** Limit of folders in each other. */
const maxDepth = 100;
/** Limit of annotated tags that point to each other. */
const maxTags = 5;

const fileMode = '100644';
/** The entries of a receipt. */
const entries = { commit: 'commit', path: 'path', memory: 'memory' } as const;

/** The memory folder of a commit, and the objects to store it. */
export interface FetchedMemory {
  readonly commit: Oid;
  /** Undefined for `.memory-bank`. */
  readonly folder: string | undefined;
  /** The tree of the memory folder. */
  readonly tree: Oid;
  /** The object to which the ref of the memory points. */
  readonly receipt: EncodedObject;
  readonly objects: readonly EncodedObject[];
}

/** The name of the ref of a fetched memory. */
export function memoryRef({ name, commit }: Pick<MemoryPin, 'name' | 'commit'>): string {
  return `${memoryRefs}${name}/${commit}`;
}

/**
 * Reads the memory of a fetched commit.
 *
 * It is stored as a receipt: a tree of the memory folder and, as files, of the commit and of the trees
 * above the folder. The receipt proves by its hashes that the folder is that of the commit. A ref to a
 * tree keeps all of it from `git gc`, and shows no commit of others in `git log --all`.
 *
 * @param folder undefined to look for it.
 * @throws MemoryError `invalid_input` if the id names no commit, `not_found` without a memory folder,
 *   `too_large`, `damaged` for content that git itself would not write.
 */
export function gather(
  objects: ObjectDatabase,
  tip: Oid,
  folder: string | undefined,
): FetchedMemory {
  const commit = peel(objects, tip);
  const found = new Gathering(objects);
  const text = found.read(commit, 'commit');
  const { tree: top } = parseCommit(text);
  const path = folder ?? detect(objects, top);
  const above: Oid[] = [];
  let tree = top;
  for (const name of namesOf(path)) {
    above.push(found.asFile(tree));
    const entry = findEntry(objects.content(tree, 'tree'), name, objects.format);
    if (entry?.mode !== folderMode) throw noFolder(commit, path);
    tree = entry.oid;
  }
  found.walk(tree);
  const receipt = encodeTree(objects, [
    [entries.commit, fileMode, found.add(objects.encode('blob', text))],
    ...above.map(
      (oid, i) => [`${entries.path}-${`${i}`.padStart(3, '0')}`, fileMode, oid] as const,
    ),
    [entries.memory, folderMode, tree],
  ]);
  found.add(receipt);
  return { commit, folder: path, tree, receipt, objects: found.all };
}

/**
 * Opens a receipt, and proves that it is that of the pinned commit.
 *
 * @returns the tree of the memory folder, and the time of the commit in seconds; undefined if it is not
 *   that of the pin.
 */
export function openReceipt(
  odb: ObjectDatabase,
  receipt: Oid,
  { commit, folder }: MemoryPin,
): { readonly tree: Oid; readonly seconds: number } | undefined {
  try {
    const list = listTree(odb.content(receipt, 'tree'), odb.format);
    const files = new Map(list.map((one) => [one.name, one]));
    const blob = (name: string) => odb.content(files.get(name)?.oid ?? '', 'blob');
    const text = blob(entries.commit);
    if (objectId('commit', text, odb.format) !== commit) return undefined;
    const { tree: top, committer } = parseCommit(text);
    let tree = top;
    for (const [i, name] of namesOf(folder).entries()) {
      const bytes = blob(`${entries.path}-${`${i}`.padStart(3, '0')}`);
      if (objectId('tree', bytes, odb.format) !== tree) return undefined;
      tree = findEntry(bytes, name, odb.format)?.oid ?? '';
    }
    if (files.get(entries.memory)?.oid !== tree) return undefined;
    return { tree, seconds: committer.seconds };
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/** The objects of a memory, read with a check of their hashes and of their names. */
class Gathering {
  readonly #from: ObjectDatabase;
  readonly #found = new Map<Oid, EncodedObject>();
  #bytes = 0;

  constructor(from: ObjectDatabase) {
    this.#from = from;
  }

  get all(): readonly EncodedObject[] {
    return [...this.#found.values()];
  }

  read(oid: Oid, type: 'commit' | 'tree' | 'blob'): Buffer {
    this.#count(this.#from.size(oid));
    const content = this.#from.content(oid, type);
    if (this.#from.encode(type, content).oid !== oid)
      throw strange(`its object ${oid} has another content`);
    return content;
  }

  /** Keeps the bytes of a tree as a file. */
  asFile(tree: Oid): Oid {
    return this.add(this.#from.encode('blob', this.read(tree, 'tree')));
  }

  add(object: EncodedObject): Oid {
    this.#found.set(object.oid, object);
    return object.oid;
  }

  /** Keeps a folder with all that is in it. */
  walk(tree: Oid, depth = 0): void {
    if (this.#found.has(tree)) return;
    if (depth > maxDepth) throw strange(`it has more than ${maxDepth} folders in each other`);
    const content = this.read(tree, 'tree');
    const list = listTree(content, this.#from.format);
    const again = encodeTree(
      this.#from,
      list.map(({ name, mode, oid }) => [name, mode, oid] as const),
    );
    const names = new Set(list.map(({ name }) => name));
    if (names.size < list.length) throw strange('a folder has two entries of one name');
    const wrong = list.find(({ name }) => isUnsafe(name) || name.includes('/'));
    if (wrong) throw strange(`the name ${JSON.stringify(wrong.name)} is not safe on every system`);
    if (again.oid !== tree)
      throw strange('the order or the encoding of its names is not that of git');
    this.add({ oid: tree, type: 'tree', content });
    for (const { mode, oid } of list) {
      if (mode === folderMode) this.walk(oid, depth + 1);
      else if (['100644', '100755', '120000'].includes(mode)) this.#file(oid);
      // The commit of a submodule is in another repository.
      else if (mode !== '160000') throw strange(`it has an entry of the mode ${mode}`);
    }
  }

  #file(oid: Oid): void {
    if (!this.#found.has(oid)) this.add({ oid, type: 'blob', content: this.read(oid, 'blob') });
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= maxBytes && this.#found.size < maxObjects) return;
    throw new MemoryError(
      'too_large',
      `The memory has more than ${maxObjects} files and folders, or more than ${maxBytes / 1024 / 1024} MB.`,
      { hint: 'Pin a smaller one. Nothing was kept.' },
    );
  }
}

function encodeTree(
  { format }: ObjectDatabase,
  list: readonly (readonly [name: string, mode: string, oid: Oid])[],
) {
  const edits = list.map(([name, mode, oid]) => [name, { mode, oid }] as const);
  return encodeObject('tree', spliceTree(Buffer.alloc(0), edits, format), format);
}

/** The commit that an id names, also through annotated tags. */
function peel(objects: ObjectDatabase, tip: Oid): Oid {
  let at = tip;
  for (let i = 0; i <= maxTags; i++) {
    const { type, content } = objects.read(at);
    if (type === 'commit') return at;
    if (type !== 'tag') {
      throw new MemoryError('invalid_input', `${tip} is not a commit: it is a ${type}.`, {
        hint: 'Pin the id of a commit.',
        data: { oid: tip },
      });
    }
    at = taggedBy(content);
  }
  throw strange(`${tip} is a chain of more than ${maxTags} tags`);
}

/** The memory folder of a repository: `.memory-bank`, or its top if the settings are there. */
function detect(objects: ObjectDatabase, top: Oid): string | undefined {
  const tree = objects.content(top, 'tree');
  const has = (name: string) => findEntry(tree, name, objects.format) !== undefined;
  const isTop = !has('.memory-bank') && has('config.yaml');
  return isTop ? '.' : undefined;
}

function namesOf(folder = '.memory-bank'): string[] {
  return folder.split('/').filter((name) => name !== '' && name !== '.');
}

function noFolder(commit: Oid, folder = '.memory-bank'): MemoryError {
  return new MemoryError('not_found', `Commit ${commit.slice(0, 12)} has no folder ${folder}.`, {
    hint: 'Name its memory folder with --folder.',
    data: { commit, folder },
  });
}

function strange(reason: string): MemoryError {
  return new MemoryError('damaged', `The memory cannot be kept: ${reason}.`, {
    hint: 'Nothing was kept.',
  });
}
