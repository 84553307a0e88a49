/**
 * How a record's value becomes the text of its file and comes back.
 *
 * Laws, tested for every record type: `decode(encode(x))` equals `x`; `encode(decode(t), t)` equals
 * `t` for every text that decodes; `encode` of equal values gives equal text.
 */
export interface Codec<T> {
  /**
   * The text of a record.
   *
   * @param previous the text of the file as it stands, when there is one: keys and comments that a
   *   person added to it survive.
   */
  encode(value: T, previous?: string): string;
  /**
   * The value of a text.
   *
   * @param path where the text lies, relative to `.memory-bank/`; only a type whose key is its path
   *   needs it.
   * @throws MemoryError `damaged` with a message that says what is wrong and, where it can be
   *   known, in which line; the caller adds the path.
   */
  decode(text: string, path: string): T;
}
