import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import type { GitConfig } from '../repository/config.ts';
import type { Address } from './login.ts';
import { loginOf } from './login.ts';
import { checkPushes, isRemote, pushTarget, shortBranch } from './push-target.ts';

/** How a branch of a remote is to move. */
export interface Push {
  readonly ref: string;
  /** Its expected commit; undefined if the branch did not exist. */
  readonly from: Oid | undefined;
  readonly to: Oid;
}

/** Refs that point to files, such as claims. */
export interface RefsBelow {
  /** `refs/memory-bank/claims/` */
  readonly prefix: string;
  /** Gets the refs and the fetched objects together with the local ones, and returns the refs to keep. */
  inspect(objects: ObjectDatabase, refs: ReadonlyMap<string, Oid>): Map<string, Oid>;
}

/** A branch as a remote has it. */
export interface FetchedBranch {
  readonly tip: Oid;
  /** The refs below the wanted prefix that are kept. */
  readonly below: ReadonlyMap<string, Oid>;
}

/** A remote repository. */
export interface Remote {
  /**
   * Fetches a branch with its history, and refs below a prefix by the same connection.
   *
   * @param known local commits that the remote may have.
   * @param inspect checks the fetched objects together with the local ones; if it throws, none of them is
   *   kept.
   * @returns undefined if there is no such branch.
   * @throws MemoryError `remote`, `unsupported`, `too_large`.
   */
  fetch(
    ref: string,
    known: readonly Oid[],
    inspect: (objects: ObjectDatabase, tip: Oid) => void,
    signal: AbortSignal,
    below?: RefsBelow,
  ): Promise<FetchedBranch | undefined>;
  /**
   * Fetches one commit without its history, for a look at it: none of its objects is kept.
   *
   * @param wanted the full name of a branch or tag, `HEAD`, or the id of a commit.
   * @param look gets the fetched objects together with the local ones.
   * @returns undefined if the remote does not have it.
   * @throws MemoryError `remote`, `unsupported`, `too_large`, and the errors of `look`.
   */
  visit<T>(
    wanted: string,
    look: (objects: ObjectDatabase, tip: Oid) => T,
    signal: AbortSignal,
  ): Promise<T | undefined>;
  /**
   * Moves a branch forward, never to a commit that drops history.
   *
   * @returns false when the branch has moved since it was fetched.
   */
  push(push: Push, signal: AbortSignal): Promise<boolean>;
  /**
   * Fetches the refs below a prefix.
   *
   * @throws MemoryError `remote`, `unsupported`, `too_large`.
   */
  fetchBelow(below: RefsBelow, signal: AbortSignal): Promise<ReadonlyMap<string, Oid>>;
  /**
   * Changes a ref that points to a file if it still has the expected value.
   *
   * @param lease its new value; undefined removes it.
   * @returns false if it had another value.
   */
  swap(lease: Lease, signal: AbortSignal): Promise<boolean>;
}

/** How a ref that points to a file is to change. */
export interface Lease {
  readonly ref: string;
  /** Its expected value; undefined if it must not exist. */
  readonly from: Oid | undefined;
  readonly to: Oid | undefined;
}

/** The upstream branch of a local branch. */
export interface Upstream {
  /** Full name of the local branch. */
  readonly branch: string;
  /** `origin`. */
  readonly remote: string;
  /** Its full name on the remote: `refs/heads/main`. */
  readonly ref: string;
  /** The remote-tracking ref; undefined if the configuration has none. */
  readonly tracking: string | undefined;
  readonly fetch: Address;
  readonly push: Address;
}

/**
 * Reads the upstream of a branch from the configuration.
 *
 * @param ref full name of the branch; undefined on a detached HEAD.
 * @param top the work tree, to which a relative path refers.
 * @throws MemoryError `not_found` if there is none, `unsupported` if a push would go elsewhere or nowhere.
 */
export function upstreamOf(config: GitConfig, ref: string | undefined, top: string): Upstream {
  if (ref === undefined) {
    throw new MemoryError('not_found', 'HEAD is detached: there is no branch to sync.', {
      hint: 'Check out a branch: "git switch <branch>", or "git switch -c <name>" for a new one.',
    });
  }
  const branch = shortBranch(ref);
  const remote = config.get(`branch.${branch}.remote`);
  const merge = config.get(`branch.${branch}.merge`);
  const url = config.get(`remote.${remote}.url`);
  if (remote === undefined || merge === undefined || url === undefined) {
    throw new MemoryError('not_found', `The branch ${branch} has no upstream on a remote.`, {
      hint: `Give it one: "git push -u origin ${branch}".`,
      data: { branch },
    });
  }
  const target = pushTarget(config, ref);
  checkPushes(config, target);
  if (target.remote !== remote) {
    const pushTo = target.remote;
    const other = isRemote(config, pushTo)
      ? ` To sync with ${pushTo} instead: "git push -u ${pushTo} ${branch}".`
      : '';
    throw new MemoryError(
      'unsupported',
      `The branch ${branch} follows ${shortName(remote, merge)} but is pushed to ${pushTo} (${target.setting}): sync would mix the two.`,
      {
        hint: `To sync with ${remote}: "git config branch.${branch}.pushRemote ${remote}".${other}`,
        data: { branch },
      },
    );
  }
  if (merge !== ref) {
    throw new MemoryError(
      'unsupported',
      `The branch ${branch} follows ${shortName(remote, merge)}: sync would mix the two.`,
      {
        hint: `Give it an upstream of its own name: "git push -u ${remote} ${branch}".`,
        data: { branch },
      },
    );
  }
  return {
    branch: ref,
    remote,
    ref: merge,
    tracking: trackingRef(config.get(`remote.${remote}.fetch`), merge),
    ...addressesOf(config, remote, url, top),
  };
}

/**
 * Returns the address for refs that belong to no branch: where git pushes the current branch.
 *
 * @param ref full name of the branch; undefined on a detached HEAD.
 * @param top the work tree, to which a relative path refers.
 * @returns undefined if there is none.
 * @throws MemoryError `unsupported` for an address of another kind, or if the user has closed the way.
 */
export function hubOf(
  config: GitConfig,
  ref: string | undefined,
  top: string,
): Address | undefined {
  const target = pushTarget(config, ref);
  const { remote, setting } = target;
  const url = config.get(`remote.${remote}.url`);
  if (url === undefined && (setting === undefined || remote === '.')) return undefined;
  checkPushes(config, target);
  // As in git, a push remote can be an address.
  return addressesOf(config, remote, url ?? remote, top).push;
}

/**
 * Returns the address of a repository of which the configuration knows no remote.
 *
 * @param top the folder to which a relative path refers.
 * @throws MemoryError `unsupported` for an address of another kind.
 */
export function addressAt(config: GitConfig, url: string, top: string): Address {
  return addressOf(rewritten(config, url, ['insteadof']), top);
}

function addressesOf(config: GitConfig, remote: string, url: string, top: string) {
  const pushUrl = config.get(`remote.${remote}.pushurl`);
  return {
    fetch: addressOf(rewritten(config, url, ['insteadof']), top),
    push: addressOf(rewritten(config, pushUrl ?? url, pushWords(pushUrl)), top),
  };
}

/** The short name of a branch of a remote. */
export function shortName(remote: string, ref: string): string {
  return `${remote}/${shortBranch(ref)}`;
}

/** The ref that a fetch writes for a branch, by the refspec of the remote (git-fetch). */
function trackingRef(refspec: string | undefined, ref: string): string | undefined {
  const [, from = '', to] = /^\+?([^:]+):(refs\/remotes\/.+)$/.exec(refspec ?? '') ?? [];
  if (to === undefined || from === ref) return to;
  const [before = '', after] = from.split('*');
  const fits = after !== undefined && ref.startsWith(before) && ref.endsWith(after);
  return fits ? to.replace('*', ref.slice(before.length, ref.length - after.length)) : undefined;
}

/** The rewrite rules of a push address: `pushInsteadOf` applies only without a `pushurl`. */
function pushWords(pushUrl: string | undefined): string[] {
  return pushUrl === undefined ? ['pushinsteadof', 'insteadof'] : ['insteadof'];
}

/** Rewrites an address by `url.<base>.insteadOf` and the like; the longest match wins. */
function rewritten(config: GitConfig, url: string, words: readonly string[]): string {
  for (const word of words) {
    const [best] = [...config.section('url')]
      .flatMap(([key, prefix]) =>
        key.endsWith(`.${word}`) && url.startsWith(prefix)
          ? [{ base: key.slice(0, -word.length - 1), prefix }]
          : [],
      )
      .sort((a, b) => b.prefix.length - a.prefix.length);
    if (best) return best.base + url.slice(best.prefix.length);
  }
  return url;
}

/**
 * The kind of an address. A helper address (`ext::`, `foo://`) names a program, which is never run.
 *
 * @throws MemoryError `unsupported`.
 */
function addressOf(url: string, top: string): Address {
  const scheme = /^([a-z][a-z0-9+.-]*):(?:\/\/|:)/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') {
    if (URL.canParse(url)) return webAddress(new URL(url));
  } else if (scheme === 'ssh' && !url.startsWith('ssh::')) {
    return { kind: 'ssh', url };
  } else if (scheme === 'file' && URL.canParse(url)) {
    return { kind: 'folder', url: fileURLToPath(url) };
  } else if (scheme === undefined) {
    // As in git: a colon before the first slash separates a host from a path.
    const isHost = /^[^/]+:/.test(url) && !/^[a-z]:[\\/]/i.test(url);
    return isHost ? { kind: 'ssh', url } : { kind: 'folder', url: resolve(top, url) };
  }
  throw new MemoryError('unsupported', 'Sync does not support this kind of remote address.', {
    hint: 'It supports https://, http://, ssh://, host:path, and folders. Use "git pull" and "git push".',
    data: { scheme: scheme ?? null },
  });
}

function webAddress(url: URL): Address {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return { kind: 'http', url: bare.href, login: loginOf(url) };
}
