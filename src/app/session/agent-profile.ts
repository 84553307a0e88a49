import type { Tool } from '../../core/declarations/tool.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { MemoryError } from '../../core/values/error.ts';

/** A tool with its toolset. */
export interface OfferedTool {
  readonly tool: Tool;
  readonly toolset: Toolset;
}

/** The environment variable that selects a profile. */
export const profileVariable = 'MEMORY_BANK_PROFILE';

/** The profiles that a server can be started with. */
const profiles = ['agent'] as const;
export type Profile = (typeof profiles)[number];

/** The toolsets that the profile offers as a whole. */
const wholeToolsets = ['memory-bank', 'knowledge', 'search', 'brief', 'truth'];

/** The tools of other toolsets that the profile offers. */
const singleTools = [
  'record_history',
  'read_as_of',
  'diff_memory',
  'restore_memory',
  'resolve_conflicts',
];

/** The toolset that the profile offers to a project that already uses it. */
export const usedToolset = 'graph';

/**
 * Returns a profile by its name.
 *
 * @throws MemoryError `invalid_input` for an unknown name.
 */
export function readProfile(name: string | undefined): Profile | undefined {
  const found = profiles.find((one) => one === name);
  if (found !== undefined || !name) return found;
  throw new MemoryError('invalid_input', `There is no profile "${name}".`, {
    hint: `The profiles are: ${profiles.join(', ')}.`,
  });
}

/** Returns the profile of an environment; one that only a later version has is reported, and ignored. */
export function profileOf(
  env: { readonly [name: string]: string | undefined },
  warn: (message: string) => void,
): Profile | undefined {
  try {
    return readProfile(env[profileVariable]);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    warn(`${profileVariable} is ignored. ${error.text}`);
    return undefined;
  }
}

/**
 * Chooses the tools that an agent needs in an ordinary project. The others can still be called by name.
 *
 * @param isUsed whether the memory has records of `usedToolset`.
 */
export function inProfile(all: readonly OfferedTool[], isUsed: boolean): OfferedTool[] {
  return all.filter(
    ({ tool, toolset: { name } }) =>
      wholeToolsets.includes(name) ||
      singleTools.includes(tool.name) ||
      (isUsed && name === usedToolset),
  );
}
