/** A text that is to be summarised. */
export interface SummaryRequest {
  /** Of the text: what is asked for again while it waits is done once. */
  readonly id: string;
  /** The name of its file, for the model. */
  readonly file: string;
  /** Asked for when its turn has come. */
  text(): string;
  /** How many bytes of UTF-8 the summary should take at most; whoever asks checks it. */
  readonly limit: number;
}

/** Has a language model make summaries in the background: one at a time, and nobody waits for them. */
export interface Summarizer {
  /** The name of the model. */
  readonly model: string;
  /**
   * Asks for a summary.
   *
   * @param keep is given it once it is there; never, when the model fails or the program ends before.
   */
  request(request: SummaryRequest, keep: (summary: string) => Promise<unknown>): void;
}
