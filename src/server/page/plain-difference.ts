import { hunksOf } from '../../core/diff/line-diff.ts';
import { inlinePattern } from '../../core/evidence/inline-pattern.ts';
import type { FieldDifference } from './answers.ts';

/** Evidence in a list: of a field, or of the YAML of a record. */
const listed = /^(\S.*) ([1-9]\d{0,6}-[0-9a-f]{16})$/;
const listedInYaml = /^([ \t]*- ["']?)(\S.*) ([1-9]\d{0,6}-[0-9a-f]{16})(["']?\s*)$/;

/** A difference as a person reads it, and the changes of fingerprints in words. */
export interface PlainDifference {
  readonly field: FieldDifference;
  readonly notes: readonly string[];
}

/** Fingerprints of evidence by its place. */
type Fingerprints = Map<string, Set<string>>;

/** Returns a difference without the fingerprints of evidence, and says which of them differ. */
export function plainDifference(field: FieldDifference): PlainDifference {
  const reading = new Reading(field.field === 'evidence');
  const { diff, before, after, removed, added, ...rest } = field;
  const left = reading.list(removed ?? [], '-');
  const right = reading.list(added ?? [], '+');
  const values = [reading.value(before, '-'), reading.value(after, '+')];
  const isSame = JSON.stringify(values[0]) === JSON.stringify(values[1]);
  const lines = diff === undefined ? undefined : reading.diff(diff);
  const plain = {
    ...rest,
    ...(removed && { removed: without(left, right) }),
    ...(added && { added: without(right, left) }),
    ...(before !== undefined && !isSame && { before: values[0] }),
    ...(after !== undefined && !isSame && { after: values[1] }),
    ...(lines && { diff: lines }),
  };
  const notes = reading.notes();
  const isEmpty = [plain.before, plain.after, plain.diff].every((one) => one === undefined);
  const hasItems = (plain.removed?.length ?? 0) + (plain.added?.length ?? 0) > 0;
  // A change that no words tell, such as one of a blank, is drawn as it is.
  if (isEmpty && !hasItems && notes.length === 0) return { field, notes };
  return { field: plain, notes };
}

/** Returns the items of a list that another list does not have, or has fewer times. */
function without(items: readonly unknown[], others: readonly unknown[]): unknown[] {
  const left = others.map((other) => JSON.stringify(other));
  return items.filter((item) => {
    const at = left.indexOf(JSON.stringify(item));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Reads both sides of a difference without their fingerprints, and notes these. */
class Reading {
  readonly #isEvidence: boolean;
  readonly #old: Fingerprints = new Map();
  readonly #now: Fingerprints = new Map();
  readonly #texts = { '-': '', '+': '' };

  /** @param isEvidence whether the field is a list of evidence. */
  constructor(isEvidence: boolean) {
    this.#isEvidence = isEvidence;
  }

  list(items: readonly unknown[], side: '-' | '+'): unknown[] {
    return items.map((item) => this.value(item, side));
  }

  value(value: unknown, side: '-' | '+'): unknown {
    if (Array.isArray(value)) return this.list(value, side);
    if (typeof value !== 'string') return value;
    if (!this.#isEvidence) return this.#text(value, side);
    this.#texts[side] += `${value}\n`;
    return value.replace(listed, (_, place: string, mark: string) => {
      this.#note(side, place, mark);
      return place;
    });
  }

  /** Returns a unified difference; undefined if no line of it differs. */
  diff(text: string): string | undefined {
    const parts: string[][] = [];
    let removed: string[] = [];
    let added: string[] = [];
    const settle = () => {
      const [old, now] = [
        removed.map((line) => this.#text(line, '-')),
        added.map((line) => this.#text(line, '+')),
      ];
      parts.at(-1)?.push(...runOf(old, now));
      [removed, added] = [[], []];
    };
    parts.push([]);
    for (const line of text.replace(/\n$/, '').split('\n')) {
      if (line.startsWith('-')) removed.push(line.slice(1));
      else if (line.startsWith('+')) added.push(line.slice(1));
      else if (!line.startsWith('\\')) {
        settle();
        if (line.startsWith('@@')) parts.push([]);
        parts.at(-1)?.push(line.replace(inlinePattern, '`$1`'));
      }
    }
    settle();
    const differing = parts.filter((lines) => lines.some((line) => /^[-+]/.test(line)));
    return differing.length === 0 ? undefined : `${differing.flat().join('\n')}\n`;
  }

  /** Returns the changes of fingerprints whose places are on both sides. */
  notes(): string[] {
    const renewed = [...this.#now.keys()].filter((place) => {
      const [old, now] = [this.#old.get(place), this.#now.get(place)];
      return old && [...(now ?? [])].some((mark) => !old.has(mark));
    });
    // A place that is new, or gone, shows in the difference itself.
    const gained = [...this.#now.keys()].filter(
      (place) => !this.#old.has(place) && this.#texts['-'].includes(place),
    );
    const lost = [...this.#old.keys()].filter(
      (place) => !this.#now.has(place) && this.#texts['+'].includes(place),
    );
    return [
      ['Evidence verified again', renewed] as const,
      ['Evidence with a fingerprint from now on', gained] as const,
      ['Evidence without its fingerprint from now on', lost] as const,
    ].flatMap(([what, places]) => (places.length > 0 ? [`${what}: ${places.join(', ')}`] : []));
  }

  #text(text: string, side: '-' | '+'): string {
    this.#texts[side] += `${text}\n`;
    return text
      .replace(inlinePattern, (_, place: string, mark: string) => {
        this.#note(side, place, mark);
        return `\`${place}\``;
      })
      .replace(listedInYaml, (_, lead: string, place: string, mark: string, end: string) => {
        this.#note(side, place, mark);
        return lead + place + end;
      });
  }

  #note(side: '-' | '+', place: string, mark: string): void {
    const all = side === '-' ? this.#old : this.#now;
    const marks = all.get(place) ?? new Set();
    all.set(place, marks.add(mark));
  }
}

/** Returns the lines of a run of changes, of which some are the same without fingerprints. */
function runOf(old: readonly string[], now: readonly string[]): string[] {
  const lines: string[] = [];
  let at = 0;
  for (const { start, length, newStart, newLength } of hunksOf(old, now)) {
    for (const line of old.slice(at, start)) lines.push(` ${line}`);
    for (const line of old.slice(start, start + length)) lines.push(`-${line}`);
    for (const line of now.slice(newStart, newStart + newLength)) lines.push(`+${line}`);
    at = start + length;
  }
  for (const line of old.slice(at)) lines.push(` ${line}`);
  return lines;
}
