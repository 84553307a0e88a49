import {
  type Commit,
  type EncodedObject,
  formatCommit,
  type ObjectType,
  type Oid,
  parseCommit,
} from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { folderMode, listTree } from '../../git/objects/tree.ts';
import { withEntry } from '../../git/objects/tree-edit.ts';
import { folderAt } from '../history/last-change.ts';
import { isMemoryMerge, withCodeCommit } from '../records/message.ts';

/** The commits of a memory in another place. */
export interface CopiedHistory {
  /** Its last commit; undefined for no commit. */
  readonly tip: Oid | undefined;
  /** The new commits and trees. */
  readonly objects: readonly EncodedObject[];
  /** The number of new commits. */
  readonly commits: number;
  /** The copy of each commit. */
  readonly copies: ReadonlyMap<Oid, Oid>;
  /** The tree of the memory in each commit that was read. */
  readonly memories: ReadonlyMap<Oid, Oid | undefined>;
}

/**
 * Copies the history of a memory without everything around it, like `git subtree split`.
 *
 * A commit that leaves the memory as a parent has it is left out, except for a merge of the memory.
 * Authors, times and messages stay; the message of a copy names the commit of the code at which the
 * change was made. The same history always gives the same copies.
 *
 * @param from the memory folder in the commits.
 * @param to the memory folder in the copies.
 * @param isCode whether the commits are those of the code.
 * @param earlier a copy of a part of the history, whose objects are stored.
 */
export function copyMemory(
  odb: ObjectDatabase,
  head: Oid,
  from: string,
  to: string,
  isCode: boolean,
  earlier?: CopiedHistory,
): CopiedHistory {
  const writer = new ObjectWriter(odb);
  const copies = new Map(earlier?.copies);
  const memories = new Map(earlier?.memories);
  let commits = 0;
  for (const [oid, commit] of oldestFirst(odb, head, new Set(memories.keys()))) {
    const memory = folderAt(odb, oid, from);
    memories.set(oid, memory);
    const known = commit.parents.filter((parent) => copies.has(parent));
    // A merge of the memory stays also where it changes nothing: it says what was accepted.
    const isMerge = known.length > 1 && isMemoryMerge(commit.message);
    const same = isMerge ? undefined : known.find((parent) => memories.get(parent) === memory);
    const copy = same === undefined ? undefined : copies.get(same);
    if (copy !== undefined) copies.set(oid, copy);
    if (copy !== undefined || (memory === undefined && known.length === 0)) continue;
    const entry = memory === undefined ? undefined : { mode: folderMode, oid: memory };
    const add = (tree: Buffer) => writer.add('tree', tree);
    const tree = withEntry(odb, undefined, to.split('/'), entry, add) ?? add(Buffer.alloc(0));
    const parents = [...new Set(known.flatMap((parent) => copies.get(parent) ?? []))];
    const message = isCode ? withCodeCommit(commit.message, oid) : commit.message;
    copies.set(oid, writer.add('commit', formatCommit({ ...commit, tree, parents, message })));
    commits += 1;
  }
  return { tip: copies.get(head), objects: writer.objects, commits, copies, memories };
}

/**
 * Copies the history of a memory into that of the code: the opposite of `copyMemory`.
 *
 * A commit that is itself a copy of a commit of the code becomes that commit again. All others are put on
 * top of it, with its files.
 *
 * @param tip of the memory.
 * @param folder of the memory, in both.
 * @param known the copy of the history of the code; undefined for none.
 */
export function embedMemory(
  odb: ObjectDatabase,
  tip: Oid,
  folder: string,
  known: CopiedHistory | undefined,
): {
  readonly tip: Oid | undefined;
  readonly objects: readonly EncodedObject[];
  readonly commits: number;
} {
  const writer = new ObjectWriter(odb);
  const copies = new Map<Oid, Oid>();
  // The first commit with a copy is the one that made the change.
  for (const [oid, copy] of known?.copies ?? []) if (!copies.has(copy)) copies.set(copy, oid);
  /** The commit of the code on which each copy is put. */
  const grounds = new Map<Oid, Oid | undefined>([...copies.values()].map((oid) => [oid, oid]));
  let commits = 0;
  for (const [oid, commit] of oldestFirst(odb, tip)) {
    if (copies.has(oid)) continue;
    const parents = [...new Set(commit.parents.flatMap((parent) => copies.get(parent) ?? []))];
    const [first] = parents;
    const ground = first === undefined ? undefined : grounds.get(first);
    const memory = folderAt(odb, oid, folder);
    const entry = memory === undefined ? undefined : { mode: folderMode, oid: memory };
    const add = (tree: Buffer) => writer.add('tree', tree);
    const base = ground === undefined ? undefined : treeOf(odb, ground);
    const tree = withEntry(odb, base, folder.split('/'), entry, add) ?? add(Buffer.alloc(0));
    const copy = writer.add('commit', formatCommit({ ...commit, tree, parents }));
    copies.set(oid, copy);
    grounds.set(copy, ground);
    commits += 1;
  }
  return { tip: copies.get(tip), objects: writer.objects, commits };
}

/** Collects new objects, each once. */
class ObjectWriter {
  readonly #odb: ObjectDatabase;
  readonly #objects = new Map<Oid, EncodedObject>();

  constructor(odb: ObjectDatabase) {
    this.#odb = odb;
  }

  get objects(): readonly EncodedObject[] {
    return [...this.#objects.values()];
  }

  add(type: 'commit' | 'tree', content: Buffer): Oid {
    const object = this.#odb.encode(type, content);
    this.#objects.set(object.oid, object);
    return object.oid;
  }
}

/**
 * The commits that are reachable from one, each after its parents.
 *
 * @param done commits to leave out, with their ancestors.
 */
function* oldestFirst(
  odb: ObjectDatabase,
  head: Oid,
  done = new Set<Oid>(),
): Generator<readonly [Oid, Commit]> {
  const open: Oid[] = [head];
  for (let oid = open.at(-1); oid !== undefined; oid = open.at(-1)) {
    const commit = parseCommit(odb.content(oid, 'commit'));
    const missing = done.has(oid)
      ? []
      : commit.parents.filter((parent) => !done.has(parent) && odb.has(parent));
    open.push(...missing);
    if (missing.length > 0) continue;
    open.pop();
    if (done.has(oid)) continue;
    done.add(oid);
    yield [oid, commit];
  }
}

/**
 * All objects of a history.
 *
 * Another repository gets all of them: after a power cut it may have a tree without the files in it.
 */
export function objectsOf(from: ObjectDatabase, tip: Oid): readonly EncodedObject[] {
  const found = new Map<Oid, EncodedObject>();
  const add = (oid: Oid, type: ObjectType) => {
    if (found.has(oid)) return undefined;
    const content = from.content(oid, type);
    found.set(oid, { oid, type, content });
    return content;
  };
  const addTree = (oid: Oid) => {
    const tree = add(oid, 'tree');
    for (const { mode, oid } of tree ? listTree(tree, from.format) : []) {
      if (mode === folderMode) addTree(oid);
      else if (mode !== submoduleMode) add(oid, 'blob');
    }
  };
  for (const [oid, { tree }] of oldestFirst(from, tip)) {
    if (add(oid, 'commit')) addTree(tree);
  }
  return [...found.values()];
}

const submoduleMode = '160000';
