import { Minimatch, minimatch } from 'minimatch';
import type { Mode } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';

/** Limits of one list of patterns; they keep any match far below a millisecond. */
const maxPatterns = 200;
const maxLength = 256;
/** Each "[" that is never closed makes the reading of a pattern slower by all that follow. */
export const maxClasses = 16;

const options = {
  dot: true,
  noext: true,
  nocomment: true,
  nonegate: true,
  platform: 'linux',
  braceExpandMax: maxPatterns + 1,
} as const;

/** The core files with another name in older memories: either name means both. */
const twins = [
  ['activeContext.md', 'active-context.md'],
  ['decisionLog.md', 'decision-log.md'],
  ['productContext.md', 'product-context.md'],
  ['systemPatterns.md', 'system-patterns.md'],
];

/** The permissions of a mode; paths are relative to `.memory-bank/`, letter case counts. */
export interface Access {
  /** The mode that sets the rules; undefined where nothing is restricted. */
  readonly mode: string | undefined;
  mayRead(path: string): boolean;
  mayWrite(path: string): boolean;
}

type Matcher = (path: string) => boolean;

const anything: Matcher = () => true;
const matchers = new WeakMap<readonly string[], Matcher>();

/**
 * What a mode allows to read and to write: everything where it has no list, nothing where the list
 * is empty.
 *
 * @param updating whether "Update Memory Bank" is under way: it lifts the list of files to update in
 *   a mode that says so with `override_file_restrictions`.
 */
export function accessOf(mode: Mode | undefined, updating: boolean): Access {
  const lifted = updating && mode?.umb?.overrideFileRestrictions === true;
  return {
    mode: mode?.name,
    mayRead: matcherOf(mode?.filesToRead),
    mayWrite: lifted ? anything : matcherOf(mode?.filesToUpdate),
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
  const core = twins.filter((names) => names.some(listed)).flat();
  return (path) => core.includes(path) || listed(path);
}

/**
 * The patterns of a list with their braces expanded, relative to `.memory-bank/` even where they
 * name that folder.
 *
 * @throws MemoryError `too_large` for too many or too long patterns; `damaged` for negations and
 *   extended globs, which would not do what they seem to.
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
      throw new MemoryError('too_large', `more than ${maxPatterns} patterns, braces expanded`);
    }
  }
  return expanded;
}
