import { findNamedSecret, findSecrets } from '../../store/secrets/scan.ts';

/** The signs that a difference puts before its lines. */
const signs = /^[-+ ]/gm;
/** Signs before a line of a longer secret. */
const margin = /^[-+ \t>|"']+/;
/** A line of a longer secret counts from this length on. */
const shortest = 8;

/** Takes credentials and places of this machine out of what is meant for others, such as a copy. */
export class CopyCleaning {
  /** The text that stands for each credential. */
  readonly #found = new Map<string, string>();
  readonly #places: readonly (readonly [place: RegExp, name: string])[];
  #pattern: RegExp | undefined;

  /** @param places folders of this machine, and the text that stands for each. */
  constructor(places: readonly (readonly [place: string, name: string])[]) {
    this.#places = places
      .filter(([place]) => place.length > 1)
      .toSorted(([a], [b]) => b.length - a.length)
      .map(([place, name]) => [patternOf(place), name]);
  }

  /** Looks for credentials in all texts of a value. */
  look(value: unknown): void {
    if (typeof value === 'string') this.#lookIn(value);
    else if (typeof value !== 'object' || value === null) return;
    else
      for (const [name, one] of Object.entries(value)) {
        this.look(name);
        this.look(one);
      }
  }

  /** Looks at a value together with the name that says what it is, as in the field `password`. */
  lookAt(name: string, value: unknown): void {
    if (typeof value !== 'string') return;
    this.#lookIn(`${name}: ${value}`);
    for (const { text, kind } of findNamedSecret({ title: name, body: value }, value)) {
      this.#add(text, kind);
    }
  }

  #lookIn(text: string): void {
    const plain = text.replace(signs, '');
    for (const read of plain === text ? [text] : [text, plain]) {
      for (const { kind, index, end } of findSecrets(read)) this.#add(read.slice(index, end), kind);
    }
  }

  #add(secret: string, kind: string): void {
    for (const line of secret.split(/\r?\n/)) {
      const found = line.replace(margin, '').trim();
      if (found.length < Math.min(shortest, secret.length) || this.#found.has(found)) continue;
      this.#found.set(found, `[${kind}]`);
      this.#pattern = undefined;
    }
  }

  /** Returns a value of the same form without what was found, and without places of this machine. */
  clean<T>(value: T): T {
    return this.#cleaned(value) as T;
  }

  #cleaned(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) return value.map((one) => this.#cleaned(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [this.#text(name), this.#cleaned(one)]),
    );
  }

  #text(text: string): string {
    let clean = text;
    for (const [place, name] of this.#places) clean = clean.replace(place, name);
    if (this.#found.size === 0) return clean;
    this.#pattern ??= anyOf([...this.#found.keys()]);
    return clean.replace(this.#pattern, (secret) => this.#found.get(secret) ?? '');
  }
}

/** The longest first: a credential may begin with another one. */
function anyOf(texts: readonly string[]): RegExp {
  const sorted = texts.toSorted((a, b) => b.length - a.length);
  return new RegExp(sorted.map(escaped).join('|'), 'g');
}

/** A folder with either separator, and not as a part of another path. */
function patternOf(place: string): RegExp {
  const parts = place.split(/[\\/]/).map(escaped);
  return new RegExp(`(?<![\\w.~-])${parts.join('[\\\\/]')}(?![\\w-])`, 'g');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
