import type { Lines } from './reference.ts';

/**
 * Identifies the text of some lines without its indentation and blank lines. It is short enough to be
 * stored, and a text can be searched for it.
 */
export interface Fingerprint {
  /** Number of lines that are not blank. */
  readonly lines: number;
  /** 16 hexadecimal digits. */
  readonly hash: string;
}

/** Where the text of a span is found in another text. */
export type SpanMatch =
  | { readonly verdict: 'fresh' | 'moved' | 'ambiguous'; readonly lines: Lines }
  | { readonly verdict: 'changed' };

/** Bases of the two hashes; 5 modulo 8, so that their powers repeat as late as possible. */
const bases = [0x9e37_79b5, 0x85eb_ca6d] as const;

/** Writes a fingerprint as one word: `13-0f3a…`. */
export function formatFingerprint({ lines, hash }: Fingerprint): string {
  return `${lines}-${hash}`;
}

/** Reads a fingerprint; undefined for a text that is not one. */
export function parseFingerprint(text: string): Fingerprint | undefined {
  const [, lines, hash] = /^([1-9]\d{0,6})-([0-9a-f]{16})$/.exec(text) ?? [];
  return lines === undefined || hash === undefined ? undefined : { lines: Number(lines), hash };
}

/**
 * A text in which spans can be found: its lines trimmed, without blank lines.
 *
 * Sums of the hashes of the lines before each line make the hash of any lines a subtraction, so the
 * search costs the same for a span of any length.
 */
export class SpanText {
  /** Number of all lines. */
  readonly lineCount: number;
  /** The line numbers of the lines that are not blank. */
  readonly #numbers: number[] = [];
  /** Their lengths, with indentation and line end, as git weighs lines. */
  readonly #lengths: number[] = [];
  /** For each base the hash of all lines before a line, and the powers of the base. */
  readonly #before: readonly [Uint32Array, Uint32Array];
  readonly #powers: readonly [Uint32Array, Uint32Array];

  constructor(text: string) {
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    this.lineCount = lines.length;
    const table = (): [Uint32Array, Uint32Array] => [
      new Uint32Array(lines.length + 1),
      new Uint32Array(lines.length + 1),
    ];
    this.#before = table();
    this.#powers = table();
    for (const powers of this.#powers) powers[0] = 1;
    for (const [i, line] of lines.entries()) {
      const trimmed = line.trim();
      if (trimmed === '') continue;
      const at = this.#numbers.push(i + 1);
      this.#lengths.push(line.length + 1);
      for (const which of [0, 1] as const) {
        const [before, powers] = [this.#before[which], this.#powers[which]];
        const hash = hashLine(trimmed, which);
        before[at] = Math.imul(before[at - 1] ?? 0, bases[which]) + hash;
        powers[at] = Math.imul(powers[at - 1] ?? 0, bases[which]);
      }
    }
  }

  /** The fingerprint of some lines; undefined if all are blank or some are beyond the end. */
  fingerprint({ first, last }: Lines): Fingerprint | undefined {
    if (last > this.lineCount) return undefined;
    const start = this.#position(first);
    const lines = this.#position(last + 1) - start;
    return lines > 0 ? { lines, hash: this.#hash(start, lines) } : undefined;
  }

  /**
   * Finds the lines with a fingerprint.
   *
   * @param near where they were: `fresh` means that they are still there; `ambiguous` that the text occurs
   *   more than once elsewhere, with the nearest of these places.
   */
  locate(wanted: Fingerprint, near: Lines): SpanMatch {
    const here = this.fingerprint(near);
    if (here?.lines === wanted.lines && here.hash === wanted.hash) {
      return { verdict: 'fresh', lines: near };
    }
    let found = 0;
    let nearest: Lines | undefined;
    const distance = (lines: Lines | undefined) =>
      lines === undefined ? Number.POSITIVE_INFINITY : Math.abs(lines.first - near.first);
    const wantedFirst = Number.parseInt(wanted.hash.slice(0, 8), 16);
    for (let at = 0; at + wanted.lines <= this.#numbers.length; at++) {
      if (this.#number(at, wanted.lines, 0) !== wantedFirst) continue;
      if (this.#hash(at, wanted.lines) !== wanted.hash) continue;
      found += 1;
      const first = this.#numbers[at] ?? 0;
      const lines = { first, last: this.#numbers[at + wanted.lines - 1] ?? first };
      if (distance(lines) < distance(nearest)) nearest = lines;
    }
    if (!nearest) return { verdict: 'changed' };
    return { verdict: found === 1 ? 'moved' : 'ambiguous', lines: nearest };
  }

  /** The hash and the length of each line that is not blank. */
  *lines(): Generator<readonly [hash: number, length: number]> {
    for (const [at, length] of this.#lengths.entries()) yield [this.#number(at, 1, 0), length];
  }

  /** The index of the first line that is not blank from a line number on. */
  #position(line: number): number {
    let low = 0;
    let high = this.#numbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] ?? 0) < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #hash(start: number, lines: number): string {
    return ([0, 1] as const)
      .map((which) => this.#number(start, lines, which).toString(16).padStart(8, '0'))
      .join('');
  }

  #number(start: number, lines: number, which: 0 | 1): number {
    const before = this.#before[which];
    const shifted = Math.imul(before[start] ?? 0, this.#powers[which][lines] ?? 0);
    return ((before[start + lines] ?? 0) - shifted) >>> 0;
  }
}

/** The hash of one line: FNV-1a, mixed as by MurmurHash3. */
function hashLine(line: string, which: 0 | 1): number {
  let hash = which === 0 ? 0x811c_9dc5 : 0x1b87_3593;
  for (let i = 0; i < line.length; i++) {
    hash = Math.imul(hash ^ line.charCodeAt(i), 0x0100_0193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
