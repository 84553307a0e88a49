/** A model that makes vectors of texts: texts of similar meaning have similar vectors. */
export interface Embedder {
  /** Identifies the model: the vectors of two models cannot be compared. */
  readonly model: string;
  /** Whether texts are sent to another program. */
  readonly isRemote: boolean;
  /**
   * Returns one vector for each text, all of the same length; undefined for a text without known words.
   *
   * @throws Error with a sentence for the user if the model cannot be used or answers nonsense.
   */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (Float32Array | undefined)[]>;
}

/** Limit of the length of a vector. */
export const maxVectorLength = 8192;
