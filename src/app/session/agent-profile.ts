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

/** The toolset of which the profile offers a part to a project that already uses it. */
export const usedToolset = 'graph';

/** The tools of `usedToolset` for daily work; `search_memory` finds its records. */
const usedTools = ['build_context', 'create_tasks', 'list_tasks', 'update_task'];

/** The toolset that the profile offers once there are others to share the memory with. */
const sharedToolset = 'team';

/** The properties of a project that decide what the profile offers. */
export interface ProfileUse {
  /** Whether the memory has records of `usedToolset`. */
  readonly usesGraph: boolean;
  readonly hasRemote: boolean;
}

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
 */
export function inProfile(
  all: readonly OfferedTool[],
  { usesGraph, hasRemote }: ProfileUse,
): OfferedTool[] {
  const toolsets = [...wholeToolsets, ...(hasRemote ? [sharedToolset] : [])];
  const tools = [...singleTools, ...(usesGraph ? usedTools : [])];
  return all.filter(
    ({ tool, toolset: { name } }) => toolsets.includes(name) || tools.includes(tool.name),
  );
}
