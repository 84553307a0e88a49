import type { SpanText } from './span.ts';

/** Limit of the texts that are compared because of one line, which many texts can contain. */
const maxTexts = 200;

/** A text of the index, and how often it contains a line. */
interface Posting {
  readonly name: string;
  count: number;
}

/** Finds the text of a set that has most in common with another, line by line. */
export class SimilarTexts {
  readonly #postings = new Map<number, Posting[]>();
  readonly #sizes = new Map<string, number>();

  add(name: string, text: SpanText): void {
    let size = 0;
    for (const [hash, length] of text.lines()) {
      size += length;
      const postings = this.#postings.get(hash);
      const last = postings?.at(-1);
      if (!postings) this.#postings.set(hash, [{ name, count: 1 }]);
      else if (last?.name === name) last.count += 1;
      else if (postings.length < maxTexts) postings.push({ name, count: 1 });
    }
    this.#sizes.set(name, size);
  }

  /**
   * The names of the texts that have lines in common with a text, and the common share of the larger of
   * both, 0 to 1. Lines count by their length, and as often as both texts have them.
   */
  alike(text: SpanText): ReadonlyMap<string, number> {
    const lines = new Map<number, { readonly length: number; count: number }>();
    let size = 0;
    for (const [hash, length] of text.lines()) {
      size += length;
      const line = lines.get(hash);
      if (line) line.count += 1;
      else lines.set(hash, { length, count: 1 });
    }
    const common = new Map<string, number>();
    for (const [hash, { length, count }] of lines) {
      for (const posting of this.#postings.get(hash) ?? []) {
        const shared = length * Math.min(count, posting.count);
        common.set(posting.name, (common.get(posting.name) ?? 0) + shared);
      }
    }
    return new Map(
      [...common].map(([name, shared]) => {
        return [name, shared / Math.max(1, size, this.#sizes.get(name) ?? 0)] as const;
      }),
    );
  }
}
