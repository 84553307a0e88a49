import type { AnyRecordType } from '../../core/record-type.ts';

/** The names of the records of a type. */
interface Names {
  readonly paths: Map<string, readonly string[]>;
  /** Names that several files have. */
  readonly shared: Set<string>;
}

/** The name of the record of a file. */
export type NamedPath = readonly [path: string, name: string];

/** The files of the memory by the name of their record: its key or its id. */
export class NameIndex {
  readonly #types = new Map<AnyRecordType, Names>();
  /** Lists the names of an earlier process, until they are in `#types`. */
  readonly #earlier = new Map<AnyRecordType, () => Iterable<NamedPath>>();

  /** The paths for a name, sorted; usually one, but two branches can each add a file for a record. */
  paths(type: AnyRecordType, name: string): readonly string[] {
    return this.#names(type).paths.get(name) ?? [];
  }

  /** The same for a name that several files have; empty for any other. */
  shared(type: AnyRecordType, name: string): readonly string[] {
    return this.#sharesNone(type) || !this.#names(type).shared.has(name)
      ? []
      : this.paths(type, name);
  }

  /** The files of a type that come after another file with the same name. */
  shadowed(type: AnyRecordType): string[] {
    if (this.#sharesNone(type)) return [];
    const { paths, shared } = this.#names(type);
    return [...shared].flatMap((name) => paths.get(name)?.slice(1) ?? []);
  }

  /**
   * Adds the names of an earlier process. They are listed when they are first needed.
   *
   * @param shared whether several of its files have the same name.
   */
  preload(type: AnyRecordType, shared: boolean, list: () => Iterable<NamedPath>): void {
    this.#earlier.set(type, list);
    if (shared) this.#names(type);
  }

  /** Whether the names of a type are those of an earlier process alone, each of one file. */
  #sharesNone(type: AnyRecordType): boolean {
    return this.#earlier.has(type) && !this.#types.has(type);
  }

  #names(type: AnyRecordType): Names {
    const names = this.#types.get(type) ?? { paths: new Map(), shared: new Set() };
    this.#types.set(type, names);
    const list = this.#earlier.get(type);
    this.#earlier.delete(type);
    for (const [path, name] of list?.() ?? []) add(names, path, name);
    return names;
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
    const names = this.#names(type);
    const left = before === undefined ? [] : this.paths(type, before).filter((it) => it !== path);
    if (before !== undefined) put(names, before, left);
    if (after === undefined) return left;
    const others = add(names, path, after);
    return left.length === 0 ? others : left.concat(others);
  }
}

/** Adds a path to a name; returns the other paths of it. */
function add(names: Names, path: string, name: string): readonly string[] {
  const others = names.paths.get(name) ?? [];
  // `concat`, because a list made by spreading keeps spare capacity.
  put(names, name, others.length === 0 ? [path] : others.concat(path).sort());
  return others;
}

function put({ paths, shared }: Names, name: string, found: readonly string[]): void {
  if (found.length > 0) paths.set(name, found);
  else paths.delete(name);
  if (found.length > 1) shared.add(name);
  else shared.delete(name);
}
