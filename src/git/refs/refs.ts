import { basename, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { type Files, type Stat, sameStat } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { isOid } from '../objects/object-format.ts';
import { refStorageIn } from '../repository/repository-format.ts';
import { FileRefs } from './file-refs.ts';
import { isRefName, targetOf } from './loose-refs.ts';
import type { ValueOf } from './ref-store.ts';
import { TableRefs } from './table-refs.ts';

/** Where HEAD points. */
export interface Head {
  /** Full name of the branch, symbolic branches resolved; undefined when HEAD is detached. */
  readonly ref: string | undefined;
  /** The commit; undefined on an unborn branch. */
  readonly oid: Oid | undefined;
}

const maxSymbolicDepth = 5;

/** The refs of a repository, in whichever form it keeps them. */
export class Refs {
  readonly #files: Files;
  readonly #gitDir: string;
  readonly #commonDir: string;
  readonly #inFiles: FileRefs;
  /** The refs in tables, if this repository had them at some time, and what decided which ones count. */
  #inTables: TableRefs | undefined;
  #config: Stat | undefined;
  #store: FileRefs | TableRefs;

  constructor(files: Files, gitDir: string, commonDir: string) {
    this.#files = files;
    this.#gitDir = gitDir;
    this.#commonDir = commonDir;
    this.#inFiles = new FileRefs(files, { gitDir, commonDir });
    this.#store = this.#inFiles;
  }

  /** The store of the refs; another one after "git refs migrate". */
  get store(): FileRefs | TableRefs {
    const [gitDir, commonDir] = [this.#gitDir, this.#commonDir];
    // One look at a folder that most repositories do not have.
    if (!this.#files.lstat(join(commonDir, 'reftable'))) return this.#inFiles;
    const config = this.#files.lstat(join(commonDir, 'config'));
    if (config && sameStat(config, this.#config)) return this.#store;
    const isInTables = refStorageIn(this.#files, commonDir) === 'reftable';
    // Only now: where the configuration could not be read, the next look reads it again.
    this.#config = config;
    if (isInTables) this.#inTables ??= new TableRefs(this.#files, { gitDir, commonDir });
    this.#store = (isInTables && this.#inTables) || this.#inFiles;
    return this.#store;
  }

  /** The full ref name in HEAD, which may itself be symbolic; undefined when HEAD is detached. */
  branch(): string | undefined {
    return targetOf(this.#headText());
  }

  head(): Head {
    return this.store.look((value) => {
      const text = value('HEAD') ?? '';
      if (isOid(text)) return { ref: undefined, oid: text };
      const ref = targetOf(text);
      if (ref !== undefined) return this.#follow(ref, value);
      throw new MemoryError('damaged', 'HEAD of this repository cannot be read.', {
        hint: 'Check out a branch: "git switch <branch>".',
      });
    });
  }

  #headText(): string {
    return this.store.value('HEAD') ?? '';
  }

  /**
   * The commit of a full ref name; undefined if there is no such ref.
   *
   * @throws MemoryError `damaged` for a file without a commit id: a ref that was lost.
   */
  resolve(ref: string): Oid | undefined {
    return this.store.look((value) => this.#follow(ref, value).oid);
  }

  /** Like `resolve`, but git's answer for a damaged ref: there is no such ref. */
  find(ref: string): Oid | undefined {
    try {
      return this.resolve(ref);
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  /** The ref that a commit on a ref moves: the ref itself, or the target of a symbolic one. */
  #follow(ref: string, see: ValueOf, depth = 0): Head {
    const value = see(ref);
    if (value === undefined || isOid(value)) return { ref, oid: value };
    const next = targetOf(value);
    if (next !== undefined && depth < maxSymbolicDepth) {
      return this.#follow(next, see, depth + 1);
    }
    throw this.store.lost(ref);
  }

  /**
   * Lists the refs below a prefix (`refs/heads/`) by name.
   *
   * Like git, it ignores files that are not refs, such as those of a file manager, and damaged refs.
   */
  list(prefix: string): { readonly ref: string; readonly oid: Oid }[] {
    return [...this.store.values(prefix)]
      .flatMap(([ref, value]) => {
        const oid = !isRefName(ref) ? undefined : isOid(value) ? value : this.find(ref);
        return oid === undefined ? [] : [{ ref, oid }];
      })
      .sort((a, b) => (a.ref < b.ref ? -1 : 1));
  }

  /**
   * Lists the names that keep commits, except HEAD and its branch.
   *
   * These are other branches, tags, remote-tracking branches, and detached HEADs of other work trees. It
   * leaves out the stash, which keeps its own commits, a remote's HEAD, which is another name of one of
   * its branches, and our own refs, which keep no commits.
   */
  others(): { readonly name: string; readonly oid: Oid }[] {
    const own = [this.branch(), this.head().ref];
    const refs = this.list('refs/')
      .filter(
        ({ ref }) =>
          !own.includes(ref) && !/^refs\/(?:stash|remotes\/.*\/HEAD|memory-bank\/.*)$/.test(ref),
      )
      .map(({ ref, oid }) => ({ name: ref.replace(/^refs\/(?:heads|tags|remotes)\//, ''), oid }));
    const worktrees = join(this.#commonDir, 'worktrees');
    const linked = (this.#files.list(worktrees) ?? []).map(({ name }) => join(worktrees, name));
    const detached = [this.#commonDir, ...linked].flatMap((gitDir) => {
      if (gitDir === this.#gitDir || !this.#files.lstat(join(gitDir, 'HEAD'))) return [];
      const oid = new Refs(this.#files, gitDir, this.#commonDir).#detached();
      return oid === undefined ? [] : [{ name: `the work tree ${basename(gitDir)}`, oid }];
    });
    return [...refs, ...detached];
  }

  /** The commit of a detached HEAD. */
  #detached(): Oid | undefined {
    const text = this.#headText();
    return isOid(text) ? text : undefined;
  }
}
