import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MemoryError } from '../../core/error.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectDatabase } from '../objects/odb.ts';
import type { GitConfig } from '../repository/config.ts';
import type { Address } from './login.ts';
import { loginOf } from './login.ts';

/** How a branch of a remote is to move. */
export interface Push {
  readonly ref: string;
  /** Where it was seen; undefined where there was no such branch. */
  readonly from: Oid | undefined;
  readonly to: Oid;
}

/** A repository elsewhere. */
export interface Remote {
  /**
   * Brings a branch and all that is behind it.
   *
   * @param known commits that are here and that the remote may have.
   * @param inspect looks at what came, among all objects that are here; nothing of it is kept when
   *   this throws.
   * @returns where it is; undefined where there is no such branch.
   * @throws MemoryError `remote`, `unsupported`, `too_large`.
   */
  fetch(
    ref: string,
    known: readonly Oid[],
    inspect: (objects: ObjectDatabase, tip: Oid) => void,
    signal: AbortSignal,
  ): Promise<Oid | undefined>;
  /**
   * Moves a branch on; never to where not all of it is kept.
   *
   * @returns false when somebody else has moved it since it was fetched.
   */
  push(push: Push, signal: AbortSignal): Promise<boolean>;
}

/** The branch of a remote that a local one follows. */
export interface Upstream {
  /** The full name of the local one. */
  readonly branch: string;
  /** `origin`. */
  readonly remote: string;
  /** Its full name there: `refs/heads/main`. */
  readonly ref: string;
  /** The ref that tells here where it was last seen; undefined where the configuration has none. */
  readonly tracking: string | undefined;
  readonly fetch: Address;
  readonly push: Address;
}

/**
 * The upstream of a branch, as the configuration has it.
 *
 * @param ref full name of the branch; undefined on a detached HEAD.
 * @param top the work tree, against which a path is understood.
 * @throws MemoryError `not_found` where there is none, `unsupported` for one that a push could surprise.
 */
export function upstreamOf(config: GitConfig, ref: string | undefined, top: string): Upstream {
  if (ref === undefined) {
    throw new MemoryError('not_found', 'HEAD is detached: there is no branch to sync.', {
      hint: 'Check out a branch: "git switch <branch>", or "git switch -c <name>" for a new one.',
    });
  }
  const branch = ref.replace(/^refs\/heads\//, '');
  const remote = config.get(`branch.${branch}.remote`);
  const merge = config.get(`branch.${branch}.merge`);
  const url = config.get(`remote.${remote}.url`);
  if (remote === undefined || merge === undefined || url === undefined) {
    throw new MemoryError('not_found', `The branch ${branch} has no upstream on a remote.`, {
      hint: `Give it one: "git push -u origin ${branch}".`,
      data: { branch },
    });
  }
  const pushTo = config.get(`branch.${branch}.pushremote`) ?? config.get('remote.pushdefault');
  if (merge !== ref || (pushTo !== undefined && pushTo !== remote)) {
    const other = merge === ref ? `is pushed to ${pushTo}` : `follows ${shortName(remote, merge)}`;
    throw new MemoryError('unsupported', `The branch ${branch} ${other}: sync would mix the two.`, {
      hint: `Give it an upstream of its own name: "git push -u ${pushTo ?? remote} ${branch}".`,
      data: { branch },
    });
  }
  const pushUrl = config.get(`remote.${remote}.pushurl`);
  return {
    branch: ref,
    remote,
    ref: merge,
    tracking: trackingRef(config.get(`remote.${remote}.fetch`), merge),
    fetch: addressOf(rewritten(config, url, ['insteadof']), top),
    push: addressOf(rewritten(config, pushUrl ?? url, pushWords(pushUrl)), top),
  };
}

/** The name under which a person knows a branch of a remote. */
export function shortName(remote: string, ref: string): string {
  return `${remote}/${ref.replace(/^refs\/heads\//, '')}`;
}

/** Where a fetch puts a branch, by the refspec of the remote (git-fetch). */
function trackingRef(refspec: string | undefined, ref: string): string | undefined {
  const [, from = '', to] = /^\+?([^:]+):(refs\/remotes\/.+)$/.exec(refspec ?? '') ?? [];
  if (to === undefined || from === ref) return to;
  const [before = '', after] = from.split('*');
  const fits = after !== undefined && ref.startsWith(before) && ref.endsWith(after);
  return fits ? to.replace('*', ref.slice(before.length, ref.length - after.length)) : undefined;
}

/** What a push address is rewritten by: `pushInsteadOf` is for remotes that have none of their own. */
function pushWords(pushUrl: string | undefined): string[] {
  return pushUrl === undefined ? ['pushinsteadof', 'insteadof'] : ['insteadof'];
}

/** An address as `url.<base>.insteadOf` and the like have it; the longest match counts. */
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
 * What kind of address this is. Those of helpers (`ext::`, `foo://`) name programs, and none is run.
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
    // As git tells them apart: a colon before the first slash makes it a host and a path there.
    const isHost = /^[^/]+:/.test(url) && !/^[a-z]:[\\/]/i.test(url);
    return isHost ? { kind: 'ssh', url } : { kind: 'folder', url: resolve(top, url) };
  }
  throw new MemoryError(
    'unsupported',
    'The address of the remote is of a kind that sync does not use.',
    {
      hint: 'It knows https://, http://, ssh://, host:path, and folders. Use "git pull" and "git push".',
      data: { scheme: scheme ?? null },
    },
  );
}

function webAddress(url: URL): Address {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return { kind: 'http', url: bare.href, login: loginOf(url) };
}

/**
 * Whether a push was taken; false where somebody else was quicker.
 *
 * @throws MemoryError `remote` when the remote refuses it for another reason.
 */
export function isTaken(
  url: string,
  { refusal, messages }: { readonly refusal: string | undefined; readonly messages: string },
): boolean {
  if (refusal === undefined) return true;
  const lost =
    /fetch first|non-fast-forward|stale info|(?:failed to|cannot) (?:update|lock) ref|reference already exists|incorrect old value/i;
  if (lost.test(refusal)) return false;
  const said = messages.replace(/\s+/g, ' ').trim().slice(0, 500);
  throw new MemoryError('remote', `${url} refuses the push: ${refusal}.`, {
    hint: `${said === '' ? '' : `It says: ${said} `}Nothing was changed.`,
  });
}
