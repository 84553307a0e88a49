import { addTo } from '../../core/values/multimap.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { OpenClaim } from './claim.ts';
import { hasName } from './name-places.ts';

/** The names of one kind that claims need, and the documents with these claims. */
export class SoughtNames {
  /** Finds any of the names in a text. */
  readonly pattern: RegExp;
  /** The claims as their documents write them. */
  readonly #claims = new Map<string, string[]>();
  /** Whether a version of a document has any of its claims. */
  readonly #known = new Map<string, boolean>();

  constructor(claims: readonly OpenClaim[]) {
    const names = new Set<string>();
    for (const { doc, claim } of claims) {
      if ('name' in claim) names.add(claim.source.formsOf?.(claim.name) ?? claim.name);
      addTo(this.#claims, doc, claim.text);
    }
    // The names are words, which an expression takes as they are.
    this.pattern = new RegExp(`(?<!\\w)(?:${[...names].join('|')})(?!\\w)`, 'i');
  }

  /** The documents with the claims. */
  get docs(): Iterable<string> {
    return this.#claims.keys();
  }

  /** Whether a version of a document has any of its claims. */
  isIn(doc: string, version: Oid, read: () => string | undefined): boolean {
    const key = `${doc} ${version}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      const text = read();
      known = text !== undefined && (this.#claims.get(doc) ?? []).some((one) => hasName(text, one));
      this.#known.set(key, known);
    }
    return known;
  }
}
