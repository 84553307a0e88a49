/** The kinds of sources of proposed entries, in the order in which they are listed. */
export const proposalKinds = [
  'decision record',
  'decision section',
  'client memory',
  'script',
  // Last, because the time limit for them must not change the numbers of others.
  'commit',
] as const;

/** A statement that the project already has, as an entry that the memory could have. */
export interface ProposedEntry {
  readonly kind: (typeof proposalKinds)[number];
  readonly category:
    | 'decisions'
    | 'user-preferences'
    | 'patterns'
    | 'project-learnings'
    | 'corrections';
  readonly key: string;
  readonly value: string;
  readonly reason?: string;
  /** The file and its line, `docs/adr/0001-use-git.md:12`, or the commit and its day. */
  readonly source: string;
  /** Files that it rests on. */
  readonly evidence: readonly string[];
}

/** A file of a client outside the project. */
export interface ClientFile {
  /** For people: `~/.claude/projects/x/memory/MEMORY.md`. */
  readonly name: string;
  readonly text: string;
}
