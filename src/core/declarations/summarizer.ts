/** A request to summarise a text. */
export interface SummaryRequest {
  /** Identifies the text: equal requests in the queue are answered once. */
  readonly id: string;
  /** The name of its file, for the model. */
  readonly file: string;
  /** Returns the text when the request is processed. */
  text(): string;
  /** Maximum size of the summary, in bytes of UTF-8; the caller has to check it. */
  readonly limit: number;
}

/** Requests summaries from a language model, one at a time and in the background. */
export interface Summarizer {
  /** The name of the model. */
  readonly model: string;
  /**
   * Queues a request.
   *
   * @param keep callback for the summary; not called if the model fails or the program ends earlier.
   */
  request(request: SummaryRequest, keep: (summary: string) => Promise<unknown>): void;
}
