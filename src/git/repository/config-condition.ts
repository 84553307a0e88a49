import { homedir } from 'node:os';
import { join as joined, posix, win32 } from 'node:path';

/**
 * Whether a git directory meets the condition `includeIf "gitdir:<pattern>"` (git-config).
 *
 * @param from path of the file with the condition.
 * @param flags `i` to ignore letter case.
 */
export function isBelow(
  pattern: string,
  from: string,
  gitDir: string,
  flags = '',
  platform = process.platform,
): boolean {
  const { dirname, isAbsolute, join } = platform === 'win32' ? win32 : posix;
  // Git writes all paths with slashes.
  const slashed = (path: string) => (platform === 'win32' ? path.replaceAll('\\', '/') : path);
  const full = slashed(
    pattern.startsWith('./') ? join(dirname(from), pattern) : expandHome(pattern),
  );
  const glob = withDepth(isAbsolute(full) ? full : `**/${full}`, '/');
  return matches(glob, `${slashed(gitDir)}/`, flags);
}

/** Lets a pattern that ends in a slash match everything below. */
export function withDepth(pattern: string, end = ''): string {
  return pattern.endsWith('/') ? `${pattern}**` : pattern + end;
}

/** Translates a git glob into a regular expression without nested repetition, which runs in bounded time. */
export function matches(glob: string, text: string, flags: string): boolean {
  if (glob.length > 1024 || (glob.match(/\*/g)?.length ?? 0) > 12) return false;
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\/\*\*\/|^\*\*\/|\*\*|\*|\?/g, (token) => {
      if (token === '/**/') return '/(?:.*/)?';
      if (token === '**/') return '(?:.*/)?';
      if (token === '**') return '.*';
      return token === '*' ? '[^/]*' : '[^/]';
    });
  return new RegExp(`^${source}$`, flags).test(text);
}

/** Replaces `~` at the beginning of a path. */
export function expandHome(path: string): string {
  return path.startsWith('~/') ? joined(homedir(), path.slice(2)) : path;
}
