/** A request that the server refused, or that did not reach it. */
export class RefusedRequest extends Error {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
