import type { Context } from '../../core/context.ts';
import { HookState } from '../../store/hook-state.ts';
import type { Brief } from '../../toolsets/brief/layout.ts';
import type { BriefRequest } from '../../toolsets/brief/session-brief.ts';
import { brief } from '../../toolsets/index.ts';

/** The part of a memory that a hook reads. */
export interface HookMemory {
  readonly now: Date;
  readonly state: Pick<HookState, 'local' | 'exclusively'>;
  isInitialized(): Promise<boolean>;
  /** The commit of HEAD; `''` for none. */
  head(): Promise<string>;
  /** The last commit that changed the memory; `''` for none. */
  lastChange(): Promise<string>;
  /** Whether commits since an earlier one changed files outside the memory. */
  hasCommitsSince(earlier: string): Promise<boolean>;
  /** The number of edited files, up to a limit. */
  edited(limit: number): Promise<number>;
  brief(request: BriefRequest): Promise<Brief>;
}

/** The memory of a call. */
export async function contextMemory(context: Context): Promise<HookMemory> {
  const { project } = context;
  return {
    now: context.now(),
    state: HookState.at((await project.info()).folder),
    isInitialized: async () => (await project.info()).initialized,
    head: async () => (await project.head()).oid ?? '',
    lastChange: async () => (await project.lastChange(''))?.oid ?? '',
    hasCommitsSince: async (earlier) => (await project.drift(earlier, 1)).commits > 0,
    edited: async (limit) => (await project.work(limit)).edited.length,
    brief: (request) => brief(context, request),
  };
}
