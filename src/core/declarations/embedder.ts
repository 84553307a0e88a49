/** A model of another program that makes vectors of texts: similar ones for texts of similar meaning. */
export interface Embedder {
  /** Identifies the model: the vectors of two models cannot be compared. */
  readonly model: string;
  /**
   * Returns one vector for each text, all of the same length.
   *
   * @throws Error with a sentence for the user if the model cannot be used or answers nonsense.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/** Limit of the length of a vector. */
export const maxVectorLength = 8192;
