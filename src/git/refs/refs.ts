import { basename, join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { type Files, lookThrough, type Stat, sameStat } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { isOid } from '../objects/object-format.ts';
import { filesBelow, isRefName } from './loose-refs.ts';

/** Where HEAD points. */
export interface Head {
  /** Full name of the branch, symbolic branches resolved; undefined when HEAD is detached. */
  readonly ref: string | undefined;
  /** The commit; undefined on an unborn branch. */
  readonly oid: Oid | undefined;
}

const maxSymbolicDepth = 5;

/** Reads refs as git's files backend keeps them: loose files over `packed-refs`. */
export class Refs {
  readonly #files: Files;
  readonly #gitDir: string;
  readonly #commonDir: string;
  #packed = new Map<string, Oid>();
  #packedStat: Stat | undefined;

  constructor(files: Files, gitDir: string, commonDir: string) {
    this.#files = files;
    this.#gitDir = gitDir;
    this.#commonDir = commonDir;
  }

  /** The full ref name in HEAD, which may itself be symbolic; undefined when HEAD is detached. */
  branch(): string | undefined {
    return branchIn(this.#headText());
  }

  head(): Head {
    const text = this.#headText();
    if (isOid(text)) return { ref: undefined, oid: text };
    const ref = branchIn(text);
    if (ref === undefined) {
      throw new MemoryError('damaged', 'HEAD of this repository cannot be read.', {
        hint: 'Check out a branch: "git switch <branch>".',
      });
    }
    return this.#follow(ref);
  }

  #headText(): string {
    return this.#textAt(join(this.#gitDir, 'HEAD')) ?? '';
  }

  /**
   * The commit of a full ref name; undefined if there is no such ref.
   *
   * @throws MemoryError `damaged` for a file without a commit id: a ref that was lost.
   */
  resolve(ref: string): Oid | undefined {
    return this.#follow(ref).oid;
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
  #follow(ref: string, depth = 0): Head {
    const text = this.#loose(ref);
    // An empty file is a ref that was lost, perhaps in a power cut. With an older packed value, or
    // none, the next commit would get the wrong parent.
    if (text === undefined) return { ref, oid: this.#packedRefs().get(ref) };
    if (isOid(text)) return { ref, oid: text };
    const next = branchIn(text);
    if (next !== undefined && depth < maxSymbolicDepth) return this.#follow(next, depth + 1);
    const folder = this.folderOf(ref);
    const path = join(folder, ref);
    throw new MemoryError('damaged', `The ref ${ref} cannot be read: ${path} has no commit id.`, {
      hint: `Delete that file, then set the ref with "git update-ref ${ref} <commit>". Its last commits are in ${join(folder, 'logs', ref)}.`,
      data: { ref, path },
    });
  }

  /** Whether `packed-refs` has a value of a ref, which counts only without a loose file. */
  isPacked(ref: string): boolean {
    return this.#packedRefs().has(ref);
  }

  /** The git directory of a ref, its reflog and its lock. */
  folderOf(ref: string): string {
    const own = /^refs\/(bisect|worktree|rewritten)\//.test(ref) || !ref.startsWith('refs/');
    return own ? this.#gitDir : this.#commonDir;
  }

  /**
   * Lists the refs below a prefix (`refs/heads/`) by name; a loose ref overrides a packed one.
   *
   * Like git, it ignores files that are not refs, such as those of a file manager, and damaged refs.
   */
  list(prefix: string): { readonly ref: string; readonly oid: Oid }[] {
    // Loose refs first: "git pack-refs" packs a ref before it removes its file.
    const loose = filesBelow(this.#files, this.#commonDir, prefix.replace(/\/$/, ''));
    const found = new Map<string, Oid>();
    for (const [ref, oid] of this.#packedRefs()) {
      if (ref.startsWith(prefix) && isRefName(ref)) found.set(ref, oid);
    }
    for (const ref of loose.filter(isRefName)) {
      const oid = this.find(ref);
      if (oid) found.set(ref, oid);
      else found.delete(ref);
    }
    return [...found].map(([ref, oid]) => ({ ref, oid })).sort((a, b) => (a.ref < b.ref ? -1 : 1));
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

  #loose(ref: string): string | undefined {
    const path = join(this.folderOf(ref), ref);
    try {
      return this.#textAt(path);
    } catch (error) {
      if (lookThrough(this.#files, path)?.kind === 'directory') return undefined;
      throw error;
    }
  }

  /** The text of a ref. Of old, git stored a symbolic ref as a link to the name of its target. */
  #textAt(path: string): string | undefined {
    const target = this.#files.readlink(path);
    if (target !== undefined && isRefName(target)) return `ref: ${target}`;
    return this.#files.read(path)?.toString('utf8').trim();
  }

  #packedRefs(): ReadonlyMap<string, Oid> {
    const path = join(this.#commonDir, 'packed-refs');
    const stat = lookThrough(this.#files, path);
    if (sameStat(stat, this.#packedStat)) return this.#packed;
    const refs = new Map<string, Oid>();
    for (const line of (this.#files.read(path)?.toString('utf8') ?? '').split('\n')) {
      const end = line.indexOf(' ');
      const oid = line.slice(0, Math.max(end, 0));
      if (isOid(oid)) refs.set(line.slice(end + 1), oid);
    }
    this.#packed = refs;
    this.#packedStat = stat;
    return refs;
  }
}

/** The target of a symbolic ref; undefined for a name that git rejects, which could lead elsewhere. */
function branchIn(head: string): string | undefined {
  const name = /^ref: (refs\/.+)/.exec(head)?.[1]?.trim();
  return name !== undefined && isRefName(name) ? name : undefined;
}
