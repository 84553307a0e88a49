import type { AnyRecordType } from '../../core/record/record-type.ts';

/** The names of the records of a type that an earlier process has saved. */
export interface EarlierNames {
  /** The path for a name that one file has; undefined if none has it. */
  find(name: string): string | undefined;
  list(): Iterable<readonly [path: string, name: string]>;
}

/** The names of the records of a type. */
interface Names {
  /** The paths by name; an empty list for a name that an earlier process has saved and no file has now. */
  readonly paths: Map<string, readonly string[]>;
  /** Names that several files have. */
  readonly shared: Set<string>;
  /** Names that are not in `paths`. */
  earlier: EarlierNames | undefined;
  /** How often one of them was looked for. */
  finds: number;
}

/** The earlier names are listed after this many searches in them, each of which looks at all names. */
const maxFinds = 16;

/** The files of the memory by the name of their record: its key or its id. */
export class NameIndex {
  readonly #types = new Map<AnyRecordType, Names>();

  /** The paths for a name, sorted; usually one, but two branches can each add a file for a record. */
  paths(type: AnyRecordType, name: string): readonly string[] {
    const names = this.#types.get(type);
    return names ? pathsOf(names, name) : [];
  }

  /** The same for a name that several files have; empty for any other. */
  shared(type: AnyRecordType, name: string): readonly string[] {
    return this.#types.get(type)?.shared.has(name) ? this.paths(type, name) : [];
  }

  /** The names that several files of a type have. */
  sharedNames(type: AnyRecordType): ReadonlySet<string> {
    return this.#types.get(type)?.shared ?? new Set();
  }

  /**
   * Adds the names of an earlier process.
   *
   * @param shared whether several of its files have the same name.
   */
  preload(type: AnyRecordType, shared: boolean, earlier: EarlierNames): void {
    const names = this.#names(type);
    names.earlier = earlier;
    if (shared || names.paths.size > maxFinds) {
      listEarlier(names, new Set());
      return;
    }
    // The name of a file that was read before may also be that of another one.
    for (const [name, paths] of names.paths) {
      const other = earlier.find(name);
      if (other !== undefined) put(names, name, paths.concat(other).sort());
    }
  }

  #names(type: AnyRecordType): Names {
    const known = this.#types.get(type);
    const names = known ?? { paths: new Map(), shared: new Set(), earlier: undefined, finds: 0 };
    this.#types.set(type, names);
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
    const left = before === undefined ? [] : pathsOf(names, before).filter((it) => it !== path);
    if (before !== undefined) put(names, before, left);
    if (after === undefined) return left;
    const others = add(names, path, after);
    return left.length === 0 ? others : left.concat(others);
  }
}

function pathsOf(names: Names, name: string): readonly string[] {
  const known = names.paths.get(name);
  if (known || !names.earlier) return known ?? [];
  names.finds += 1;
  if (names.finds > maxFinds) {
    listEarlier(names, new Set(names.paths.keys()));
    return names.paths.get(name) ?? [];
  }
  const path = names.earlier.find(name);
  return path === undefined ? [] : [path];
}

/** Adds the earlier names, except for those that were looked for since. */
function listEarlier(names: Names, known: ReadonlySet<string>): void {
  const { earlier } = names;
  names.earlier = undefined;
  for (const [path, name] of earlier?.list() ?? []) if (!known.has(name)) add(names, path, name);
}

/** Adds a path to a name; returns the other paths of it. */
function add(names: Names, path: string, name: string): readonly string[] {
  const others = pathsOf(names, name);
  // `concat`, because a list made by spreading keeps spare capacity.
  put(names, name, others.length === 0 ? [path] : others.concat(path).sort());
  return others;
}

function put(names: Names, name: string, found: readonly string[]): void {
  const { paths, shared } = names;
  if (found.length > 0 || names.earlier) paths.set(name, found);
  else paths.delete(name);
  if (found.length > 1) shared.add(name);
  else shared.delete(name);
}
