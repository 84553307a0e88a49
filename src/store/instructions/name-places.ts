/** The offsets at which a text contains a name that is not a part of a longer one. */
export function* placesOf(text: string, name: string): Generator<number> {
  const isPart = (char: string | undefined) => char !== undefined && /[\w/-]/.test(char);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const after = text[at + name.length];
    if (!isPart(text[at - 1]) && (name.endsWith('/') || !isPart(after))) yield at;
  }
}

/** Whether a text contains a name. */
export function hasName(text: string, name: string): boolean {
  return !placesOf(text, name).next().done;
}
