/** What one look at something found. */
export interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'bad';
  /** What was found and, where something is wrong, what to do. */
  readonly text: string;
  /** Mends it, where that is safe; returns what was done. */
  readonly fix?: () => Promise<string>;
}
