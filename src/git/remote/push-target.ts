import { MemoryError } from '../../core/values/error.ts';
import type { GitConfig } from '../repository/config.ts';

/** The remote to which git pushes a branch. */
export interface PushTarget {
  /** The name of a remote, or an address. */
  readonly remote: string;
  /** The setting that names it; undefined for git's default. */
  readonly setting: string | undefined;
}

/**
 * Returns the remote to which git pushes a branch, by git's rule (git-config, `branch.<name>.pushRemote`).
 * Everything that this program pushes goes there.
 *
 * @param ref full name of the branch; undefined on a detached HEAD.
 */
export function pushTarget(config: GitConfig, ref: string | undefined): PushTarget {
  const branch = ref === undefined ? undefined : `branch.${shortBranch(ref)}`;
  const settings = [
    ...(branch === undefined ? [] : [`${branch}.pushRemote`]),
    'remote.pushDefault',
    ...(branch === undefined ? [] : [`${branch}.remote`]),
  ];
  for (const setting of settings) {
    const remote = config.get(lastInLowerCase(setting));
    if (remote !== undefined) return { remote, setting };
  }
  return { remote: 'origin', setting: undefined };
}

/**
 * Refuses to push where the user has closed the way: with `push.default` `nothing`, or with a push remote
 * such as `no_push`, which is not a remote.
 *
 * @throws MemoryError `unsupported` that names the setting.
 */
export function checkPushes(config: GitConfig, { remote, setting }: PushTarget): void {
  if (
    config.get('push.default')?.toLowerCase() === 'nothing' &&
    config.get(`remote.${remote}.push`) === undefined
  ) {
    throw new MemoryError('unsupported', 'Git pushes nothing here: push.default is "nothing".', {
      hint: 'To let sync and claims push: "git config push.default simple".',
      data: { setting: 'push.default' },
    });
  }
  if (setting === undefined || isRemote(config, remote) || /[/\\:]|^\.+$/.test(remote)) return;
  throw new MemoryError(
    'unsupported',
    `Git pushes nothing here: ${setting} is "${remote}", which is not a remote of this repository.`,
    {
      hint: 'Name a remote there, or remove the setting, if sync and claims may push.',
      data: { setting },
    },
  );
}

/** Whether the configuration has a remote of this name. */
export function isRemote(config: GitConfig, name: string): boolean {
  return (config.get(`remote.${name}.url`) ?? config.get(`remote.${name}.pushurl`)) !== undefined;
}

/** The name of a branch without `refs/heads/`. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** The key under which a setting is kept: the names of sections and settings fold case. */
function lastInLowerCase(setting: string): string {
  return setting.replace(/[^.]+$/, (name) => name.toLowerCase());
}
