/** The anchors of the headings of one text, in their order: as renderers of markdown make them. */
export class Anchors {
  /** The anchors in use, each with the number that the next heading of the same text begins with. */
  readonly #used = new Map<string, number>();

  /** Returns the anchor of the next heading. */
  next(heading: string): string {
    const plain = anchorOf(heading);
    let use = this.#used.get(plain) ?? 0;
    let anchor = use === 0 ? plain : `${plain}-${use}`;
    while (this.#used.has(anchor)) anchor = `${plain}-${++use}`;
    this.#used.set(plain, use + 1);
    if (anchor !== plain) this.#used.set(anchor, 1);
    return anchor;
  }
}

/** Returns the anchor that renderers of markdown give to a heading, if it is the first of its kind. */
export function anchorOf(heading: string): string {
  const plain = heading.trim().toLowerCase();
  return plain.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-');
}
