import type { AnyRecordType } from '../core/record-type.ts';

const none: ReadonlySet<string> = new Set();

/** Which files of the bank hold the records of a name: of a key, or of an id. */
export class NameIndex {
  readonly #types = new Map<AnyRecordType, Map<string, Set<string>>>();

  /** Usually one; two branches can each bring a file with the same name. */
  paths(type: AnyRecordType, name: string): ReadonlySet<string> {
    return this.#types.get(type)?.get(name) ?? none;
  }

  /** Files a path under another name than before; under none where there is none. */
  set(
    type: AnyRecordType,
    path: string,
    before: string | undefined,
    after: string | undefined,
  ): void {
    if (before === after) return;
    const names = this.#types.get(type) ?? new Map<string, Set<string>>();
    this.#types.set(type, names);
    if (before !== undefined) {
      const paths = names.get(before);
      paths?.delete(path);
      if (paths?.size === 0) names.delete(before);
    }
    if (after === undefined) return;
    const paths = names.get(after);
    if (paths) paths.add(path);
    else names.set(after, new Set([path]));
  }
}
