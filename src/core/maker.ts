import type { CommitInfo } from './history.ts';

/** Returns the agent of a commit without its version, or its author without the address. */
export function makerOf({ agent, author }: Pick<CommitInfo, 'agent' | 'author'>): string {
  return (agent ?? author).replace(/\/.*| <[^<>]*>$/, '');
}
