import type { CommitInfo } from './commit-log.ts';

/** The programs of ours by which people make changes. */
const ofPeople = /^memory-bank-(?:cli|view)(?:\/|$)/;

/** A name of this program, after the characters that no commit shows. */
const ownName = /^[\s\p{C}]*memory-bank(?![a-z0-9])/iu;

/** Whether a person made a commit, by its agent; a squash lists several. */
export function isOfPerson(agent: string): boolean {
  return agent.split(', ').every((one) => ofPeople.test(one));
}

/** Whether an agent made a commit; one of no program of ours names none. */
export function isOfAgent(agent: string | undefined): agent is string {
  return agent !== undefined && !isOfPerson(agent);
}

/** Returns the name that an agent gives itself, with a prefix if it is one of this program. */
export function agentName(given: string): string {
  return ownName.test(given) ? `client:${given}` : given;
}

/** Returns the agent of a commit without its version, or its author without the address. */
export function authorName({ agent, author }: Pick<CommitInfo, 'agent' | 'author'>): string {
  return (agent ?? author).replace(/\/.*| <[^<>]*>$/, '');
}
