/** The anchors of the headings of one text, in their order: as renderers of markdown make them. */
export class Anchors {
  readonly #used = new Set<string>();

  /** Returns the anchor of the next heading. */
  next(heading: string): string {
    const plain = anchorOf(heading);
    let anchor = plain;
    for (let use = 1; this.#used.has(anchor); use++) anchor = `${plain}-${use}`;
    this.#used.add(anchor);
    return anchor;
  }
}

/** Returns the anchor that renderers of markdown give to a heading, if it is the first of its kind. */
export function anchorOf(heading: string): string {
  const plain = heading.trim().toLowerCase();
  return plain.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-');
}
