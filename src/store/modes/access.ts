import { Minimatch, minimatch } from 'minimatch';
import type { Mode } from '../../core/declarations/context.ts';
import { MemoryError } from '../../core/values/error.ts';
import { logOfEntry } from '../layout/log-paths.ts';

/** Limits of one list of patterns; they keep any match far below a millisecond. */
export const maxPatterns = 200;
export const maxLength = 256;
/** Limit of "[" in a pattern: an unclosed one makes the parser scan the rest of the pattern. */
export const maxClasses = 16;

const options = {
  dot: true,
  noext: true,
  nocomment: true,
  nonegate: true,
  platform: 'linux',
  braceExpandMax: maxPatterns + 1,
} as const;

/** The core files that have another name in older memories: a rule for one name is for both. */
const coreNames = [
  ['activeContext.md', 'active-context.md'],
  ['decisionLog.md', 'decision-log.md'],
  ['productContext.md', 'product-context.md'],
  ['systemPatterns.md', 'system-patterns.md'],
];

/** The permissions of a mode; paths are relative to `.memory-bank/` and case-sensitive. */
export interface Access {
  /** The mode that sets the rules; undefined if nothing is restricted. */
  readonly mode: string | undefined;
  mayRead(path: string): boolean;
  mayWrite(path: string): boolean;
}

/** Returns which records may be read; undefined for all, so that a search need not ask for each. */
export function readableIn(access: Access): ((path: string) => boolean) | undefined {
  return access.mode === undefined ? undefined : (path) => access.mayRead(path);
}

type Matcher = (path: string) => boolean;

const anything: Matcher = () => true;
const matchers = new WeakMap<readonly string[], Matcher>();

/**
 * The permissions of a mode: everything without a list, nothing with an empty list.
 *
 * @param updating whether "Update Memory Bank" is under way: it lifts the list of files to update in
 *   a mode with `override_file_restrictions`.
 * @param hasEntryFiles whether logs are stored in files that share the permissions of their log.
 */
export function accessOf(mode: Mode | undefined, updating: boolean, hasEntryFiles = false): Access {
  const lifted = updating && mode?.umb?.overrideFileRestrictions === true;
  const through = (matcher: Matcher): Matcher =>
    hasEntryFiles ? (path) => matcher(logOfEntry(path) ?? path) : matcher;
  return {
    mode: mode?.name,
    mayRead: through(matcherOf(mode?.filesToRead)),
    mayWrite: lifted ? anything : through(matcherOf(mode?.filesToUpdate)),
  };
}

function matcherOf(patterns: readonly string[] | undefined): Matcher {
  if (!patterns) return anything;
  let matcher = matchers.get(patterns);
  if (!matcher) {
    matcher = compile(patterns);
    matchers.set(patterns, matcher);
  }
  return matcher;
}

function compile(patterns: readonly string[]): Matcher {
  const globs = expandPatterns(patterns).map(
    (pattern) => new Minimatch(pattern, { ...options, nobrace: true }),
  );
  const listed: Matcher = (path) => globs.some((glob) => glob.match(path));
  const core = coreNames.filter((names) => names.some(listed)).flat();
  return (path) => core.includes(path) || listed(path);
}

/**
 * Expands the braces of patterns, and makes the patterns relative to `.memory-bank/`.
 *
 * @throws MemoryError `too_large` for too many or too long patterns; `damaged` for negations and
 *   extended globs, which are not supported.
 */
export function expandPatterns(patterns: readonly string[]): string[] {
  const expanded: string[] = [];
  for (const pattern of patterns) {
    if (pattern.length > maxLength) {
      throw new MemoryError('too_large', `a pattern has more than ${maxLength} characters`);
    }
    if (pattern.split('[').length - 1 > maxClasses) {
      throw new MemoryError('too_large', `a pattern has more than ${maxClasses} "["`);
    }
    if (/^!|[?*+@!]\(/.test(pattern)) {
      const quoted = JSON.stringify(pattern);
      throw new MemoryError('damaged', `${quoted}: patterns with "!" or "(…|…)" are not supported`);
    }
    const relative = pattern.replace(/^(?:\.\/)?(?:\.memory-bank\/)?/, '');
    expanded.push(...minimatch.braceExpand(relative, options));
    if (expanded.length > maxPatterns) {
      throw new MemoryError('too_large', `more than ${maxPatterns} patterns after brace expansion`);
    }
  }
  return expanded;
}
