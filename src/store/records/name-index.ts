import type { AnyRecordType } from '../../core/record-type.ts';

/** The names of the records of a type. */
interface Names {
  readonly paths: Map<string, readonly string[]>;
  /** Names that several files have. */
  readonly shared: Set<string>;
}

/** The files of the memory by the name of their record: its key or its id. */
export class NameIndex {
  readonly #types = new Map<AnyRecordType, Names>();

  /** The paths for a name, sorted; usually one, but two branches can each add a file for a record. */
  paths(type: AnyRecordType, name: string): readonly string[] {
    return this.#types.get(type)?.paths.get(name) ?? [];
  }

  /** The same for a name that several files have; empty for any other. */
  shared(type: AnyRecordType, name: string): readonly string[] {
    return this.#types.get(type)?.shared.has(name) ? this.paths(type, name) : [];
  }

  /** The files of a type that come after another file with the same name. */
  shadowed(type: AnyRecordType): string[] {
    const { paths, shared = [] } = this.#types.get(type) ?? {};
    return [...shared].flatMap((name) => paths?.get(name)?.slice(1) ?? []);
  }

  /**
   * Moves a path from one name to another; undefined for no name.
   *
   * @returns the other paths of both names: another one may come first now.
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
    // `concat`, because a list made by spreading keeps spare capacity.
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
