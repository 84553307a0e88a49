import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryFolderName } from '../../core/declarations/workspace.ts';
import { MemoryError } from '../../core/values/error.ts';
import { fallbackIdentity } from '../../git/refs/identity.ts';
import { type Outcome, runGit } from '../../git/remote/program.ts';
import { driverLine } from '../merge/driver-config.ts';

/** A pull request, by the names of its branches on the remote. */
export interface PullRequest {
  readonly head: string;
  readonly base: string;
  readonly isFromFork: boolean;
}

/**
 * The outcome for a pull request.
 *
 * `clean`: the server merges it. `outside`: files outside the memory conflict as well. `conflict`: the
 * memory also conflicts by record. `refused`: git or the remote refused; see `complaint`.
 */
export interface PullRequestOutcome {
  readonly state: 'clean' | 'merged' | 'fork' | 'missing' | 'outside' | 'conflict' | 'refused';
  /** The files that a person has to decide about, from the top of the repository. */
  readonly paths: readonly string[];
  /** The new commit of the branch. */
  readonly commit?: string;
  readonly complaint?: string;
}

/** A clone whose remote has pull requests. */
export interface PullRequestClone {
  /** A folder of its work tree. */
  readonly folder: string;
  readonly remote: string;
  /** The program and its first arguments, for the merge driver. */
  readonly program: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Time for one run of git, in milliseconds. */
const limit = 300_000;
const inMemory = new RegExp(`(?:^|/)${memoryFolderName.replace('.', '\\.')}/`);

/** Merges the bases of pull requests into their branches, where a server would not. */
export class PullRequestMerge {
  readonly #clone: PullRequestClone;

  constructor(clone: PullRequestClone) {
    this.#clone = clone;
  }

  /**
   * Gets the branches of the remote, with their whole history.
   *
   * @throws MemoryError `remote`, or `unsupported` without git.
   */
  async fetch(): Promise<void> {
    const { remote, folder } = this.#clone;
    const { output } = await this.#git(['rev-parse', '--is-shallow-repository']);
    const deepen = output.trim() === 'true' ? ['--unshallow'] : [];
    const refs = `+refs/heads/*:refs/remotes/${remote}/*`;
    const { status, complaint } = await this.#git(['fetch', '-q', ...deepen, remote, refs]);
    if (status === 0) return;
    throw new MemoryError('remote', `git cannot fetch ${remote} in ${folder}: ${complaint.trim()}`);
  }

  /** Merges and pushes one pull request, if the server cannot merge it for the memory alone. */
  async merge({ head, base, isFromFork }: PullRequest): Promise<PullRequestOutcome> {
    // A branch of a fork is not on this remote; one of the same name is another one.
    if (isFromFork) return { state: 'fork', paths: [] };
    const [ours, theirs] = [await this.#tip(head), await this.#tip(base)];
    if (ours === undefined || theirs === undefined) return { state: 'missing', paths: [] };
    const names = ['--write-tree', '--name-only', '--no-messages', '-z'];
    const tried = await this.#git(['merge-tree', ...names, ours, theirs]);
    if (tried.status === 0) return { state: 'clean', paths: [] };
    if (tried.status !== 1) return refused(tried);
    const outside = pathsIn(tried.output)
      .slice(1)
      .filter((path) => !inMemory.test(path));
    if (outside.length > 0) return { state: 'outside', paths: outside };
    const folder = await mkdtemp(join(tmpdir(), 'memory-bank-merge-'));
    try {
      const added = await this.#git(['worktree', 'add', '-q', '-f', '--detach', folder, ours]);
      return added.status === 0
        ? await this.#mergeIn(folder, { head, base, theirs })
        : refused(added);
    } finally {
      await this.#git(['worktree', 'remove', '-f', '-f', folder]);
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #mergeIn(
    folder: string,
    { head, base, theirs }: { readonly head: string; readonly base: string; theirs: string },
  ): Promise<PullRequestOutcome> {
    const driver = `merge.memory-bank.driver=${driverLine(this.#clone.program)}`;
    const message = `Merge ${base} into ${head}\n\nBoth changed the same files of the memory, which memory-bank has merged by record.`;
    const merge = ['merge', '-q', '--no-ff', '--no-verify', '-m', message, theirs];
    const merged = await this.#git(['-c', driver, ...(await this.#author()), ...merge], folder);
    if (merged.status !== 0) {
      const left = await this.#git(['diff', '--name-only', '--diff-filter=U', '-z'], folder);
      const paths = pathsIn(left.output);
      return paths.length > 0 ? { state: 'conflict', paths } : refused(merged);
    }
    const commit = (await this.#git(['rev-parse', 'HEAD'], folder)).output.trim();
    // Never forced: a push that came first is kept, and starts the next run.
    const target = `${commit}:refs/heads/${head}`;
    const pushed = await this.#git(
      ['push', '-q', '--no-verify', this.#clone.remote, target],
      folder,
    );
    return pushed.status === 0 ? { state: 'merged', paths: [], commit } : refused(pushed);
  }

  /** Options that name the program as the author where git has no identity, as in a job of a server. */
  async #author(): Promise<string[]> {
    const { status } = await this.#git(['config', 'user.email']);
    const { name, email } = fallbackIdentity;
    return status === 0 ? [] : ['-c', `user.name=${name}`, '-c', `user.email=${email}`];
  }

  /** The commit of a branch of the remote, by its exact name. */
  async #tip(branch: string): Promise<string | undefined> {
    const ref = `refs/remotes/${this.#clone.remote}/${branch}`;
    const { status, output } = await this.#git(['show-ref', '--verify', '--hash', ref]);
    return status === 0 ? output.trim() : undefined;
  }

  #git(args: readonly string[], cwd = this.#clone.folder): Promise<Outcome> {
    const { signal, env } = this.#clone;
    // Hooks of the repository are for its people, and large files are not needed.
    const options = ['-c', 'core.hooksPath=/dev/null', '-c', 'filter.lfs.required=false'];
    return runGit([...options, ...args], {
      cwd,
      env: { ...env, GIT_LFS_SKIP_SMUDGE: '1' },
      signal,
      limit,
      guard: () => undefined,
    });
  }
}

function pathsIn(output: string): string[] {
  return output.split('\0').filter((path) => path !== '');
}

function refused({ complaint, output }: Outcome): PullRequestOutcome {
  return { state: 'refused', paths: [], complaint: (complaint || output).trim() };
}
