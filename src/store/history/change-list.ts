import type { Oid } from '../../git/objects/object.ts';
import { formatOf, noObject, objectFormats } from '../../git/objects/object-format.ts';

/** A change by the number of its path; a state that does not have the path has no id. */
export interface NumberedChange {
  readonly path: number;
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
}

/**
 * The paths whose content differs between two states, and the ids of both contents.
 *
 * The ids of each state are one text: as texts of their own, those of a commit with 100,000 files would take
 * most of the time in which the index is read.
 */
export class ChangeList {
  readonly #paths: readonly number[];
  /** The ids one after the other; empty if the state has none of the paths. */
  readonly #before: string;
  readonly #after: string;

  private constructor(paths: readonly number[], before: string, after: string) {
    [this.#paths, this.#before, this.#after] = [paths, before, after];
  }

  static of(changes: readonly NumberedChange[]): ChangeList {
    return new ChangeList(
      changes.map(({ path }) => path),
      joined(changes.map(({ before }) => before)),
      joined(changes.map(({ after }) => after)),
    );
  }

  /** Reads a list as `toJSON` returns it; undefined for any other value. */
  static read(value: unknown): ChangeList | undefined {
    if (!Array.isArray(value) || value.length !== 3) return undefined;
    const [paths, before, after] = value;
    if (!Array.isArray(paths) || !paths.every(Number.isInteger)) return undefined;
    if (!isJoined(before, paths.length) || !isJoined(after, paths.length)) return undefined;
    return new ChangeList(paths, before, after);
  }

  toJSON(): unknown {
    return [this.#paths, this.#before, this.#after];
  }

  get length(): number {
    return this.#paths.length;
  }

  /** The changes in their order. */
  *[Symbol.iterator](): Generator<NumberedChange> {
    for (let i = 0; i < this.length; i++) yield this.#at(i);
  }

  /** The change of one path. */
  find(path: number): NumberedChange | undefined {
    const i = this.#paths.indexOf(path);
    return i < 0 ? undefined : this.#at(i);
  }

  /** The changes of paths that the later state does not have. */
  *removals(): Generator<NumberedChange> {
    // Most commits remove nothing, also the largest ones.
    if (this.#before === '') return;
    for (const change of this) if (change.after === undefined) yield change;
  }

  #at(i: number): NumberedChange {
    const path = this.#paths[i] ?? -1;
    return { path, before: this.#idAt(this.#before, i), after: this.#idAt(this.#after, i) };
  }

  #idAt(ids: string, i: number): Oid | undefined {
    const digits = ids.length / this.length;
    const id = ids.slice(i * digits, (i + 1) * digits);
    return /^0*$/.test(id) ? undefined : id;
  }
}

/** The ids one after the other, with one of zeros for each that is missing. */
function joined(ids: readonly (Oid | undefined)[]): string {
  const known = ids.find((id) => id !== undefined);
  if (known === undefined) return '';
  const none = noObject(formatOf(known));
  return ids.map((id) => id ?? none).join('');
}

function isJoined(value: unknown, count: number): value is string {
  if (typeof value !== 'string') return false;
  const lengths = [...objectFormats.values()].map(({ digits }) => digits * count);
  return value === '' || lengths.includes(value.length);
}
