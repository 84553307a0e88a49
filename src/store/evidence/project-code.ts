import { SpanText } from '../../core/evidence/span.ts';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { type Oid, objectId } from '../../git/objects/object.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { findEntry, folderMode, type TreeEntry } from '../../git/objects/tree.ts';

/** Size limit of a file whose text is compared, in bytes. */
export const maxCodeBytes = 2 * 1024 * 1024;
/** Bytes in which a NUL shows that a file is binary, as in git. */
const binaryStart = 8000;

/** The file or folder at a path, in a commit or in the work tree. */
export type CodeEntry =
  | { readonly kind: 'file'; readonly oid: Oid }
  | { readonly kind: 'folder' }
  /** The reason why the text of the path is not known. */
  | { readonly kind: 'other'; readonly reason: string };

/** A path of the work tree. */
export interface CodeFile {
  readonly entry: CodeEntry;
  /** Undefined for anything but a file of the work tree. */
  readonly bytes?: Buffer | undefined;
}

/** A file of the work tree that is as git has staged it; it is read once, when it is needed. */
class StagedFile implements CodeFile {
  readonly entry: CodeEntry;
  readonly #read: () => Buffer | undefined;
  #loaded: { readonly bytes: Buffer | undefined } | undefined;

  constructor(oid: Oid, read: () => Buffer | undefined) {
    this.entry = { kind: 'file', oid };
    this.#read = read;
  }

  get bytes(): Buffer | undefined {
    this.#loaded ??= { bytes: this.#read() };
    return this.#loaded.bytes;
  }
}

/** Text of a file, or the reason why it cannot be compared. */
export type CodeText = SpanText | string;

/** Reads the code of the project, in commits and in the work tree. */
export class ProjectCode {
  readonly #repository: Repository;
  readonly #prefix: string;
  readonly #past = new Map<string, CodeEntry | undefined>();
  readonly #staging = new MicrotaskMemo<ReturnType<Repository['staging']>>();

  /** @param prefix the root of the project, relative to the top of the work tree; ends in `/` or is empty. */
  constructor(repository: Repository, prefix: string) {
    this.#repository = repository;
    this.#prefix = prefix;
  }

  /** A path of the project as the trees of the repository have it. */
  inTree(path: string): string {
    return this.#prefix + path;
  }

  /** A path of the repository relative to the project; undefined for one outside of it. */
  inProject(path: string): string | undefined {
    return path.startsWith(this.#prefix) ? path.slice(this.#prefix.length) : undefined;
  }

  /** The entry of a path in a commit; undefined if the commit does not have it. */
  at(commit: Oid, path: string): CodeEntry | undefined {
    const key = `${commit} ${path}`;
    if (!this.#past.has(key)) this.#past.set(key, this.#lookUp(commit, this.inTree(path)));
    return this.#past.get(key);
  }

  #lookUp(commit: Oid, path: string): CodeEntry | undefined {
    const { odb } = this.#repository;
    let entry: TreeEntry | undefined = { mode: folderMode, oid: treeOf(odb, commit) };
    for (const name of path.split('/')) {
      if (entry?.mode === '160000') break;
      if (entry?.mode !== folderMode) return undefined;
      entry = findEntry(odb.content(entry.oid, 'tree'), name, odb.format);
    }
    if (!entry) return undefined;
    if (entry.mode === folderMode) return { kind: 'folder' };
    if (entry.mode === '160000') return other('it is in a submodule');
    if (entry.mode === '120000') return other('it is a symbolic link');
    return { kind: 'file', oid: entry.oid };
  }

  /**
   * The entry of a path in the work tree, and the bytes of a file; no link is followed. A file that is
   * as git has staged it is not read before its bytes are asked for.
   *
   * @param head the last commit of the code.
   */
  now(path: string, head: Oid): CodeFile | undefined {
    const full = this.inTree(path);
    const { work } = this.#repository;
    try {
      const stat = work.peek(full);
      if (!stat) return this.#leftOut(path, head);
      const oid = this.#staging.get(() => this.#repository.staging())(full, stat);
      if (oid !== undefined) return new StagedFile(oid, () => work.load(full, maxCodeBytes)?.bytes);
      const loaded = work.load(full, maxCodeBytes);
      if (!loaded) return this.#leftOut(path, head);
      if (loaded.stat.kind === 'directory') return { entry: { kind: 'folder' } };
      const { bytes } = loaded;
      if (!bytes) return { entry: other('it is too large') };
      return {
        entry: { kind: 'file', oid: objectId('blob', bytes, this.#repository.odb.format) },
        bytes,
      };
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      return { entry: other(this.#reasonOf(error, full)) };
    }
  }

  /** An error as a part of a sentence, without a path of this machine. */
  #reasonOf({ message }: MemoryError, path: string): string {
    const { root } = this.#repository.work;
    return message.replace(`${root}/${path}`, 'it').replace(`${root}/`, '').replace(/\.$/, '');
  }

  /** A file that a sparse checkout leaves out of the work tree. */
  #leftOut(path: string, head: Oid): CodeFile | undefined {
    // Most missing files never existed: a text names much that looks like a path.
    if (this.at(head, path)?.kind !== 'file') return undefined;
    const staged = this.#repository.staged(this.inTree(path));
    return staged?.skipWorktree ? { entry: { kind: 'file', oid: staged.oid } } : undefined;
  }

  /** The text of a blob. */
  text(oid: Oid): CodeText {
    const { odb } = this.#repository;
    if (!odb.has(oid)) return 'its earlier text is not in this clone';
    if (odb.size(oid) > maxCodeBytes) return 'it is too large';
    return toText(odb.content(oid, 'blob'));
  }
}

/** The text of a file from its bytes. */
export function toText(bytes: Buffer): CodeText {
  if (isBinary(bytes)) return 'it is binary';
  return new SpanText(bytes.toString('utf8'));
}

/** Whether the bytes of a file are not a text, by the rule of git. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, binaryStart).includes(0);
}

function other(reason: string): CodeEntry {
  return { kind: 'other', reason };
}
