/** The statement of a session that it works on a record, so that no other one does. */
export interface WorkClaim {
  /** The path of the record, relative to the memory folder. */
  readonly path: string;
  /** The agent: `claude-code/2.1`. */
  readonly agent: string;
  readonly session: string;
  /** The name of the person whose git configuration the agent used. */
  readonly person: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  /** When it expires, by the clock of the machine that made it; ISO 8601, UTC. */
  readonly until: string;
  /** Whether it belongs to the session that asks. */
  readonly mine: boolean;
}

/** A claim that was just made. */
export interface MadeClaim {
  readonly claim: WorkClaim;
  /** Why other machines do not know the claim: no remote is configured, or it could not be reached. */
  readonly unshared?: string;
}

/**
 * The claims of records. They are outside the memory, and belong neither to a branch nor to a commit.
 *
 * With an upstream, its remote decides between machines; otherwise the lock of the repository decides
 * between the processes of one machine.
 */
export interface Claims {
  /** The claims that have not expired, by path, as far as this clone knows them. */
  list(): Promise<ReadonlyMap<string, WorkClaim>>;
  /**
   * Claims a record, or extends the session's own claim.
   *
   * @param minutes until it expires.
   * @throws MemoryError `conflict` if another session has claimed it, `not_found`, `forbidden`.
   */
  claim(path: string, minutes: number): Promise<MadeClaim>;
  /**
   * Ends a claim.
   *
   * @param force whether to end the claim of another session.
   * @returns whether there was one.
   * @throws MemoryError `conflict` for the claim of another session, `remote` if the remote has the claim
   *   and cannot be reached.
   */
  release(path: string, force: boolean): Promise<boolean>;
}
