import { binName, packageName, packageVersion } from './own-entry.ts';

/** The commands by which clients start this program. */
export interface ClientPrograms {
  /** For files of the project, which other people get as well, on any system. */
  readonly shared: readonly string[];
  /** For files of the user. */
  readonly personal: readonly string[];
}

/** The commands for this installation, unless a person gave one with `--command`. */
export function clientPrograms(
  given: string | undefined,
  main: string,
  platform: NodeJS.Platform,
): ClientPrograms {
  const words = given?.trim().split(/\s+/);
  if (words) return { shared: words, personal: words };
  if (isFromNpx(main)) {
    const npx = ['npx', '-y', `${packageName}@${packageVersion}`];
    // There npx is a file for a shell, and not every client starts servers with one.
    return { shared: npx, personal: platform === 'win32' ? ['cmd', '/c', ...npx] : npx };
  }
  return { shared: [binName], personal: ['node', main] };
}

/** Whether the program is in the cache of npx. */
export function isFromNpx(main: string): boolean {
  return /[\\/]_npx[\\/]/.test(main);
}
