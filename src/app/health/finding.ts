/** The result of one check. */
export interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'bad';
  /** The result in words and, for a problem, what to do. */
  readonly text: string;
  /** Repairs it if that is safe; returns what was done. */
  readonly fix?: () => Promise<string>;
}
