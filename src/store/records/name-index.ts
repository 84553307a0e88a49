import type { AnyRecordType } from '../../core/record-type.ts';

/** The names of the records of a type. */
interface Names {
  readonly paths: Map<string, readonly string[]>;
  /** Those of more than one file. */
  readonly shared: Set<string>;
}

/** Which files of the bank hold the records of a name: of a key, or of an id. */
export class NameIndex {
  readonly #types = new Map<AnyRecordType, Names>();

  /** By name of the file; usually one, but two branches can each bring a file for the same record. */
  paths(type: AnyRecordType, name: string): readonly string[] {
    return this.#types.get(type)?.paths.get(name) ?? [];
  }

  /** The same for a name of more than one file; none for any other. */
  shared(type: AnyRecordType, name: string): readonly string[] {
    return this.#types.get(type)?.shared.has(name) ? this.paths(type, name) : [];
  }

  /** The files of a type before which another one of the same name comes. */
  shadowed(type: AnyRecordType): string[] {
    const { paths, shared = [] } = this.#types.get(type) ?? {};
    return [...shared].flatMap((name) => paths?.get(name)?.slice(1) ?? []);
  }

  /**
   * Files a path under another name than before; under none where there is none.
   *
   * @returns the other paths of both names: which of them comes first may have changed.
   */
  set(
    type: AnyRecordType,
    path: string,
    before: string | undefined,
    after: string | undefined,
  ): readonly string[] {
    if (before === after) return [];
    const names = this.#types.get(type) ?? { paths: new Map(), shared: new Set() };
    this.#types.set(type, names);
    const left = before === undefined ? [] : this.paths(type, before).filter((it) => it !== path);
    if (before !== undefined) put(names, before, left);
    if (after === undefined) return left;
    const others = this.paths(type, after);
    // Joined, because a list that is spread keeps room for many more.
    put(names, after, others.length === 0 ? [path] : others.concat(path).sort());
    return left.length === 0 ? others : left.concat(others);
  }
}

function put({ paths, shared }: Names, name: string, found: readonly string[]): void {
  if (found.length > 0) paths.set(name, found);
  else paths.delete(name);
  if (found.length > 1) shared.add(name);
  else shared.delete(name);
}
