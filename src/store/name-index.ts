import type { AnyRecordType } from '../core/record-type.ts';

/** Which files of the bank hold the records of a name: of a key, or of an id. */
export class NameIndex {
  readonly #types = new Map<AnyRecordType, Map<string, readonly string[]>>();

  /** By name of the file; usually one, but two branches can each bring a file for the same record. */
  paths(type: AnyRecordType, name: string): readonly string[] {
    return this.#types.get(type)?.get(name) ?? [];
  }

  /** Files a path under another name than before; under none where there is none. */
  set(
    type: AnyRecordType,
    path: string,
    before: string | undefined,
    after: string | undefined,
  ): void {
    if (before === after) return;
    const names = this.#types.get(type) ?? new Map<string, readonly string[]>();
    this.#types.set(type, names);
    if (before !== undefined) {
      const others = (names.get(before) ?? []).filter((other) => other !== path);
      if (others.length > 0) names.set(before, others);
      else names.delete(before);
    }
    // Joined, because a list that is spread keeps room for many more.
    if (after !== undefined) names.set(after, this.paths(type, after).concat(path).sort());
  }
}
