import { MemoryError } from '../../core/values/error.ts';
import type { TreeChange } from '../index/cache-tree.ts';
import type { IndexFile } from '../index/index-file.ts';
import { restyleTo } from '../objects/line-ends.ts';
import {
  type EncodedObject,
  formatCommit,
  type Oid,
  objectId,
  type Signature,
} from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import { treeOf } from '../objects/odb.ts';
import { findEntry, folderMode, spliceTree, type TreeEntry } from '../objects/tree.ts';
import type { PlannedCommit } from '../refs/reflog.ts';
import type { Head } from '../refs/refs.ts';
import { signedOff } from './sign-off.ts';

/** A requested change of one file. */
export interface FileChange {
  /** Relative to the top of the work tree, `/` between segments. */
  readonly path: string;
  /** The new content; undefined removes the file. */
  readonly bytes: Uint8Array | undefined;
  /** The content on disk when the change was planned; undefined for no file. */
  readonly seen: Uint8Array | undefined;
  /** The mode of a new file, as in a tree. Default: a regular file. */
  readonly mode?: string | undefined;
  /** Whether the file is not a memory file: an uncommitted edit of it is a conflict. */
  readonly foreign?: boolean;
}

/** Another line of history that a commit merges. */
export interface Joined {
  /** Its last commit. */
  readonly tip: Oid;
  /**
   * Whether it continues from HEAD and the changes are all that it brings. Then its last commit becomes
   * HEAD without a new commit, unless uncommitted edits of the user make it a merge.
   */
  readonly forward: boolean;
}

/** A change that a caller wants to commit. */
export interface Proposal {
  readonly changes: readonly FileChange[];
  /** The whole message of the commit, subject first. */
  readonly message: string;
  /** By default the one of the configuration. */
  readonly author?: Pick<Signature, 'name' | 'email'> | undefined;
  readonly adopt?: Adoption;
  readonly join?: Joined;
  readonly onStaged?: OnStaged | undefined;
}

/**
 * Gets how many files of a mutation are staged, of how many, while git's locks are not held.
 *
 * @throws any error, to cancel the mutation.
 */
export type OnStaged = (done: number, total: number) => void;

/** One file of the planned commit, with what is needed to undo it. */
export interface PlannedFile {
  readonly path: string;
  readonly bytes: Uint8Array | undefined;
  /** The content on disk now, and its id. */
  readonly seen: Uint8Array | undefined;
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
  readonly mode: number;
}

/** Everything that a mutation will write, planned and hashed before git's locks are taken. */
export interface CommitPlan {
  readonly head: Head;
  readonly files: readonly PlannedFile[];
  /** In the order of the branch; the user's edits come before the proposal that changes them. */
  readonly commits: readonly PlannedCommit[];
  /** The position in `commits` of the commit of each proposal. */
  readonly proposed: readonly number[];
  readonly objects: readonly EncodedObject[];
  readonly trees: readonly TreeChange[];
}

export interface Signatures {
  readonly author: Signature;
  readonly committer: Signature;
  /** Whether the committer signs each commit off (`Signed-off-by`). */
  readonly signOff?: boolean;
}

/**
 * Checks each version of a file that the user has made and that would be committed with ours.
 *
 * @param committed the content in HEAD; undefined for no file.
 * @throws any error, to cancel the commit.
 */
export type Adoption = (path: string, version: Buffer, committed: Buffer | undefined) => void;

const fileMode = '100644';

/**
 * Plans the commits of a mutation: one for each proposal, in their order.
 *
 * A proposal has seen the files as the earlier ones leave them. A file that differs from HEAD on disk is
 * the user's work. It is committed first, in a separate commit, and so is a third version of it that is
 * staged, so that nothing is lost.
 */
export function planCommits(
  odb: ObjectDatabase,
  head: Head,
  index: IndexFile,
  proposals: readonly Proposal[],
  signatures: Signatures,
): CommitPlan {
  const builder = new Builder(odb, head.oid, signatures);
  const files = new Map<string, PlannedFile>();
  const proposed: number[] = [];
  for (const proposal of proposals) {
    addProposal(odb, builder, index, proposal, signatures, files);
    proposed.push(builder.length - 1);
  }
  return { head, files: [...files.values()].filter(changesDisk), proposed, ...builder.result() };
}

/** Whether a file changes; one that a proposal creates and the next one removes does not. */
function changesDisk({ seen, bytes }: PlannedFile): boolean {
  return seen !== undefined || bytes !== undefined;
}

/**
 * Adds the commits of one proposal.
 *
 * @param files the files of the earlier proposals, to which those of this one are added.
 */
function addProposal(
  odb: ObjectDatabase,
  builder: Builder,
  index: IndexFile,
  { changes, message, author, adopt, join }: Proposal,
  signatures: Signatures,
  files: Map<string, PlannedFile>,
): void {
  const staged: TreeEdit[] = [];
  const edited: TreeEdit[] = [];
  const ours: TreeEdit[] = [];
  const start = builder.length;
  for (const { path, bytes, seen, foreign, ...added } of changes) {
    // Git itself neither checks out nor accepts such a path.
    if (/(?:^|\/)\.git(?:\/|$)/i.test(path)) {
      throw new MemoryError('unsupported', `${path} is inside a .git folder.`, {
        data: { path },
      });
    }
    const earlier = files.get(path);
    const committed = builder.entry(path);
    // After an earlier proposal, the index has what that one commits.
    const indexed = earlier ? undefined : index.find(path);
    if (index.collapses(path) || (indexed?.skipWorktree && seen === undefined)) {
      throw new MemoryError('unsupported', `${path} is not in this sparse checkout.`, {
        hint: `Run "git sparse-checkout add ${path.slice(0, path.indexOf('/'))}".`,
        data: { path },
      });
    }
    const mode = committed?.mode ?? added.mode ?? fileMode;
    if (mode !== fileMode && mode !== '100755') {
      throw new MemoryError('damaged', `${path} is committed as something other than a file.`, {
        data: { path },
      });
    }
    const before = seen && objectId('blob', seen, odb.format);
    if (foreign && (before !== committed?.oid || (!earlier && indexed?.oid !== committed?.oid))) {
      throw new MemoryError('conflict', `${path} has changes that are not committed.`, {
        hint: 'Commit or stash them. Nothing was changed.',
        data: { path },
      });
    }
    const known = () => committed && builder.blob(committed.oid);
    // A checkout may have converted the line ends of the file. That is not an edit.
    const restyle =
      seen && committed && before !== committed.oid
        ? restyleTo(builder.blob(committed.oid), seen)
        : undefined;
    const version = seen && restyle ? restyle(seen) : seen;
    const versionId = restyle ? version && objectId('blob', version, odb.format) : before;
    // A commit can be about a file that stays as it is committed.
    const isKept =
      bytes && seen && versionId === committed?.oid && Buffer.compare(bytes, seen) === 0;
    if (isKept) continue;
    // To undo the change.
    if (seen && restyle) builder.add('blob', seen);
    if (indexed && indexed.oid !== committed?.oid && indexed.oid !== versionId) {
      adopt?.(path, odb.content(indexed.oid, 'blob'), known());
      staged.push({ path, entry: { mode, oid: indexed.oid } });
    }
    if (versionId !== committed?.oid) {
      if (version) adopt?.(path, Buffer.from(version), known());
      edited.push({ path, entry: version && { mode, oid: builder.add('blob', version) } });
    }
    // The new content was made from the file, or comes from another line of history.
    const content = bytes && restyle && !join ? restyle(bytes) : bytes;
    const after = content && builder.add('blob', content);
    ours.push({ path, entry: after === undefined ? undefined : { mode, oid: after } });
    const disk = earlier ?? { seen, before };
    files.set(path, {
      path,
      bytes: content,
      seen: disk.seen,
      before: disk.before,
      after,
      mode: Number.parseInt(mode, 8),
    });
  }
  if (staged.length > 0) builder.commit(staged, describeEdit('staged edit', staged));
  if (edited.length > 0) builder.commit(edited, describeEdit('edit by hand', edited));
  if (join?.forward && builder.length === start) builder.forward(ours, join.tip);
  // The user's edits keep the configured author.
  else builder.commit(ours, message, join?.tip, { ...signatures.author, ...author });
}

interface TreeEdit {
  readonly path: string;
  readonly entry: TreeEntry | undefined;
}

function describeEdit(what: string, edits: readonly TreeEdit[]): string {
  const [first] = edits;
  const more = edits.length > 1 ? ` and ${edits.length - 1} more` : '';
  const subject = `memory: keep ${what} of ${first?.path.split('/').pop() ?? ''}${more}`;
  const body = 'Found uncommitted before a change of the same file; committed as it was.';
  const list = edits.map(({ path }) => `Memory-Record: ${path}`).join('\n');
  return `${subject}\n\n${body}\n\n${list}\n`;
}

/** Builds a chain of trees and commits on top of HEAD. */
class Builder {
  readonly #odb: ObjectDatabase;
  readonly #signatures: Signatures;
  readonly #objects = new Map<Oid, EncodedObject>();
  /** Trees that are not in the database yet. */
  readonly #trees = new Map<Oid, Buffer>();
  readonly #before = new Map<string, Oid | undefined>();
  readonly #after = new Map<string, Oid | undefined>();
  readonly #commits: PlannedCommit[] = [];
  #root: Oid | undefined;
  #tip: Oid | undefined;

  constructor(odb: ObjectDatabase, tip: Oid | undefined, signatures: Signatures) {
    this.#odb = odb;
    this.#signatures = signatures;
    this.#tip = tip;
    this.#root = tip && treeOf(odb, tip);
  }

  /** The entry of the current root tree at a path. */
  entry(path: string): TreeEntry | undefined {
    let entry: TreeEntry | undefined =
      this.#root === undefined ? undefined : { mode: folderMode, oid: this.#root };
    for (const name of path.split('/')) {
      if (entry?.mode !== folderMode) return undefined;
      entry = findEntry(this.#tree(entry.oid), name, this.#odb.format);
    }
    return entry;
  }

  add(type: 'blob' | 'tree' | 'commit', content: Uint8Array): Oid {
    const object = this.#odb.encode(type, content);
    this.#objects.set(object.oid, object);
    return object.oid;
  }

  /** The content of a blob, which may not be stored yet. */
  blob(oid: Oid): Buffer {
    const added = this.#objects.get(oid);
    return added ? Buffer.from(added.content) : this.#odb.content(oid, 'blob');
  }

  /** The number of commits so far. */
  get length(): number {
    return this.#commits.length;
  }

  /** @param joined the second parent. */
  commit(
    edits: readonly TreeEdit[],
    text: string,
    joined?: Oid,
    author = this.#signatures.author,
  ): void {
    const tree = this.#apply(edits);
    const { committer, signOff } = this.#signatures;
    const message = signOff ? signedOff(text, committer) : text;
    const parents = [this.#tip, joined].filter((parent) => parent !== undefined);
    const oid = this.add('commit', formatCommit({ tree, parents, author, committer, message }));
    const kind = joined !== undefined ? ' (merge)' : this.#tip === undefined ? ' (initial)' : '';
    this.#move(oid, `commit${kind}: ${message.split('\n', 1)[0] ?? ''}`);
  }

  /** Moves to an existing commit whose tree equals the result of the edits. */
  forward(edits: readonly TreeEdit[], tip: Oid): void {
    if (this.#apply(edits) !== treeOf(this.#odb, tip)) {
      throw new MemoryError('internal', `The changes do not lead to the tree of ${tip}.`);
    }
    this.#move(tip, 'memory-bank sync: Fast-forward');
  }

  #move(oid: Oid, log: string): void {
    this.#commits.push({ oid, before: this.#tip, log });
    this.#tip = oid;
  }

  #apply(edits: readonly TreeEdit[]): Oid {
    this.#root = this.#edit('', this.#root, edits) ?? this.#addTree(Buffer.alloc(0));
    return this.#root;
  }

  result(): Pick<CommitPlan, 'commits' | 'objects' | 'trees'> {
    const trees = [...this.#after].map(([folder, after]) => {
      return { folder, before: this.#before.get(folder), after };
    });
    return { commits: this.#commits, objects: [...this.#objects.values()], trees };
  }

  /** Applies edits below a folder; returns its new tree, or undefined if it is empty. */
  #edit(folder: string, oid: Oid | undefined, edits: readonly TreeEdit[]): Oid | undefined {
    const before = oid === undefined ? Buffer.alloc(0) : this.#tree(oid);
    const here = new Map<string, TreeEntry | undefined>();
    const below = new Map<string, TreeEdit[]>();
    const start = folder === '' ? 0 : folder.length + 1;
    // By position: lists of the segments of very many paths would take much memory.
    for (const edit of edits) {
      const end = edit.path.indexOf('/', start);
      const name = edit.path.slice(start, end < 0 ? undefined : end);
      const group = below.get(name);
      if (end < 0) here.set(name, edit.entry);
      else if (group) group.push(edit);
      else below.set(name, [edit]);
    }
    for (const [name, group] of below) {
      const old = here.has(name) ? here.get(name) : findEntry(before, name, this.#odb.format);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (old && old.mode !== folderMode) {
        throw new MemoryError('damaged', `${path} is committed as something other than a folder.`, {
          hint: 'Move it away and commit that.',
          data: { path },
        });
      }
      const child = this.#edit(path, old?.oid, group);
      here.set(name, child === undefined ? undefined : { mode: folderMode, oid: child });
    }
    const tree = spliceTree(before, here, this.#odb.format);
    const result = tree.length === 0 ? undefined : this.#addTree(tree);
    if (!this.#before.has(folder)) this.#before.set(folder, oid);
    this.#after.set(folder, result);
    return result;
  }

  #addTree(tree: Buffer): Oid {
    const oid = this.add('tree', tree);
    this.#trees.set(oid, tree);
    return oid;
  }

  #tree(oid: Oid): Buffer {
    return this.#trees.get(oid) ?? this.#odb.content(oid, 'tree');
  }
}
