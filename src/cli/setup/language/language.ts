/** The language of a configuration: an object in a text, found by the keys that lead to it. */
export interface Language {
  /**
   * Sets the members of the value in the text, or removes the value; everything else stays as it is.
   *
   * @param value members that are objects are set member by member; undefined removes a member of them.
   * @throws MemoryError `damaged` when the text cannot be edited safely.
   */
  edit(text: string, path: readonly string[], value: object | undefined): string;
  /**
   * Returns the value in the text.
   *
   * @throws MemoryError `damaged` when the text cannot be read.
   */
  read(text: string, path: readonly (string | number)[]): unknown;
}
